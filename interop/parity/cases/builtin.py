"""Built-in slash commands in headless runs, and lines that only look like one."""

from scenario import FLASH, case, text


def line(name, prompt, **rest):
    case(f"builtin.{name}", [*FLASH, "-p", prompt], script=[text("done")], **rest)


# The prompt of /init differs; the file that it creates does not.
line("init", "/init")
line("init_twice", "/init", files={"GEMINI.md": "Known."})
line("init_arguments", "/init the folder src")

# Lines that call nothing are prompts.
line("path", "/path/like/this what is it?")
line("unknown", "/nosuch x")
line("unknown_case", "/HELP")
line("double_slash", "//help")
line("comment", "/* help */")
line("only_slash", "/")

# Commands whose dialog or message a headless run cannot show.
for command in ("settings", "privacy", "model", "model set gemini-2.5-flash", "copy", "hooks", "hooks list",
                "theme", "editor", "auth", "permissions", "permissions trust", "resume", "footer", "vim",
                "terminal-setup"):
    line(command.replace(" ", "_"), f"/{command}")

# Commands that act without an answer: their text goes to the model.
for command in ("about", "help", "stats", "stats model", "tools", "tools desc", "docs", "directory show",
                "memory show", "policies list", "tasks", "shortcuts", "corgi"):
    line(command.replace(" ", "_"), f"/{command}")
