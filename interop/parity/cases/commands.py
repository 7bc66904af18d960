"""Custom commands: TOML files of the user and the project, called in a headless run."""

from scenario import FLASH, PNG, YOLO, case, text


def command(name, prompt_toml, line, argv=YOLO, *, where=".gemini/commands", **rest):
    """Registers a case that calls the project's command `c` with this line."""
    files = {f"{where}/c.toml": prompt_toml, **rest.pop("files", {})}
    case(f"commands.{name}", [*argv, "-p", line], files=files, script=[text("done")], **rest)


PLAIN = 'description = "Say it"\nprompt = "Say hello."'
command("plain", PLAIN, "/c")
command("arguments_appended", PLAIN, "/c one  two")
command("arguments_in_lines", PLAIN, "/c one\ntwo")
command("of_user", "", "/c x", home={".gemini/commands/c.toml": PLAIN}, where="unused")
command("namespace", "", "/git:sub:review x", where="unused",
        files={".gemini/commands/git/sub/review.toml": PLAIN})
command("names", "", "/a_b:_._c x", where="unused", files={".gemini/commands/a b/é.+c.toml": PLAIN})
command("hidden_file", "", "/.h", where="unused", files={".gemini/commands/.h.toml": PLAIN})

# Placeholders of arguments.
command("args", "prompt = 'A {{args}} B {{args}} C'", "/c it's $(x) \"y\"")
command("args_empty", "prompt = 'A [{{args}}] B'", "/c")
command("args_as_placeholder", "prompt = 'A {{args}} B'", "/c {{args}} !{x} @{y} $1 $&")
command("args_blanks", "prompt = 'A [{{args}}] B'", "/c  one   two ")

# Output of commands.
command("shell", "prompt = 'Out: !{echo hello}.'", "/c")
command("shell_args", "prompt = 'Out: !{printf \"<%s>\" {{args}}} {{args}}'", "/c one two")
command("shell_args_quoted", "prompt = \"Out: !{printf '<%s>' {{args}}}\"", "/c it's \"a\" $HOME `id` \\ ;")
command("shell_args_empty", "prompt = \"Out: !{printf '<%s>' a {{args}}}\"", "/c")
command("shell_appends", "prompt = 'Out: !{echo hello}'", "/c one")
command("shell_braces", "prompt = \"Out: !{echo a b | awk '{print $2}'} {x}\"", "/c")
command("shell_empty", "prompt = 'a!{}b !{  } c'", "/c")
command("shell_two", "prompt = '!{echo one} and !{echo two}'", "/c")
command("shell_fails", "prompt = 'Out: !{echo out; echo err >&2; exit 3} end'", "/c")
command("shell_unknown", "prompt = 'Out: !{exit 7} end'", "/c")
command("shell_signal", "prompt = 'Out: !{echo a; kill -9 $$} end'", "/c")
command("shell_lines", "prompt = 'Out: !{printf \"a\\\\n\\\\nb\\\\n\\\\n\"}.'", "/c")
command("shell_folder", "prompt = 'Out: !{ls}'", "/c", files={"one.txt": "1"})
command("shell_unclosed", "prompt = 'Out: !{echo {x}'", "/c")
command("shell_not_allowed", "prompt = 'Out: !{touch x}'", "/c", FLASH)
command("shell_allowed_by_flag", "prompt = 'Out: !{echo x}'", "/c",
        [*FLASH, "--allowed-tools", "run_shell_command(echo)"])
command("shell_output_is_text", "prompt = 'Out: !{cat p.txt} {{args}}'", "/c x",
        files={"p.txt": "{{args}} !{echo no} @{p.txt}"})

# Content of files and folders.
command("file", "prompt = 'See @{a.txt}!'", "/c", files={"a.txt": "\n\n  one\ntwo\n\n"})
command("file_arguments", "prompt = 'See @{a.txt}'", "/c more", files={"a.txt": "one"})
command("file_twice", "prompt = '@{a.txt} @{b.txt}'", "/c", files={"a.txt": "one", "b.txt": "two"})
command("file_missing", "prompt = 'See @{nosuch.txt}.'", "/c")
command("file_empty_path", "prompt = 'See @{}.'", "/c")
command("file_outside", "prompt = 'See @{../out.txt}.'", "/c", beside={"out.txt": "secret"})
command("file_ignored", "prompt = 'See @{a.txt}.'", "/c", files={"a.txt": "one", ".gitignore": "a.txt\n"}, git=True)
command("file_with_blanks", "prompt = 'See @{ a b.txt }.'", "/c", files={"a b.txt": "one"})
command("file_image", "prompt = 'See @{a.png}.'", "/c", files={"a.png": PNG})
command("file_folder", "prompt = 'See @{d}.'", "/c", files={"d/a.txt": "one", "d/e/b.txt": "two"})
command("file_unclosed", "prompt = 'See @{a'", "/c")
command("file_and_shell", "prompt = '@{a.txt} !{echo x} {{args}}'", "/c y", files={"a.txt": "one"})

# Files that are no commands, and names that are taken.
command("bad_toml", "prompt = ", "/c x")
command("no_prompt", "description = 'x'", "/c x")
command("wrong_type", "prompt = 3", "/c x")
command("empty_prompt", "prompt = ''", "/c x")
command("byte_order_mark", "\ufeffprompt = 'Say hello.'", "/c x")
command("line_ends", "prompt = \"\"\"\r\nSay\r\nhello.\"\"\"\r\n", "/c")
command("unknown_name", PLAIN, "/nosuch x")
CLASH = {"home": {".gemini/commands/c.toml": "prompt = 'of user'"}}
command("clash_user", "prompt = 'of project'", "/user.c", **CLASH)
command("clash_project", "prompt = 'of project'", "/workspace.c", **CLASH)
command("clash_bare", "prompt = 'of project'", "/c", **CLASH)
command("clash_built_in", "", "/workspace.help x", where="unused", files={".gemini/commands/help.toml": PLAIN})
command("clash_alias", "", "/exit x", where="unused", files={".gemini/commands/exit.toml": PLAIN})
command("clash_in_folder", "", "/workspace.a_b1 x", where="unused",
        files={".gemini/commands/a b.toml": "prompt = 'one'", ".gemini/commands/a_b.toml": "prompt = 'two'"})
for output in ("json", "stream-json"):
    command(f"output_{output}", "prompt = 'Out: {{args}}'", "/c x", [*YOLO, "-o", output])
