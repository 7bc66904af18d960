"""Sources of a prompt: arguments, standard input, and files named with @."""

from scenario import GO, PNG, PROJECT, ROOT, YOLO, case

case("stdin.with_prompt", YOLO + ["-p", "PROMPT"], stdin="data\n")
case("stdin.alone", YOLO, stdin="only\n")
case("stdin.with_positional", YOLO + ["a", "b"], stdin="data")
case("stdin.empty", YOLO, stdin="")
case("stdin.blank", YOLO, stdin="  \n")
case("stdin.none", YOLO)
case("stdin.invalid_utf8", YOLO + ["-p", "q"], stdin=b"a\xffb")
case("stdin.nine_megabytes", YOLO + ["-p", "q"], stdin=b"a" * (9 * 1024 * 1024))
case("prompt.positional", YOLO + ["hello", "there world"])
case("prompt.empty", YOLO + ["-p", ""])
case("prompt.blank", YOLO + ["-p", "   "])
case("prompt.equals", YOLO + ["--prompt=x"])
case("prompt.comment", YOLO + ["-p", "// hi"])
case("prompt.starred", YOLO + ["-p", "/* hi"])
case("prompt.unknown_command", YOLO + ["-p", "/nosuch x"])

FILES = {
    "a.txt": "alpha\n",
    "b.txt": "beta\n",
    "d/x.txt": "x\n",
    "d/y.txt": "y\n",
    "sp ace.txt": "space\n",
    "x(1).txt": "paren\n",
    "a.b/c.txt": "c\n",
    "img.png": PNG,
    "d.pdf": b"%PDF-1.4\n",
    "v.svg": "<svg/>\n",
    "bin.dat": b"\0\1\2",
    "e.txt": "",
    "big.txt": "".join(f"l{i}\n" for i in range(3000)),
    "sub/deep/unique.txt": "unique\n",
    ".gitignore": "ign.txt\n",
    "ign.txt": "i\n",
}

PROMPTS = {
    "file": "see @a.txt please",
    "two_files": "@a.txt @b.txt compare",
    "same_file_twice": "@a.txt and @a.txt",
    "folder": "look @d",
    "folder_with_slash": "look @d/",
    "folder_with_dot": "@a.b/c.txt",
    "missing": "no @zz.txt here",
    "missing_folder": "@zz/",
    "quoted": 'q @"sp ace.txt" x',
    "escaped_space": "q @sp\\ ace.txt x",
    "escaped_parentheses": "@x\\(1\\).txt",
    "ignored": "@ign.txt hey",
    "picture": "@img.png what",
    "pdf": "@d.pdf x",
    "svg": "@v.svg",
    "binary": "@bin.dat",
    "empty": "@e.txt",
    "long": "@big.txt",
    "found_by_name": "find @unique.txt",
    "full_stop": "end @a.txt.",
    "comma": "@a.txt, ok",
    "mail_address": "mail me@a.txt x",
    "lone_sign": "a @ b",
    "escaped_sign": "a \\@a.txt",
    "absolute": "@" + PROJECT + "/a.txt",
    "outside": "@/etc/hostname",
    "upwards": "@../home/.gemini/settings.json",
    "dot_slash": "@./a.txt",
    "lines": "x\n@a.txt\ny",
    "range": "@a.txt:1-2",
    "some_missing": "@a.txt @zz @d/x.txt",
    "parentheses": "(@a.txt)",
    "pattern": "@*.txt",
    "tilde": "@~/x",
}

for name, prompt in PROMPTS.items():
    case(f"at.{name}", YOLO + ["-p", prompt], files=FILES, git=True)
case("at.included_folder", YOLO + ["--include-directories", ROOT + "/inc", "-p", "see @i.txt"],
     beside={"inc/i.txt": "inc\n"})

case("at.folder_with_context_file", GO[:-1] + ["look at @d"], files={"d/GEMINI.md": "words\n", "d/a.txt": "a\n"})
case("at.without_glob", GO[:-1] + ["look at @deep.txt"], files={"d/e/deep.txt": "deep\n"}, settings={"tools": {"exclude": ["glob"]}})
case("stdin.none_json", YOLO + ["-o", "json"], stdin="")
case("stdin.none_stream_json", YOLO + ["-o", "stream-json"], stdin="")
