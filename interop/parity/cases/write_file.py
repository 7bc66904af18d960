"""write_file: new and existing files, line ends, encodings, paths, placeholders, arguments."""

from scenario import HOME, LINK, call, calls, case, text, tool_case

SIXTY = [f"l{i}\n" for i in range(1, 61)]

FILES = {
    "a.txt": "one\ntwo\nthree\n",
    "crlf.txt": "one\r\ntwo\r\n",
    "bom.txt": b"\xef\xbb\xbfx\n",
    "u16.txt": b"\xff\xfe" + "hi\n".encode("utf-16-le"),
    "long.txt": "".join(SIXTY),
    "dir/x": "x",
    "l.txt": LINK + "a.txt",
    "exe.sh": "#!/bin/sh\n",
    "nonl.txt": "a\nb",
    ".gitignore": "ign.txt\n",
    "ign.txt": "i",
    "bin.dat": b"\0\1\2",
    "@s/p": "q",
    "dangling": LINK + "newtarget.txt",
}


def write(name, **calls_by_id):
    tool_case(f"write_file.{name}", "write_file", calls_by_id, files=FILES, git=True)


def of(path, content, **arguments):
    return {"file_path": path, "content": content, **arguments}


def sixty(changed):
    """Returns the long file with some lines replaced; None removes a line."""
    return "".join(changed.get(i, line) or "" for i, line in enumerate(SIXTY, 1))


write("new", lines=of("new.txt", "hello\nworld\n"), unended=of("n2.txt", "hello"), empty=of("n3.txt", ""))
write("nested", deep=of("p/q/r.txt", "deep\n"), unicode=of("ü.txt", "ü\n"))
write("overwrite", over=of("a.txt", "one\nTWO\nthree\n"), same=of("a.txt", "one\nTWO\nthree\n"))
write("crlf", kept=of("crlf.txt", "one\nTWO\nnew\n"), given=of("crlf.txt", "one\r\nTWO\r\n"))
write("new_crlf", new=of("nc.txt", "a\r\nb\r\n"))
write("encodings", bom=of("bom.txt", "y\n"), sixteen=of("u16.txt", "yo\n"))
write("two_hunks", far=of("long.txt", sixty({10: "CHANGED\n", 40: "CHANGED\n"})))
write("hunks_that_meet", near=of("long.txt", sixty({10: "A\n", 14: "B\n", 40: "C\n"})))
write("a_line_less", gone=of("long.txt", sixty({30: None})))
write("a_line_more", more=of("long.txt", sixty({}) + "more\n"))
write("unended", more=of("nonl.txt", "a\nb\nc"))
write("folder_in_the_way", folder=of("dir", "x"), through=of("a.txt/b", "x"))
write("links", link=of("l.txt", "via link\n"))
write("dangling_link", dangling=of("dangling", "via dangling\n"))
write("mode_is_kept", script=of("exe.sh", "#!/bin/sh\necho\n"))
write("ignored", ignored=of("ign.txt", "w"))
write("over_binary", binary=of("bin.dat", "text\n"))
write("at_sign", file=of("@at.txt", "at\n"), folder=of("@s/p", "r"), nofolder=of("@zz/p", "r"))
write("outside", etc=of("/etc/pollux-x", "x"), up=of("../x.txt", "x"), settings=of(HOME + "/.gemini/settings.json", "{}"))
write("project_temp", temp=of(HOME + "/.gemini/tmp/project/t.txt", "x"))
write("placeholder", dots=of("p.txt", "a\n// ... rest of code ...\nb"), methods=of("p.txt", "a\n(rest of methods ...)\n"),
      code=of("p.txt", "rest of the code ..."), hash=of("p.txt", "# rest of code ..."))
write("no_placeholder", unchanged=of("p1.txt", "  // unchanged code..."), plain=of("p2.txt", "rest of methods"))
write("escapes", text=of("esc.txt", 'a\\nb \\"q\\"\n'), json=of("e.json", '{"a":"b\\n"}'))
write("arguments", blank=of("", "x"), spaces=of("  ", "x"), nocontent={"file_path": "q.txt"}, nopath={"content": "q"},
      number=of("q.txt", 5), object=of("q.json", {"a": 1}))
write("malformed_path", newline=of("a\nb", "x"))
write("own_folder", gemini=of(".gemini/x.md", "x"))
write("git_folder", hook=of(".git/hooks/x", "x"))
write("changed_by_user", user=of("um.txt", "final\n", modified_by_user=True, ai_proposed_content="prop\n"))

case("write_file.then_read", script=[
    calls(call("write_file", of("b.txt", "x\n"), "write"), call("read_file", {"file_path": "b.txt"}, "read"),
          call("run_shell_command", {"command": "cat b.txt"}, "cat")), text("done")])
