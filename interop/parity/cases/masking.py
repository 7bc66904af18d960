"""Old results that are shortened in the conversation."""

from scenario import GO, call, calls, case, text, turns

# Each file is slightly shorter than the 50,000 tokens that are never masked.
LINE = "some words of a file, and many more of them so that they fill a line of about a hundred letters...\n"
FILES = {f"f{number}.txt": f"file {number}\n" + LINE * 1950 for number in range(6)}
READ = [call("read_file", {"file_path": name}, name[:2]) for name in FILES]


def shell(id, command):
    return call("run_shell_command", {"command": command}, id)


def masked(name, script, **settings):
    """Registers a case in which results are masked in later requests."""
    case(f"masking.{name}", GO, files=FILES, script=script, settings=settings)


masked("files", turns(*READ))
masked("too_little", turns(*READ[:2]))
masked("side_by_side", [calls(*READ[:3]), calls(*READ[3:]), text("done")])
masked("commands", turns(shell("code", "seq 1 40000; exit 3"), shell("line", "head -c 200000 /dev/zero | tr '\\0' x"), *READ[:2]),
       tools={"truncateToolOutputThreshold": 0})
masked("failures_and_small", turns(call("read_file", {"file_path": "missing"}, "missing"), call("glob", {"pattern": "*"}, "glob"), *READ[:4]))
masked("by_the_settings", turns(call("glob", {"pattern": "*.txt"}, "glob"), shell("seq", "seq 1 2000"), READ[0]), contextManagement={
    "tools": {"outputMasking": {"protectionThresholdTokens": 100, "minPrunableThresholdTokens": 100}}})
