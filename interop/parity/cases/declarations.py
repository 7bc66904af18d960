"""Declarations of the tools' arguments for the models."""

from cases.discovered import FILES, SETTINGS
from scenario import FLASH, GO, case

TOPICS = {"general": {"topicUpdateNarration": True}, "tools": {"useRipgrep": True}}


def declared(name, argv=GO, settings=TOPICS, **rest):
    case(f"declarations.{name}", argv, settings=settings, **rest)


declared("all")
declared("in_plan", FLASH + ["--approval-mode", "plan", "-p", "go"])
declared("for_gemini_3", ["-m", "gemini-3-pro-preview", "-y", "-p", "go"])
declared("tracker_and_direct_fetch", settings={"tools": {"useRipgrep": True}, "experimental": {"taskTracker": True, "directWebFetch": True}})
declared("discovered", settings={"tools": {"useRipgrep": True, **SETTINGS["tools"]}}, files=FILES)
