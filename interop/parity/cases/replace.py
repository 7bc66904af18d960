"""replace: exact, flexible, regex and fuzzy matches, counts, new files, line ends, arguments."""

from scenario import call, calls, case, text, tool_case, turns

CODE = "def f(a, b):\n    if a:\n        return b\n    return a\n\n\ndef g():\n    x = 1\n    y = 2\n    return x + y\n"
TABS = "class A:\n\tdef one(self):\n\t\tif x:\n\t\t\treturn 1\n\n\t\treturn 2\n\n\tdef two(self):\n\t\tpass\n"

FILES = {
    "a.py": CODE,
    "b.txt": "foo bar foo\nfoo\n",
    "crlf.txt": "one\r\ntwo\r\nthree\r\n",
    "nonl.txt": "aa\nbb",
    "d/x": "x",
    "t.txt": "tab\tsep\n  indented line\n",
    "dollar.txt": "cost $1 and $& x\n",
    "big.txt": "".join(f"l{i}\n" for i in range(1, 101)),
    "bom.txt": b"\xef\xbb\xbffirst\nsecond\n",
    "fuzzy.txt": "The quick brown fox jumps over the lazy dog\nand runs away from there\n",
    "twice.js": "function compute(alpha, beta) {\n  return alpha + beta;\n}\n\nfunction compute2(alpha, beta) {\n  return alpha + beta;\n}\n",
    "empty.txt": "",
    "sub/unique.py": "u = 1\n",
    "s1/dup.py": "d=1\n",
    "s2/dup.py": "d=1\n",
    "spaced.js": "foo( a , b ){\n  x;\n}\n",
    "mixed.txt": "a\r\nb\nc\n",
    "trailing.txt": "x  \ny\n",
    "latin.txt": b"caf\xe9 x\n",
    "u16.txt": b"\xff\xfe" + "hi\n".encode("utf-16-le"),
    "cr.txt": "a\rb\rc",
    **{f"tabs{i}.py": TABS for i in range(8)},
    "tabscrlf.py": TABS.replace("\n", "\r\n"),
}


def edit(name, **calls_by_id):
    tool_case(f"replace.{name}", "replace", calls_by_id, files=FILES)


def of(path, old, new, **arguments):
    return {"file_path": path, "instruction": "i", "old_string": old, "new_string": new, **arguments}


edit("exact", one=of("a.py", "x = 1", "x = 10"), delete=of("a.py", "    y = 2\n", ""),
     lines=of("a.py", "    if a:\n        return b\n", "    if not a:\n        return b\n"))
