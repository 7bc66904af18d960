"""Topics, lists and the tracker: the model's tools for organising its work, and their
availability."""

from scenario import FLASH, GO, TASK_OF, call, calls, case, text, tool_case, turns

# ---- write_todos


def entry(description, status="pending"):
    return {"description": description, "status": status}


LISTS = {
    "list": [entry("one", "in_progress"), entry("two")],
    "cleared": [],
    "statuses": [entry("a", "completed"), entry("b", "cancelled"), entry("c", "blocked")],
    "lines": [entry(" a\nb ")],
    "two_at_once": [entry("a", "in_progress"), entry("b", "in_progress")],
    "blank": [entry("a"), entry("  ")],
    "empty": [entry("", "in_progress"), entry("b", "in_progress")],
    "extra": [{**entry("a"), "x": 1}],
    "status": [entry("a", "odd")],
    "without_status": [{"description": "a"}],
    "text": "x",
    "item": ["x"],
    "number": [entry(3)],
    "null": None,
}
tool_case("todos.lists", "write_todos", {id: {"todos": todos} for id, todos in LISTS.items()})
tool_case("todos.arguments", "write_todos", {"none": {}, "more": {"todos": [], "y": 1}})
case("todos.stream_json", GO + ["-o", "stream-json"],
     script=turns(call("write_todos", {"todos": LISTS["list"]}, "list")))

ONE = turns(call("write_todos", {"todos": [entry("one")]}, "one"))
for mode in ("default", "auto_edit", "plan"):
    case(f"todos.in_{mode}", FLASH + ["--approval-mode", mode, "-p", "go"], script=ONE)
case("todos.off", script=ONE, settings={"useWriteTodos": False})
for model in ("gemini-2.5-pro", "gemini-2.5-flash-lite", "gemini-3-pro-preview", "gemini-2.5-flash-preview-09-2025"):
    case(f"todos.for_{model}", ["-m", model, "-y", "-p", "go"], script=ONE)

# ---- update_topic

TOPICS = {"general": {"topicUpdateNarration": True}}
TELLING = {
    "new": {"title": "My topic", "summary": "A summary", "strategic_intent": "to do it"},
    "same": {"title": "My topic", "strategic_intent": "again"},
    "blank": {"title": "  ", "summary": "s", "strategic_intent": "  x "},
    "nothing": {"strategic_intent": ""},
    "other": {"title": "Other\ntopic", "strategic_intent": ""},
    "without_intent": {"title": "z"},
    "none": {},
    "number": {"strategic_intent": 3},
}
case("topics.reported", GO + ["-o", "stream-json"], settings=TOPICS,
     script=turns(*(call("update_topic", args, id) for id, args in TELLING.items())))
case("topics.off", script=turns(call("update_topic", TELLING["new"], "new")))
for mode in ("default", "plan"):
    case(f"topics.in_{mode}", FLASH + ["--approval-mode", mode, "-p", "go"], settings=TOPICS,
         script=turns(call("update_topic", TELLING["new"], "new")))
case("topics.first", files={"a.txt": "a\n"}, settings=TOPICS, script=[
    calls(call("read_file", {"file_path": "a.txt"}, "read"), call("update_topic", TELLING["new"], "topic"),
          call("glob", {"pattern": "*"}, "glob")), text("done")])

# ---- The tracker

TRACKER = {"experimental": {"taskTracker": True}}


def create(id, title, kind="task", **more):
    return call("tracker_create_task", {"title": title, "description": "d", "type": kind, **more}, id)


def update(name, **args):
    return call("tracker_update_task", args, name)


def task(id):
    return TASK_OF.format(id)


def see(name):
    """Returns calls that show everything about the tasks."""
    return [call("tracker_list_tasks", {}, f"list_{name}"), call("tracker_visualize", {}, f"graph_{name}")]


def tracker(name, *parts, **rest):
    case(f"tracker.{name}", rest.pop("argv", GO), script=turns(*parts), settings=TRACKER, **rest)


def link(id, waits, on):
    return call("tracker_add_dependency", {"taskId": waits, "dependencyId": on}, id)


A, B, C = task("a"), task("b"), task("c")
tracker("nothing", *see("none"), call("tracker_get_task", {"id": "ffffff"}, "get"),
        call("tracker_get_task", {"id": "../../x"}, "path"), link("link", "ffffff", "eeeeee"),
        update("update", id="ffffff", status="open"))
tracker("chain", create("a", "A", "epic"), call("tracker_visualize", {}, "one"), create("b", "B", parentId=A),
        create("c", "C", "bug", parentId=B, dependencies=[A, B]),
        *(call("tracker_get_task", {"id": id}, f"get_{number}") for number, id in enumerate((A, B, C))),
        call("tracker_visualize", {}, "graph"), call("tracker_list_tasks", {"type": "bug"}, "bugs"),
        call("tracker_list_tasks", {"parentId": A}, "parts"), call("tracker_list_tasks", {"status": "closed"}, "closed"),
        call("tracker_list_tasks", {"parentId": "zzz"}, "none"))
tracker("closing", create("a", "A"), create("b", "B", parentId=A, dependencies=[A]), update("early", id=B, status="closed"),
        update("begun", id=A, status="in_progress"), update("still", id=B, status="closed"),
        update("blocked", id=A, status="blocked"), update("first", id=A, status="closed"),
        update("then", id=B, status="closed"), update("again", id=B, status="open"), call("tracker_visualize", {}, "graph"))
tracker("links", create("a", "A"), create("b", "B", parentId=A), link("link", B, A), link("twice", B, A), link("self", B, B),
        link("circle", A, B), link("missing", A, "ffffff"), call("tracker_visualize", {}, "graph"),
        update("circle_too", id=A, dependencies=[B]), update("itself", id=A, dependencies=[A]),
        update("gone", id=A, dependencies=["ffffff"]), update("none", id=B, dependencies=[]),
        call("tracker_visualize", {}, "after"))
tracker("changes", create("a", "A"), update("words", id=A, title="A2", description="d2"), update("nothing", id=A),
        call("tracker_get_task", {"id": A}, "get"), *see("all"))
tracker("arguments", create("parent", "X", parentId="ffffff"), create("type", "X", "story"), create("empty", ""),
        call("tracker_create_task", {"description": "d", "type": "task"}, "untitled"),
        update("status", id="ffffff", status="odd"), update("no_id"), call("tracker_list_tasks", {"status": "odd"}, "list"),
        call("tracker_add_dependency", {"taskId": "x"}, "half"))
tracker("stream_json", create("a", "A"), update("close", id=A, status="closed"), update("missing", id="ffffff"),
        create("bad", "B", parentId="ffffff"), call("tracker_get_task", {"id": "x"}, "get"),
        link("self", A, A), call("tracker_list_tasks", {"status": "open"}, "list"), argv=GO + ["-o", "stream-json"])
for mode in ("default", "plan"):
    tracker(f"in_{mode}", create("a", "A"), *see("all"),
            argv=FLASH + ["--approval-mode", mode, "-p", "go"])
tracker("replaces_the_list", *ONE[0][0]["candidates"][0]["content"]["parts"])
