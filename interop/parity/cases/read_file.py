"""read_file: ranges, long files and lines, encodings, kinds of files, paths, arguments."""

from scenario import HOME, LINK, PNG, PROJECT, call, calls, case, text, tool_case, turns

FILES = {
    "a.txt": "one\ntwo\nthree\nfour\nfive\n",
    "nonl.txt": "one\ntwo",
    "crlf.txt": "one\r\ntwo\r\nthree\r\n",
    "mixed.txt": "a\r\nb\nc\rd\n",
    "bom.txt": b"\xef\xbb\xbfhello\nbom\n",
    "u16le.txt": b"\xff\xfe" + "héllo\nwörld\n".encode("utf-16-le"),
    "u16be.txt": b"\xfe\xff" + "héllo\n".encode("utf-16-be"),
    "u32le.txt": b"\xff\xfe\0\0" + "hi\n".encode("utf-32-le"),
    "empty.txt": "",
    "blank.txt": "\n\n\n",
    "big.txt": "".join(f"line {i}\n" for i in range(1, 2501)),
    "exact.txt": "".join(f"l{i}\n" for i in range(1, 2001)),
    "exactnonl.txt": "\n".join(f"l{i}" for i in range(1, 2001)),
    "long.txt": "x" * 2500 + "\nshort\n",
    "longu.txt": "é" * 2500 + "\n",
    "emoji.txt": "😀" * 1500 + "\n",
    "latin.txt": b"caf\xe9\nna\xefve\n",
    "bin.dat": b"\x00\x01\x02\x03" * 100,
    "bin": b"abc\x00def\x01\x02" * 50,
    "control.txt": "a\x1b[31mred\x1b[0m\x07b\n",
    "nul.txt": b"text with one \x00 nul in it " + b"a" * 600,
    "separators.txt": "a\x0bb\x0cc\u2028d\u0085e\n",
    "img.png": PNG,
    "img.jpg": b"\xff\xd8\xff\xe0" + b"\0" * 30,
    "i.gif": b"GIF89a" + b"\0" * 20,
    "x.webp": b"RIFF\0\0\0\0WEBPVP8 " + b"\0" * 10,
    "x.bmp": b"BM" + b"\0" * 30,
    "v.svg": '<svg xmlns="http://www.w3.org/2000/svg"/>\n',
    "d.pdf": b"%PDF-1.4\n%\xe2\xe3\n1 0 obj\n",
    "s.wav": b"RIFF\x24\0\0\0WAVEfmt " + b"\0" * 30,
    "m.mp3": b"ID3\x03" + b"\0\xff\xfb" * 20,
    "v.mp4": b"\0\0\0\x18ftypmp42" + b"\0" * 30,
    "x.ts": "const a = 1;\n",
    "x.zip": b"PK\x03\x04" + b"\0" * 20,
    "txt.zip": "plain text\n",
    "x.wasm": b"\0asm\x01\0\0\0",
    "x.docx": "not really",
    "noext": "plain\n",
    "dir/f.txt": "inner\n",
    "@scope/p.txt": "scoped\n",
    "sp ace.txt": "space\n",
    ".hidden": "hid\n",
    ".gitignore": "ignored.txt\nout/\n",
    "ignored.txt": "secret\n",
    "out/x.txt": "o\n",
    ".geminiignore": "gemign.txt\n",
    "gemign.txt": "g\n",
    "link.txt": LINK + "a.txt",
    "linkout": LINK + "/etc/passwd",
    "dangling": LINK + "nowhere",
    "linkign.txt": LINK + "ignored.txt",
}


def read(name, **calls_by_id):
    tool_case(f"read_file.{name}", "read_file", calls_by_id, files=FILES, git=True)


def of(path, **arguments):
    return {"file_path": path, **arguments}


def a(**arguments):
    return of("a.txt", **arguments)


read("whole", full=a(), absolute=of(PROJECT + "/a.txt"), nested=of("dir/f.txt"), hidden=of(".hidden"))
read("range", middle=a(start_line=2, end_line=3), end=a(end_line=2), start=a(start_line=4),
     all=a(start_line=1, end_line=5))
read("range_beyond", past=a(start_line=50), pastend=a(start_line=3, end_line=100),
     six=a(start_line=1, end_line=6), startsix=a(start_line=6), startseven=a(start_line=7, end_line=9))
read("range_of_empty", all=of("empty.txt", start_line=1, end_line=5), five=of("empty.txt", start_line=5))
read("range_refused", swapped=a(start_line=3, end_line=2), zero=a(start_line=0), negative=a(end_line=-1),
     fraction=a(start_line=1.5), string=a(start_line="2"), null=a(start_line=None))
read("range_as_float", float=a(start_line=2.0))
read("long_file", big=of("big.txt"), late=of("big.txt", start_line=2400), few=of("big.txt", start_line=10, end_line=12))
read("long_range", end=of("big.txt", end_line=2300), start=of("big.txt", start_line=100))
read("exactly_2000_lines", ended=of("exact.txt"), unended=of("exactnonl.txt"))
read("long_lines", ascii=of("long.txt"), accents=of("longu.txt"), one=of("long.txt", start_line=1, end_line=1))
read("long_line_of_emoji", emoji=of("emoji.txt"))
read("line_ends", unended=of("nonl.txt"), crlf=of("crlf.txt"), mixed=of("mixed.txt"),
     separators=of("separators.txt"))