edit("flexible", heads=of("a.py", "def g():\nx = 1", "def g():\nx = 11"), indent=of("a.py", "  return a\n", "  return aa\n"))
edit("many_refused", many=of("b.txt", "foo", "baz"), ambiguous=of("big.txt", "l1", "X"))
edit("many_allowed", all=of("b.txt", "foo", "baz", allow_multiple=True), one=of("b.txt", "bar", "BAR", allow_multiple=True))
edit("no_match", none=of("b.txt", "nothing here", "x"), all=of("b.txt", "nothing here", "x", allow_multiple=True))
edit("no_change", same=of("b.txt", "bar", "bar"), none=of("b.txt", "ZZZ", "ZZZ"))
edit("crlf", one=of("crlf.txt", "two", "TWO\nmore"), given=of("crlf.txt", "one\r\nTWO", "uno\r\nDOS"))
edit("mixed_line_ends", mixed=of("mixed.txt", "b", "B"), returns=of("cr.txt", "b", "B"))
edit("unended", last=of("nonl.txt", "bb", "cc"), ended=of("nonl.txt", "cc", "cc\n"))
edit("create", new=of("new.txt", "", "created\n"), nested=of("n/m/new.txt", "", "created"), empty=of("ne.txt", "", ""))
edit("create_present", full=of("b.txt", "", "x"), empty=of("empty.txt", "", "x"))
edit("missing", file=of("gone.txt", "a", "b"), folder=of("gone/gone.txt", "a", "b"))
edit("folder", folder=of("d", "a", "b"))
edit("dollar", dollar=of("dollar.txt", "$1 and $&", "$& $1 $$ $`"))
edit("whole_lines", one=of("big.txt", "l50\n", "L50\n"), two=of("big.txt", "l10\nl11", "L10\nL11"))
edit("bom", plain=of("bom.txt", "first", "FIRST"))
edit("encodings", sixteen=of("u16.txt", "hi", "ho"))
edit("latin", latin=of("latin.txt", "x", "y"))
edit("fuzzy", close=of("fuzzy.txt", "The quick brown fox jumped over the lazy dog", "A slow cat"))
edit("too_far", far=of("fuzzy.txt", "The quack brawn fix jumped ever tha lizy dig", "A"))
edit("fuzzy_twice", one=of("twice.js", "return alpha + betta;", "return 1;"))
edit("fuzzy_all", all=of("twice.js", "  return alpha + betta;", "  return 1;", allow_multiple=True))
edit("regex", spaces=of("spaced.js", "foo(a, b) {", "bar(a, b) {"))
edit("regex_over_lines", joined=of("spaced.js", "foo(a,b){ x; }", "q();"))
edit("found_by_its_end", unique=of("unique.py", "u = 1", "u = 2"), twice=of("dup.py", "d=1", "d=2"))
edit("trailing_space", trailing=of("trailing.txt", "x\ny", "X\nY"))
edit("tabs_and_spaces", tab=of("t.txt", "tab sep", "TS"), indent=of("t.txt", "indented line", "  a\n    b"))
edit("placeholder", dots=of("b.txt", "bar", "// ... rest of code ..."))
edit("escapes", written=of("b.txt", "\\nq", "z"), line=of("b.txt", "foo bar foo\r\nfoo", "q\r\nr"))
edit("indentation_of_tabs",
     given=of("tabs0.py", "\tdef one(self):\n\t\tif x:", "\tdef uno(self):\n\t\tif y:"),
     none=of("tabs1.py", "def one(self):\nif x:\nreturn 1", "def uno(self):\nif y:\n  return 9"),
     spaces=of("tabs2.py", "  if x:\n    return 1\n", "  if z:\n    return 3\n    more\n"),
     blank=of("tabs3.py", "return 2\n\ndef two(self):", "return 22\n\n\ndef dos(self):"),
     more=of("tabs4.py", "  pass", "  ...\n\n  more"))
edit("spacing_of_words",
     inside=of("tabs0.py", "def two( self ):", "def t2(self):"),
     joined=of("tabs1.py", "def two(self):pass", "one"),
     colon=of("tabs2.py", "if x : return 1", "if q: return 2"),
     twice=of("tabs3.py", "def  one(self):", "def ein(self):\n  a\n\n    b"),
     header=of("tabs4.py", "class A :", "class C:"))
edit("almost_right", block=of("tabs0.py", "class A:\n\tdef onee(self):\n\t\tif x:\n\t\t\treturn 1", "class Q:\n\tpass"),
     short=of("tabs1.py", "def onne(self):", "def ONE(self):"))
edit("blank_lines", gap=of("tabs0.py", "if x:\n\nreturn 1", "no"), end=of("tabs1.py", "return 2   \n", "return 3\n"))
edit("flexible_crlf", lines=of("tabscrlf.py", "def one(self):\nif x:", "def uno(self):\nif y:"))
edit("arguments", blank=of("", "a", "b"), noold={"file_path": "b.txt", "instruction": "i", "new_string": "x"},
     nonew={"file_path": "b.txt", "instruction": "i", "old_string": "x"}, text=of("b.txt", "x", "y", allow_multiple="true"),
     none={})
edit("without_instruction", noinstruction={"file_path": "b.txt", "old_string": "bar", "new_string": "bar2"})
edit("older_arguments", expected=of("b.txt", "bar", "bar3", expected_replacements=1))
edit("outside", etc=of("/etc/passwd", "a", "b"))

case("replace.chained", files=FILES, script=[
    calls(call("replace", of("b.txt", "bar", "BAR"), "first"), call("replace", of("b.txt", "BAR", "Bar"), "second"),
          call("read_file", {"file_path": "b.txt"}, "read")), text("done")])

case("replace.everything", files={"a.txt": "x\n", "b.txt": "x"}, script=turns(
    call("replace", {"file_path": "a.txt", "instruction": "i", "old_string": "x\n", "new_string": ""}, "ended"),
    call("replace", {"file_path": "b.txt", "instruction": "i", "old_string": "x", "new_string": ""}, "unended")))
case("replace.huge", files={"huge.txt": "first\n" + ("y" * 99 + "\n") * 215_000}, script=turns(
    call("replace", {"file_path": "huge.txt", "instruction": "i", "old_string": "first", "new_string": "second"}, "huge")))
