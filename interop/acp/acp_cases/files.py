"""Files of the client: unsaved text is what tools read, and what they write goes to the editor."""

from acp_case import FILES, case, prompt
from scenario import HOME, PROJECT, ROOT, call, turns

OLD = f"{PROJECT}/old.txt"
NEW = f"{PROJECT}/new.txt"
DISK = {"old.txt": "a\nb\nc\n"}
BUFFER = {OLD: "a\nb unsaved\nc\n"}
READ_ONLY = {"fs": {"readTextFile": True, "writeTextFile": False}, "terminal": False}
WRITE_ONLY = {"fs": {"readTextFile": False, "writeTextFile": True}, "terminal": False}
READ = call("read_file", {"file_path": OLD}, "r1")
EDIT = call("replace",
    {"file_path": OLD, "instruction": "Change it.", "old_string": "b unsaved\n", "new_string": "B\n"}, "e1")
WRITE = call("write_file", {"file_path": NEW, "content": "new\n"}, "w1")


def buffered(name, *parts, capabilities=FILES, **rest):
    rest = {"files": DISK, "buffers": BUFFER, "permissions": ["allow_once"] * len(parts), **rest}
    case(f"files.{name}", prompt("go"), script=turns(*parts), capabilities=capabilities, **rest)


buffered("read", READ)
buffered("read_range", call("read_file", {"file_path": OLD, "start_line": 2, "end_line": 2}, "r1"))
buffered("edit", EDIT)
buffered("edit_rejected", EDIT, permissions=["reject_once"])
buffered("write", WRITE)
buffered("write_over", call("write_file", {"file_path": OLD, "content": "x\n"}, "w1"))
buffered("read_missing", call("read_file", {"file_path": f"{PROJECT}/missing.txt"}, "r1"))
buffered("read_only", READ, EDIT, capabilities=READ_ONLY)
buffered("write_only", READ, WRITE, capabilities=WRITE_ONLY)
buffered("read_then_edit", READ, EDIT, READ)
buffered("many", call("read_many_files", {"include": ["*.txt"]}, "m1"))
buffered("link", READ, buffers={f"{ROOT}/beside.txt": "unsaved\n"}, beside={"beside.txt": "beside\n"})
