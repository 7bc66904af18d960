"""Searching the web, and reading pages of it. The pages are made up and stand behind a proxy; their hosts are
numbers, for there is no other way to look up a name here."""

from scenario import FLASH, GO, call, case, chunk, text, tool_case, turns

SOURCES = [
    {"web": {"uri": "https://a.example/x", "title": "A"}},
    {"web": {"uri": "https://b.example"}},
    {"web": {"title": "C"}},
]


def support(end, *sources, **more):
    return {"segment": {"endIndex": end, **more}, "groundingChunkIndices": list(sources)}


def grounded(words, supports=(), sources=SOURCES):
    answer = chunk([{"text": words}], "STOP")
    answer["candidates"][0]["groundingMetadata"] = {
        "groundingChunks": sources, "groundingSupports": list(supports)}
    return [answer]


def asking(name, tool, asks, **rest):
    """A case that calls a tool with each argument, and what the model beside the conversation answers."""
    case(name, GO + ["-o", "stream-json"], script=turns(*(call(tool, args, id) for id, (args, _) in asks.items())),
         asides=[answer for _, answer in asks.values() if answer is not None], **rest)


# ---- google_web_search

SEARCHES = {
    "marks": ({"query": "q"}, grounded("hello world", [support(5, 0, 1), support(6, 2)])),
    "order": ({"query": "q"}, grounded("hello world", [support(5, 0), support(5, 1), support(2, 2), support(11, 0, 2, 0)])),
    "wide": ({"query": "q"}, grounded("日本語hello", [support(9, 0)])),
    "beyond": ({"query": "q"}, grounded("hello", [support(99, 0)])),
    "no_supports": ({"query": "q"}, grounded("hello")),
    "no_sources": ({"query": "q"}, grounded("hello", [support(5, 0)], [])),
    "nothing": ({"query": "q"}, text("")),
    "blanks": ({"query": "q"}, grounded("  \n")),
    "blank": ({"query": "   "}, None),
}
asking("web_search.answers", "google_web_search", SEARCHES)
tool_case("web_search.arguments", "google_web_search", {"none": {}, "number": {"query": 3}, "null": {"query": None}})
for mode in ("default", "auto_edit", "plan"):
    case(f"web_search.in_{mode}", FLASH + ["--approval-mode", mode, "-p", "go"],
         script=turns(call("google_web_search", {"query": "q"}, "q")), asides=[grounded("found")])

# ---- web_fetch, read by the vendor

HOST = "http://8.8.8.8"
FETCHES = {
    "marks": ({"prompt": f"read {HOST}/p"}, grounded("hello world", [support(5, 0, 1), support(6, 2)])),
    "wide": ({"prompt": f"read {HOST}/p"}, grounded("a😀b日c", [support(3, 0), support(5, 1)])),
    "no_supports": ({"prompt": f"read {HOST}/p"}, grounded("hello")),
    "plain": ({"prompt": f"read {HOST}/p"}, text("hello")),
    "private": ({"prompt": f"http://localhost:3000/ http://127.0.0.1 http://10.0.0.1/ http://[::1]/ {HOST}"}, text("x")),
    "all_private": ({"prompt": "http://10.0.0.1/x/ http://169.254.169.254"}, None),
    "none": ({"prompt": "no address"}, None),
    "blank": ({"prompt": " "}, None),
    "other": ({"prompt": f"ftp://x and http:// and foo://bar {HOST}"}, None),
}
asking("web_fetch.answers", "web_fetch", FETCHES)
tool_case("web_fetch.arguments", "web_fetch", {"none": {}, "url": {"url": HOST}, "number": {"prompt": 3}})
for mode in ("default", "auto_edit", "plan"):
    case(f"web_fetch.in_{mode}", FLASH + ["--approval-mode", mode, "-p", "go"],
         script=turns(call("web_fetch", {"prompt": HOST}, "f")), asides=[text("found")])
case("web_fetch.often", script=turns(*(call("web_fetch", {"prompt": f"{HOST}/{n}"}, f"f{n}") for n in range(12))),
     asides=[text("found")] * 12)
