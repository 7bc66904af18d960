"""list_directory, glob and grep_search, over one project."""

from scenario import HOME, LINK, PROJECT, RIPGREP, call, case, tool_case, turns

FILES = {
    "a.txt": "one\ntwo\nthree\nfour\nfive\n",
    "B.txt": "B\n",
    "Zed.txt": "z\n",
    "_u.txt": "u\n",
    "accent.txt": "é\n",
    "crlf.txt": "one\r\ntwo\r\nthree\r\n",
    "nonl.txt": "one\ntwo",
    "u16.txt": b"\xff\xfe" + "wörld\n".encode("utf-16-le"),
    "bin": b"abc\x00def\x01\x02" * 50,
    "src/a.rs": 'let foo = 1;\nfn main() {\n    println!("foo");\n}\n',
    "src/b.rs": "// nothing\nlet bar = 2;\n",
    "src/c.py": "foo = 3\nFOO = 4\nfoo(1)\n",
    "src/deep/d.rs": "".join(f"line {i}\n" for i in range(1, 121)) + "needle here\n"
                     + "".join(f"tail {i}\n" for i in range(1, 121)),
    "many.txt": "".join(f"hit {i}\n" for i in range(150)),
    "wide.txt": "foo " + "w" * 3000 + "\n",
    "[slug]/p.tsx": "foo slug\n",
    "dir/f.txt": "inner\n",
    "dir/sub/g.txt": "deep\n",
    "emptyfolder": None,
    ".hidden": "hid\n",
    ".vscode/s.json": "foo\n",
    ".gitignore": "ignored.txt\nout/\n",
    "ignored.txt": "secret\n",
    "out/x.txt": "o\n",
    ".geminiignore": "gemign.txt\n",
    "gemign.txt": "g\n",
    "link.txt": LINK + "a.txt",
    "linkfolder": LINK + "src",
}


def listing(name, **calls_by_id):
    tool_case(f"list_directory.{name}", "list_directory", calls_by_id, files=FILES, git=True)


def globbing(name, **calls_by_id):
    tool_case(f"glob.{name}", "glob", calls_by_id, files=FILES, git=True)


def grepping(name, **calls_by_id):
    tool_case(f"grep_search.{name}", "grep_search", calls_by_id, files=FILES, git=True,
              settings=RIPGREP)


def of(path, **arguments):
    return {"dir_path": path, **arguments}


def matching(pattern, **arguments):
    return {"pattern": pattern, **arguments}


listing("folders", root=of("."), absolute=of(PROJECT), sub=of("src"), slash=of("src/"), empty=of("emptyfolder"))
listing("refused", file=of("a.txt"), missing=of("nope"), outside=of("/etc"), up=of(".."), pattern=of("sr*"))
listing("ignore", some=of("src", ignore=["*.rs"]), all=of("src", ignore=["*"]), mixed=of(".", ignore=["*.txt", "dir", "?in*"]))
listing("filtering_off", git=of(".", file_filtering_options={"respect_git_ignore": False}),
        both=of(".", file_filtering_options={"respect_gemini_ignore": False, "respect_git_ignore": False}))
listing("ignored_folder", out=of("out"))
listing("git_folder", git=of(".git"))
listing("links", link=of("linkfolder"))
listing("at_sign", at=of("@src"))
listing("project_temp", temp=of(HOME + "/.gemini/tmp/project"))
listing("arguments", none={}, blank=of(""), number=of(3), text=of(".", ignore="*.rs"), numbers=of(".", ignore=[1]),
        options=of(".", file_filtering_options="x"), flag=of(".", file_filtering_options={"respect_git_ignore": "x"}))

globbing("simple", txt=matching("*.txt"), deep=matching("**/*.rs"), under=matching("src/*"), one=matching("src/a.rs"))
globbing("folder", sub=matching("*", dir_path="src"), deep=matching("**/*", dir_path="src"), absolute=matching("*", dir_path=PROJECT + "/src"))
globbing("everything", all=matching("**/*"), top=matching("*"))
globbing("braces", braces=matching("src/*.{rs,py}"), range=matching("src/{a..c}.rs"), classes=matching("src/[ab].rs"))
globbing("extended", not_=matching("**/!(*.rs)", dir_path="src"), plus=matching("**/+(a|b).rs"), at=matching("src/@(a|c).*"))
globbing("case", lower=matching("*.TXT"), sensitive=matching("b.txt", case_sensitive=True), insensitive=matching("b.TXT"))
globbing("hidden", dot=matching(".*"), deep=matching("**/s.json"))
globbing("ignored", one=matching("ignored.txt"), off=matching("ignored.txt", respect_git_ignore=False),
         gemini=matching("gemign.txt", respect_gemini_ignore=False), folder=matching("out/*"))
