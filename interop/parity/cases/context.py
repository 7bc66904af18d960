"""GEMINI.md and its imports, the session's context, custom system instructions, more folders."""

from scenario import GO, RIPGREP, ROOT, call, case, turns

FILES = {"GEMINI.md": "project words\n@./inc.md\n", "inc.md": "included @missing.md and `@code.md`\n"}

case("context.project", files=FILES, git=True)
case("context.global", files=FILES, home={".gemini/GEMINI.md": "global words\n"})
case("context.upwards_to_the_repository", files=FILES, beside={"GEMINI.md": "upper words\n", ".git/HEAD": ""})
case("context.upwards_without_repository", files=FILES, beside={"GEMINI.md": "upper words\n"})
case("context.other_names", files={"A.md": "a words\n", "B.md": "b words", "GEMINI.md": "g"},
     settings={"context": {"fileName": ["A.md", "B.md"]}})
case("context.empty", files={"GEMINI.md": "  \n"})
IMPORTS = {
    "GEMINI.md": "@./a.md\n@../w2.md\n@/etc/hostname\n@http://x\n@./nope.md\n@./c1.md\n"
                 "```\n@./a.md\n```\n@a.md mid @./d/e.md, end\n",
    "a.md": "A",
    "c1.md": "c1 @./c2.md",
    "c2.md": "c2 @./c1.md",
    "d/e.md": "E @./f.md",
    "d/f.md": "F",
}
case("context.imports", files=IMPORTS, git=True)
case("context.imports_flat", files={"GEMINI.md": "@./a.md x\n@./c1.md", "a.md": "A", "c1.md": "c1 @./a.md"}, git=True,
     settings={"context": {"importFormat": "flat"}})
case("context.no_tree", files=FILES, settings={"context": {"includeDirectoryTree": False}})
case("context.tree", git=True, files={
    **{f"d{i % 20}/f{i}.txt": "x" for i in range(260)},
    "node_modules/a/b.js": "", ".hid/x": "x", "z.txt": "z", "dist/q.js": "", "__pycache__/a.pyc": "x",
    ".gitignore": "ig/\n", "ig/x": "x", "Ab.txt": "", "ab/c.txt": "",
})
NESTED = {"sub/GEMINI.md": "sub words\n", "sub/deep/a.txt": "x\n", "sub/deep/GEMINI.md": "deep words"}
case("context.found_on_the_way", files=NESTED, git=True,
     script=turns(call("read_file", {"file_path": "sub/deep/a.txt"}, "read"), call("list_directory", {"dir_path": "sub"}, "list"),
                  call("read_file", {"file_path": "sub/deep/a.txt"}, "again")))
case("context.found_when_writing", git=True,
     files={"s1/GEMINI.md": "one\n", "s2/GEMINI.md": "two\n", "s3/GEMINI.md": "three", "s3/a.txt": "q"},
     script=turns(call("write_file", {"file_path": "s1/n.txt", "content": "z"}, "write"),
                  call("list_directory", {"dir_path": "s2"}, "list"),
                  call("replace", {"file_path": "s3/a.txt", "instruction": "i", "old_string": "q", "new_string": "r"}, "edit")))

case("context.own_system", env={"GEMINI_SYSTEM_MD": "1"}, files={".gemini/system.md": "MY WORDS ${read_file_ToolName} ${zz}"})
case("context.own_system_missing", env={"GEMINI_SYSTEM_MD": "1"})

INCLUDED = {"inc/i.txt": "inc\n", "inc/GEMINI.md": "inc words\n", "inc/sub/j.txt": "j\n"}
WITH = GO + ["--include-directories", ROOT + "/inc"]
case("folders.read", WITH, beside=INCLUDED, files={"a.txt": "a\n"},
     script=turns(call("read_file", {"file_path": ROOT + "/inc/i.txt"}, "read"), call("glob", {"pattern": "*.txt"}, "glob"),
                  call("list_directory", {"dir_path": ROOT + "/inc"}, "list")))
case("folders.write", WITH, beside=INCLUDED, files={"a.txt": "a\n"},
     script=turns(call("write_file", {"file_path": ROOT + "/inc/n.txt", "content": "n"}, "write"),
                  call("run_shell_command", {"command": "pwd", "dir_path": ROOT + "/inc"}, "shell"),
                  call("read_file", {"file_path": "/etc/hostname"}, "outside")))
case("folders.search", WITH, settings=RIPGREP, beside=INCLUDED, files={"a.txt": "a\n"},
     script=turns(call("grep_search", {"pattern": "inc"}, "all"), call("grep_search", {"pattern": "inc", "dir_path": ROOT + "/inc"}, "one"),
                  call("glob", {"pattern": "**/*", "dir_path": ROOT + "/inc"}, "glob")))
case("folders.setting", beside=INCLUDED, settings={"context": {"includeDirectories": [ROOT + "/inc", ROOT + "/none"]}})
case("folders.missing", GO + ["--include-directories", "/nonexistent"])
case("context.private_memory", home={".gemini/tmp/project/memory/MEMORY.md": "a note\n", ".gemini/GEMINI.md": "mine\n"})
