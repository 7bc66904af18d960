"""Web search and web pages.

The pages are fictional and served through a proxy. Their hosts are IP addresses, because no names
can be resolved here."""

from scenario import FLASH, GO, PNG, Page, call, case, chunk, text, tool_case, turns

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
    """Registers a case that calls a tool with each argument, with the utility model's answers."""
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

# ---- web_fetch, pages fetched here because the vendor returns nothing

LONG = "".join(f"{number:09} " for number in range(30_000))
PAGES = {
    "words.html": Page("<html><head><title>t</title><script>no()</script></head><body><p>One &amp; two.</p><p>Three.</p></body></html>"),
    "plain.txt": Page("a < b & c\n  d\n", "text/plain"),
    "data.json": Page('{"a": [1, 2]}', "application/json"),
    "nameless": Page("<p>No type.</p>", None),
    "markdown": Page("# Title\n\n[link](x)\n", "text/markdown"),
    "long.txt": Page(LONG, "text/plain"),
    "too_long": Page("x" * (10 * 1024 * 1024 + 1), "text/plain"),
    "gone": Page("it is gone", "text/plain", 410),
    "moved": Page("", "text/plain", 302, {"location": f"{HOST}/plain.txt"}),
    "latin": Page("caf\xe9".encode("latin-1"), "text/plain; charset=iso-8859-1"),
    "picture": Page(PNG, "image/png"),
    "empty": Page("", "text/plain"),
}
WEB = {f"{HOST}/{name}": page for name, page in PAGES.items()}


def fetched_here(name, **prompts):
    """Registers a case in which the vendor returns nothing, and a model answers from the pages."""
    case(f"web_fetch.here_{name}", GO + ["-o", "stream-json"], web=WEB,
         script=turns(*(call("web_fetch", {"prompt": prompt}, id) for id, prompt in prompts.items())),
         asides=[answer for id in prompts for answer in (text(""), text(f"answer about {id}"))])


def at(*names):
    return "read " + " ".join(f"{HOST}/{name}" for name in names)


fetched_here("words", html=at("words.html"), nameless=at("nameless"))
fetched_here("text", plain=at("plain.txt"), data=at("data.json"), markdown=at("markdown"))
fetched_here("long", alone=at("long.txt"), beside=at("plain.txt", "long.txt"))
fetched_here("too_long", alone=at("too_long"))
fetched_here("failures", gone=at("gone"), missing=at("missing"), some=at("gone", "plain.txt"))
fetched_here("moved", moved=at("moved"))
fetched_here("encoding", latin=at("latin"))
fetched_here("picture", picture=at("picture"))
fetched_here("empty", empty=at("empty"))
case("web_fetch.here_silent", web=WEB, script=turns(call("web_fetch", {"prompt": at("plain.txt")}, "f")), asides=[text(""), text("")])

# ---- web_fetch, the page itself

DIRECT = {"experimental": {"directWebFetch": True}}


def direct(name, **urls):
    case(f"web_fetch.direct_{name}", GO + ["-o", "stream-json"], web=WEB, settings=DIRECT,
         script=turns(*(call("web_fetch", {"url": url}, id) for id, url in urls.items())))


def page(name):
    return f"{HOST}/{name}"


direct("text", plain=page("plain.txt"), data=page("data.json"), markdown=page("markdown"), empty=page("empty"))
direct("words", html=page("words.html"))
direct("nameless", nameless=page("nameless"))
direct("long", long=page("long.txt"))
direct("too_long", long=page("too_long"))
direct("refusals", gone=page("gone"), missing=page("missing"))
direct("moved", moved=page("moved"))
direct("encoding", latin=page("latin"))
direct("picture", picture=page("picture"))
direct("private", local="http://localhost:3000/", loopback="http://127.0.0.1/", private="http://10.0.0.1/x", linked="http://[::1]/")
direct("addresses", words="no address", none="", blank=" ")
tool_case("web_fetch.direct_arguments", "web_fetch", {"none": {}, "prompt": {"prompt": HOST}, "number": {"url": 3}}, settings=DIRECT)
direct("often", **{f"f{number}": page("plain.txt") for number in range(12)})
for mode in ("default", "auto_edit", "plan"):
    case(f"web_fetch.direct_in_{mode}", FLASH + ["--approval-mode", mode, "-p", "go"], web=WEB, settings=DIRECT,
         script=turns(call("web_fetch", {"url": page("plain.txt")}, "f")))