globbing("brackets", slug=matching("[slug]/*"), escaped=matching("\\[slug\\]/*"))
globbing("nothing", none=matching("zz*"), git=matching(".git/*"), backslash=matching("src\\a.rs"))
globbing("links", link=matching("link*"))
globbing("refused", missing=matching("*", dir_path="nope"), file=matching("*", dir_path="a.txt"), outside=matching("*", dir_path="/etc"))
globbing("arguments", blank=matching(""), spaces=matching("  "), none={}, number=matching(1), text=matching("*.rs", case_sensitive="yes"))

grepping("simple", word=matching("needle"), several=matching("foo", dir_path="src"), none=matching("zzqq"))
grepping("case", insensitive=matching("FOO", dir_path="src"), sensitive=matching("FOO", dir_path="src", case_sensitive=True))
grepping("context", around=matching("needle", context=2), before=matching("needle", before=1, after=2))
grepping("context_overlap", overlap=matching("line 1[0-2]$", context=3))
grepping("names", names=matching("foo", dir_path="src", names_only=True), limited=matching("foo", names_only=True, total_max_matches=2))
grepping("fixed", plain=matching("foo(1)", fixed_strings=True), regex=matching("foo\\(1\\)"))
grepping("limits", total=matching("hit", total_max_matches=5), each=matching("hit", max_matches_per_file=3), default=matching("hit"))
grepping("include", rust=matching("foo", include_pattern="*.rs"), deep=matching("needle", include_pattern="**/*.rs"))
grepping("exclude", bar=matching("foo", dir_path="src", exclude_pattern="println"))
grepping("anchors", line=matching("^two$"), dollar=matching("five$"), word=matching("\\bfoo\\b", dir_path="src"))
grepping("crlf", crlf=matching("thr", include_pattern="crlf.txt"))
grepping("unicode", accent=matching("é"))
grepping("long_line", wide=matching("foo w"))
grepping("ignored", ignored=matching("secret"), off=matching("secret", no_ignore=True))
grepping("hidden", hidden=matching("hid"))
grepping("one_file", file=matching("two", dir_path="a.txt"))
grepping("folder", absolute=matching("bar", dir_path=PROJECT + "/src"), slug=matching("foo slug"))
grepping("bad_pattern", open=matching("foo("), bracket=matching("["), fixed=matching("foo(", fixed_strings=True))
grepping("refused", missing=matching("foo", dir_path="nope"), outside=matching("foo", dir_path="/etc"), up=matching("x", dir_path=".."))
grepping("arguments", none={}, blank=matching(""), negative=matching("foo", context=-1), zero=matching("foo", total_max_matches=0),
         text=matching("foo", context="2"), flag=matching("foo", names_only="x"))

NAMES = {name: "x\n" for name in ("über.txt", "zeta.txt", "ärger.txt", "alpha.txt", "éa.txt", "eb.txt", "Ea.txt", "日.txt", "ß.txt", "st.txt", "_a.txt", "10.txt", "9.txt")}
case("list_directory.names", files=NAMES, script=turns(
    call("list_directory", {"dir_path": "."}, "list"), call("glob", {"pattern": "*.txt"}, "glob")))
case("glob.env", files={".env": "A=1\n", ".env.example": "A=\n", "d/.env": "B=1\n"}, script=turns(
    call("glob", {"pattern": "**/.env*"}, "glob"), call("list_directory", {"dir_path": "."}, "list"),
    call("read_file", {"file_path": ".env"}, "read")))
grepping_files = {
    ".ignore": "dotignored.txt\n", "dotignored.txt": "needle here\n", ".rgignore": "rgignored.txt\n", "rgignored.txt": "needle there\n",
    ".eslintrc.json": "needle\n", ".env.example": "needle\n", "dist/x.txt": "needle\n", "packages/a/src/m.txt": "needle\n",
    "many/a.txt": "needle\n" * 80, "many/b.txt": "needle\n" * 80, "notes.log": "needle\n", ".env": "needle\n", "GEMINI.md": "needle\n",
}
tool_case("grep_search.places", "grep_search", {
    "all": {"pattern": "needle", "exclude_pattern": "x", "names_only": True},
    "eslint": {"pattern": "needle", "include_pattern": ".eslintrc*"},
    "env": {"pattern": "needle", "include_pattern": ".env*"},
    "dist": {"pattern": "needle", "dir_path": "dist"},
    "src": {"pattern": "needle", "dir_path": "packages/a", "include_pattern": "src/**"},
    "many": {"pattern": "needle", "dir_path": "many", "names_only": True},
    "log": {"pattern": "needle", "include_pattern": "*.log"},
    "around": {"pattern": "n(?=eedle)"}, "inline": {"pattern": "(?i)NEEDLE", "dir_path": "dist"},
    "without": {"pattern": "needle", "exclude_pattern": "(?=x)y"},
}, files=grepping_files, git=True, settings=RIPGREP)
