"""Prompts with blocks of every kind, commands, and the ends of a turn."""

import base64

from acp_case import FILES, case, new, prompt, request
from scenario import PNG, PROJECT, ROOT, Failure, api_error, chunk, text

IMAGE = {"type": "image", "mimeType": "image/png", "data": base64.b64encode(PNG).decode()}
AUDIO = {"type": "audio", "mimeType": "audio/wav", "data": base64.b64encode(b"RIFF").decode()}


def link(uri, name="name"):
    return {"type": "resource_link", "uri": uri, "name": name}


def resource(uri, **content):
    return {"type": "resource", "resource": {"uri": uri, **content}}


case("prompt.text", prompt("go"), script=[text("Hello.")])
case("prompt.two", prompt("one"), prompt("two"), script=[text("first"), text("second")])
case("prompt.chunks", prompt("go"),
     script=[[chunk([{"text": "One "}]), chunk([{"text": "two "}]), chunk([{"text": "three."}], "STOP")]])
case("prompt.thought", prompt("go"),
     script=[[chunk([{"text": "**Plan** to say it", "thought": True}]), chunk([{"text": "It."}], "STOP")]])
case("prompt.blocks", prompt("one", "two"), script=[text("done")])
case("prompt.empty", prompt(), script=[text("done")])
case("prompt.image", prompt("Look:", IMAGE), script=[text("done")])
case("prompt.audio", prompt("Listen:", AUDIO), script=[text("done")])
case("prompt.resource", prompt("Read", resource("file:///x/y.txt", text="inside\n", mimeType="text/plain")),
     script=[text("done")])
case("prompt.resource_blob", prompt("Read", resource("file:///x/y.png", blob=IMAGE["data"], mimeType="image/png")),
     script=[text("done")])
case("prompt.link", prompt("Read ", link(f"file://{PROJECT}/note.txt")), script=[text("done")],
     files={"note.txt": "the note\n"})
case("prompt.link_relative", prompt("Read ", link("file://note.txt")), script=[text("done")],
     files={"note.txt": "the note\n"})
case("prompt.link_missing", prompt("Read ", link(f"file://{PROJECT}/missing.txt")), script=[text("done")])
case("prompt.link_folder", prompt("Read ", link(f"file://{PROJECT}/sub")), script=[text("done")],
     files={"sub/a.txt": "a\n", "sub/b.txt": "b\n"})
case("prompt.link_web", prompt("Read ", link("https://example.com/a")), script=[text("done")])
case("prompt.link_ignored", prompt("Read ", link(f"file://{PROJECT}/note.txt")), script=[text("done")],
     files={"note.txt": "the note\n", ".gitignore": "note.txt\n"}, git=True)
for answer in ("allow_once", "reject_once", "cancelled"):
    case(f"prompt.link_outside_{answer}", prompt("Read ", link(f"file://{ROOT}/beside.txt")),
         script=[text("done")], beside={"beside.txt": "beside\n"}, permissions=[answer])
case("prompt.at", prompt("Read @note.txt"), script=[text("done")], files={"note.txt": "the note\n"})

for words in ("/about", "/help", "/memory show", "/memory", "/nosuch", "/init", "/restore", "/extensions list", "$5"):
    case(f"command.{words[1:].replace(' ', '_')}", prompt(words), script=[text("done")],
         files={"GEMINI.md": "Be brief.\n"})

case("end.error_400", prompt("go"), script=[api_error(400, "bad request", "INVALID_ARGUMENT")] * 20)
case("end.error_401", prompt("go"), script=[api_error(401, "bad key", "UNAUTHENTICATED")] * 20)
case("end.safety", prompt("go"), script=[text("", "SAFETY")] * 9)
case("end.tokens", prompt("go"), script=[text("cut off", "MAX_TOKENS")])
case("end.empty", prompt("go"), script=[text("")] * 9)
case("end.turns", prompt("one"), prompt("two"), script=[text("a"), text("b")],
     settings={"model": {"maxSessionTurns": 1}})
