"""The programs that are compared, and how to start each against a server on loopback."""

import json
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import isolated

MODEL = "gemini-2.5-flash"

# All requests go to the scripted server: no statistics, no updates. The session limit of the
# original is 100 turns; one measurement takes 150.
GEMINI_SETTINGS = {
    "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
    "privacy": {"usageStatisticsEnabled": False},
    "security": {"auth": {"selectedType": "gemini-api-key"}},
    "model": {"maxSessionTurns": 1000},
}

CODEX_SETTINGS = """\
model = "gpt-5"
model_provider = "bench"
check_for_update_on_startup = false
[analytics]
enabled = false
[model_providers.bench]
name = "bench"
base_url = "http://127.0.0.1:{port}/v1"
wire_api = "responses"
env_key = "OPENAI_API_KEY"
"""


@dataclass(frozen=True)
class Program:
    """One program: its name, binary, files that count for its size, and ability to resume."""

    name: str
    binary: Path
    weight: tuple[Path, ...]
    resumes_jsonl: bool

    def environment(self, home, port, path):
        """Returns a clean environment with a separate home; `path` is the search path."""
        both = isolated.own_home(home, path) | {"no_proxy": "127.0.0.1"}
        own = {
            "codex": {"OPENAI_API_KEY": "none", "CODEX_HOME": str(home / ".codex")},
            "opencode": {
                "OPENCODE_DISABLE_AUTOUPDATE": "1",
                "OPENCODE_DISABLE_MODELS_FETCH": "1",
                "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
                "OPENCODE_CONFIG": str(home / "opencode.json"),
            },
        }
        return both | own.get(self.name, isolated.gemini_at(port))

    def prepare(self, home, port, settings=None):
        """Writes the settings that a user would have written. `settings` replaces sections of those
        of Gemini CLI."""
        (home / "tmp").mkdir(parents=True, exist_ok=True)
        if self.name == "codex":
            path, text = home / ".codex" / "config.toml", CODEX_SETTINGS.format(port=port)
        elif self.name == "opencode":
            path, text = home / "opencode.json", json.dumps(_opencode_settings(port))
        else:
            path = home / ".gemini" / "settings.json"
            text = json.dumps(GEMINI_SETTINGS | (settings or {}))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def arguments(self, *, stream=False, resume=False):
        """Returns the command for one prompt; everything is allowed without a question."""
        if self.name == "codex":
            options = [
                "exec",
                "--skip-git-repo-check",
                "--dangerously-bypass-approvals-and-sandbox",
            ]
            return [str(self.binary), *options, *(["--json"] if stream else []), "hi"]
        if self.name == "opencode":
            options = ["run", "--model", "bench/bench", *(["--format", "json"] if stream else [])]
            return [str(self.binary), *options, "hi"]
        options = [
            "--model",
            MODEL,
            "--yolo",
            *(["--output-format", "stream-json"] if stream else []),
        ]
        return [
            str(self.binary),
            *options,
            *(["--resume", "latest"] if resume else []),
            "--prompt",
            "hi",
        ]

    def version(self):
        """Returns the output of `--version`; None if the program does not start."""
        try:
            done = subprocess.run(
                [self.binary, "--version"], capture_output=True, timeout=30, text=True, check=False
            )
        except (OSError, subprocess.TimeoutExpired):
            return None
        return (done.stdout.split() or [None])[-1] if done.returncode == 0 else None


def _opencode_settings(port):
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "bench",
        "options": {"baseURL": f"http://127.0.0.1:{port}/v1", "apiKey": "none"},
        "models": {
            "bench": {
                "name": "bench",
                "tool_call": True,
                "limit": {"context": 10_000_000, "output": 100_000},
            }
        },
    }
    return {
        "provider": {"bench": provider},
        "enabled_providers": ["bench"],
        "permission": {"edit": "allow", "bash": "allow", "webfetch": "allow"},
        "autoupdate": False,
        "snapshot": False,
        "share": "disabled",
        "small_model": "bench/bench",
    }


def peers(folder):
    """Returns the peers of `package.json`, installed into `folder` by npm. Prints a message for
    each missing peer."""
    wanted = Path(__file__).parent / "peers"
    folder.mkdir(parents=True, exist_ok=True)
    lock = folder / "installed-lock.json"
    if not lock.exists() or lock.read_bytes() != (wanted / "package-lock.json").read_bytes():
        if not shutil.which("npm"):
            print("peers: skipped, npm is missing")
            return []
        for name in ("package.json", "package-lock.json"):
            shutil.copy(wanted / name, folder / name)
        # Not `npm ci`: it refuses a lock file without the optional packages of other systems.
        quiet = ["--no-audit", "--no-fund", "--loglevel=error"]
        command = ["npm", "install", "--ignore-scripts", *quiet]
        if subprocess.run(command, cwd=folder, check=False).returncode != 0:
            print("peers: skipped, npm could not install them")
            return []
        shutil.copy(wanted / "package-lock.json", lock)
    modules = folder / "node_modules"
    # If a package is a launcher around a native program, the native program is measured, because it
    # starts faster.
    found = [
        Program(
            "gemini",
            modules / ".bin" / "gemini",
            _packages(modules, "@google", "@github", "@lydell", "node-pty"),
            True,
        ),
        Program(
            "codex",
            _first(modules, "@openai/codex-*/vendor/*/bin/codex"),
            _packages(modules, "@openai"),
            False,
        ),
        Program(
            "opencode",
            _first(modules, "opencode-*/bin/opencode"),
            _packages(modules, "opencode"),
            False,
        ),
    ]
    return found


def bundled_ripgrep(folder):
    """Returns the ripgrep that a peer includes, if there is one."""
    found = sorted((folder / "node_modules").glob("@openai/codex-*/vendor/*/codex-path/rg"))
    return found[0] if found else None


def _first(modules, pattern):
    return min(modules.glob(pattern), key=lambda path: len(str(path)), default=modules / "missing")


def _packages(modules, *prefixes):
    return tuple(path for path in sorted(modules.iterdir()) if path.name.startswith(prefixes))
