"""The three output formats, the order of calls, and the parts that go back to the model."""

from scenario import GO, RIPGREP, YOLO, call, calls, case, chunk, text

FILES = {"a.txt": "alpha\n", "b.txt": "beta\n", "d/x.txt": "x\n"}


def read(id, path="a.txt", **fields):
    return call("read_file", {"file_path": path}, id, **fields)


WORK = [
    calls(
        read("read"),
        call("list_directory", {"dir_path": "d"}, "list"),
        call("write_file", {"file_path": "n.txt", "content": "q\n"}, "write"),
        call("replace", {"file_path": "b.txt", "instruction": "i", "old_string": "beta", "new_string": "BETA\nmore"}, "edit"),
        call("run_shell_command", {"command": "echo hi"}, "shell"),
        call("run_shell_command", {"command": "exit 2"}, "exit"),
        call("glob", {"pattern": "*.txt"}, "glob"),
        say="let me look",
    ),
    text("The end.\n"),
]
WRONG = [
    calls(
        read("missing", "zz"),
        call("write_file", {"file_path": "n2.txt"}, "nocontent"),
        call("list_directory", {"dir_path": "nope"}, "nofolder"),
        call("run_shell_command", {"command": "true"}, "silent"),
        call("glob", {"pattern": "zz*"}, "nothing"),
        call("grep_search", {"pattern": "zzqq"}, "nomatch"),
    ),
    text("The end."),
]
for form in ("text", "json", "stream-json"):
    case(f"output.{form}", GO + ["-o", form], files=FILES, script=WORK)
    case(f"output.{form}_with_failures", GO + ["-o", form], files=FILES, script=WRONG, settings=RIPGREP)

THOUGHT = {"promptTokenCount": 20, "candidatesTokenCount": 5, "totalTokenCount": 30, "thoughtsTokenCount": 5,
           "cachedContentTokenCount": 8, "toolUsePromptTokenCount": 2}
CHUNKS = [[
    chunk([{"text": "**Plan** think", "thought": True}], usage={"promptTokenCount": 9}),
    chunk([{"text": "a"}], usage=None),
    chunk([{"text": "b"}, {"text": "c"}], usage=None),
    chunk([{"text": ""}], usage=None),
    chunk([{"text": "d\n"}], "STOP", usage=THOUGHT),
]]
for form in ("text", "json", "stream-json"):
    case(f"output.chunks_{form}", GO + ["-o", form], script=CHUNKS)
case("output.terminal_codes", script=[text("x\x1b[31mred\x1b[0m\x1b]8;;http://a\x07l\x1b]8;;\x07\r\n")])
case("output.terminal_codes_json", GO + ["-o", "json"], script=[text("x\x1b[31mred\x1b[0m\t\x07")])
case("output.raw", GO + ["--raw-output"], script=[text("x\x1b[31mred\x1b[0m")])
case("output.raw_accepted", GO + ["--raw-output", "--accept-raw-output-risk"], script=[text("x\x1b[31mred\x1b[0m")])
case("output.format_setting", settings={"output": {"format": "json"}})
case("output.lines_counted", GO + ["-o", "json"], files={"a.txt": "1\n2\n3\n", "c.txt": "a\r\nb\r\n"}, script=[
    calls(call("write_file", {"file_path": "n.txt", "content": "x\ny\n"}, "new")),
    calls(call("write_file", {"file_path": "a.txt", "content": "1\n3\n4\n5\n"}, "over")),
    calls(call("replace", {"file_path": "a.txt", "instruction": "i", "old_string": "4", "new_string": "44\n45"}, "edit")),
    text("done")])

case("order.as_called", GO + ["-o", "stream-json"], files=FILES, script=[
    calls(call("run_shell_command", {"command": "sleep 0.4; echo slow"}, "slow"),
          call("run_shell_command", {"command": "echo fast"}, "fast"), read("read")), text("done")])
case("order.with_refused_calls", GO + ["-o", "stream-json"], files=FILES, script=[
    calls(call("run_shell_command", {"command": "echo a"}, "first"), call("nosuch", {}, "unknown"), read("read"),
          call("write_file", {}, "refused"), call("run_shell_command", {"command": "echo e"}, "last")), text("done")])
case("order.waits", files=FILES, script=[
    calls(call("write_file", {"file_path": "w.txt", "content": "x\n"}, "write"),
          call("run_shell_command", {"command": "sleep 0.2; echo y >> w.txt"}, "shell"),
          call("read_file", {"file_path": "w.txt", "wait_for_previous": True}, "read")), text("done")])

case("replayed.signatures", files=FILES, script=[
    [chunk([{"text": "thinking", "thought": True, "thoughtSignature": "QUJD"}]), chunk([{"text": "I will"}]),
     chunk([read("s1", thoughtSignature="U0lH"), read("s2", "b.txt")], "STOP")],
    [chunk([read("s3", "d/x.txt")], "STOP")],
    [chunk([{"text": "fin", "thoughtSignature": "WFla"}], "STOP")]])
case("replayed.text_around_calls", files=FILES, script=[
    [chunk([{"text": "before"}, read("r"), {"text": "after"}], "STOP")], text("done")])
case("replayed.calls_in_two_chunks", files=FILES, script=[
    [chunk([read("r")]), chunk([{"text": "between"}]), chunk([call("glob", {"pattern": "*"}, "g")], "STOP")], text("done")])
case("replayed.other_parts", files=FILES, script=[
    [chunk([{"executableCode": {"language": "PYTHON", "code": "1"}},
            {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1"}}, read("r")], "STOP")], text("done")])
case("replayed.thoughts_between", files=FILES, script=[
    [chunk([{"text": "t1", "thought": True}]), chunk([{"text": "seen"}]), chunk([{"text": "t2", "thought": True}, read("r")], "STOP")],
    text("done")])

case("output.words_around_a_call", files={"a.txt": "q\n"}, script=[
    [chunk([{"text": "one "}]), chunk([call("read_file", {"file_path": "a.txt"}, "read")]), chunk([{"text": "two"}], "STOP")], text("three")])
case("output.other_model_json", YOLO + ["-p", "go", "-o", "json"], script=[[chunk([{"text": "x"}], "STOP", modelVersion="other-model")]])
case("output.other_model_stream-json", YOLO + ["-p", "go", "-o", "stream-json"], script=[[chunk([{"text": "x"}], "STOP", modelVersion="other-model")]])