read("blank_files", empty=of("empty.txt"), blank=of("blank.txt"))
read("encodings", bom=of("bom.txt"), little=of("u16le.txt"), big=of("u16be.txt"), four=of("u32le.txt"),
     latin=of("latin.txt"))
read("control_characters", control=of("control.txt"), nul=of("nul.txt"))
read("binary", dat=of("bin.dat"), noname=of("bin"), zip=of("x.zip"), wasm=of("x.wasm"), docx=of("x.docx"))
read("misleading_names", zip=of("txt.zip"), typescript=of("x.ts"), none=of("noext"))
read("pictures", png=of("img.png"), jpg=of("img.jpg"), gif=of("i.gif"), webp=of("x.webp"), bmp=of("x.bmp"))
read("svg", svg=of("v.svg"))
read("pdf", pdf=of("d.pdf"))
read("sound_and_film", wav=of("s.wav"), mp3=of("m.mp3"), mp4=of("v.mp4"))
read("missing", missing=of("nope/none.txt"), folder=of("dir"), through=of("a.txt/b"), slash=of("a.txt/"))
read("at_sign", file=of("@a.txt"), slash=of("@/a.txt"), folder=of("@dir/f.txt"), scope=of("@scope/p.txt"))
read("spaces", plain=of("sp ace.txt"), escaped=of("sp\\ ace.txt"), percent=of("sp%20ace.txt"))
read("ignored", git=of("ignored.txt"), folder=of("out/x.txt"), gemini=of("gemign.txt"), link=of("linkign.txt"))
read("links", inside=of("link.txt"), outside=of("linkout"), dangling=of("dangling"))
read("outside", etc=of("/etc/passwd"), up=of("../home/.gemini/settings.json"), tilde=of("~/x.txt"),
     memory=of(HOME + "/.gemini/GEMINI.md"))
read("malformed_path", newline=of("a\nb.txt"), tab=of("a\tb"), long=of("x" * 300), url=of("file:///a.txt"))
read("arguments", number=of(5), none={}, blank=of(""), spaces=of("   "), list=of(["a"]), yes=of(True))
read("unknown_arguments", extra=a(bogus=1), offset=a(offset=1, limit=2))

case("read_file.two_at_once", files=FILES, git=True, script=[
    calls(call("read_file", of("a.txt"), "a"), call("read_file", of("crlf.txt"), "b")), text("done")])
case("read_file.ignored_without_git", files=FILES,
     script=turns(call("read_file", of("ignored.txt"), "git"), call("read_file", of("gemign.txt"), "gemini")))
case("read_file.picture_among_texts", files=FILES, script=[
    calls(call("read_file", of("img.png"), "png"), call("read_file", of("a.txt"), "txt"),
          call("read_file", of("d.pdf"), "pdf")), text("done")])
case("read_file.picture_for_gemini_3", ["-m", "gemini-3-pro-preview", "--approval-mode", "yolo", "-p", "go"],
     files=FILES,
     script=turns(call("read_file", of("img.png"), "png"), call("read_file", of("d.pdf"), "pdf")))
case("read_file.more_than_20_mb", files={"huge.txt": ("y" * 99 + "\n") * 215_000},
     script=turns(call("read_file", of("huge.txt"), "huge")))
case("read_file.respect_git_ignore_off", files=FILES, git=True,
     settings={"context": {"fileFiltering": {"respectGitIgnore": False}}},
     script=turns(call("read_file", of("ignored.txt"), "git"), call("glob", {"pattern": "ig*"}, "glob"),
                  call("list_directory", {"dir_path": "out"}, "list")))
case("read_file.custom_ignore_file", git=True,
     files={".mine": "ign.txt\n!back.txt\n", "ign.txt": "needle\n", ".gitignore": "back.txt\n", "back.txt": "needle\n"},
     settings={"context": {"fileFiltering": {"customIgnoreFilePaths": [".mine"]}}},
     script=turns(call("read_file", of("ign.txt"), "ignored"), call("read_file", of("back.txt"), "back"),
                  call("glob", {"pattern": "*"}, "glob")))

read_more = {
    "fav.ico": b"\0\0\x01\0\x01\0" + b"\x10" * 30,
    "v.mkv": b"\x1aE\xdf\xa3" + b"\0\x01" * 30,
    "v.avi": b"RIFF\x24\0\0\0AVI LIST" + b"\0" * 30,
    "s.wma": b"\x30\x26\xb2\x75" + b"\0\x8e" * 30,
    "p.xpm": '/* XPM */\nstatic char *x[] = {"1 1"};\n',
    "p.psd": b"8BPS\0\x01" + b"\0" * 30,
    "m.ogg": b"OggS\0\x02" + b"\0" * 30,
    "m.flac": b"fLaC\0\0" + b"\0" * 30,
    "m.mid": b"MThd\0\0\0\x06" + b"\0" * 30,
    "noname": PNG,
    "pdf.txt": b"%PDF-1.4\n%\xe2\xe3\n1 0 obj\n",
    "some/long/way/to/a/file/that/is/binary.bin": b"\0\x01" * 50,
    "some/long/way/to/a/file/that/is/long.txt": "l\n" * 3000,
    "nul.log": b"x" * 1000 + b"\0" + b"end\n",
}
tool_case("read_file.kinds", "read_file", {name.split("/")[-1].replace(".", "_"): of(name) for name in read_more}, files=read_more, git=True)
