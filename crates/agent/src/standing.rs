//! State of the work that a conversation's calls have set: its topic, the approved plan, the to-do
//! list, and the folders that were opened. A resumed conversation has no other record of this
//! state.

use std::path::PathBuf;
use std::sync::Arc;

use pollux_protocol::plain_text::one_line;
use pollux_protocol::{
    Directive, FunctionCall, FunctionResponse, History, HistoryEntry, Part, Todo,
};

use crate::toolset::Toolset;

/// Maximum number of characters of a topic.
const LONGEST_TOPIC: usize = 200;

/// State of the work, as set by the calls of a conversation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PinnedContext {
    /// Topic of the work.
    pub topic: Option<String>,
    /// File of the plan that the user has approved, as the model named it.
    pub plan: Option<String>,
    /// To-do list.
    pub todos: Vec<Todo>,
    /// Folders outside of the workspace that the tools may read, the last one first.
    pub folders: Vec<PathBuf>,
}

impl PinnedContext {
    /// Reads the state from a conversation. The tools interpret their past calls, from the latest
    /// on.
    pub fn of(history: &History, toolset: &Toolset) -> Self {
        // Entries that a compression replaced still count.
        let entries = history.whole();
        let (mut topic, mut plan, mut todos) = (None, None, None);
        let mut folders = Vec::new();
        for (call, answer) in answered(&entries) {
            match toolset.recall(call, answer) {
                Some(Directive::SetTopic(title)) => topic = topic.or_else(|| clean(&title)),
                Some(Directive::LeavePlanMode { plan: name }) => {
                    plan = plan.or_else(|| plan_name(&name));
                }
                Some(Directive::SetTodos(list)) => {
                    todos.get_or_insert_with(|| cleaned(list));
                }
                Some(Directive::OpenFolder(folder)) => folders.push(folder),
                _ => {}
            }
        }
        Self { topic, plan, todos: todos.unwrap_or_default(), folders }
    }
}

/// Returns the answered calls of a conversation with their answers, the last first.
fn answered(
    entries: &[Arc<HistoryEntry>],
) -> impl Iterator<Item = (&FunctionCall, &FunctionResponse)> {
    entries.iter().enumerate().rev().flat_map(move |(place, entry)| {
        let answers = entries.get(place + 1);
        entry.content().parts.iter().rev().filter_map(Part::as_call).filter_map(move |call| {
            let mut responses = answers?.content().responses();
            Some((call, responses.find(|answer| answer.id == call.id)?))
        })
    })
}

/// Returns the name of a plan's file, if the name is valid.
pub(crate) fn plan_name(name: &str) -> Option<String> {
    let name = name.trim();
    (!name.is_empty() && !name.contains(char::is_control)).then(|| name.to_owned())
}

fn cleaned(list: Vec<Todo>) -> Vec<Todo> {
    let todo = |todo: Todo| Some(Todo { description: clean(&todo.description)?, ..todo });
    list.into_iter().filter_map(todo).collect()
}

/// Returns a title as one line of limited length; `None` for an empty title. The title becomes part
/// of the instructions, so these limits prevent a manipulated model from adding long or multi-line
/// text there.
pub(crate) fn clean(title: &str) -> Option<String> {
    let line: String = one_line(title).chars().take(LONGEST_TOPIC).collect();
    (!line.is_empty()).then_some(line)
}

#[cfg(test)]
mod tests {
    use pollux_protocol::{
        Args, Declaration, EntryId, Invocation, TodoStatus, Tool, ToolError, ToolKind,
    };
    use pretty_assertions::assert_eq;
    use serde_json::{Value, json};

    use super::*;

    /// Reads its past calls by the key of their arguments.
    struct Remembering;

    impl Tool for Remembering {
        fn name(&self) -> &'static str {
            "remember"
        }
        fn display_name(&self) -> &'static str {
            "Remember"
        }
        fn kind(&self) -> ToolKind {
            ToolKind::Other
        }
        fn declaration(&self) -> Declaration {
            Declaration { name: String::new(), description: String::new(), parameters: Value::Null }
        }
        fn recall(&self, args: &Value, response: &Value) -> Option<Directive> {
            if response["output"] == "refused" {
                return None;
            }
            let (key, value) = args.as_object()?.iter().next()?;
            let text = || value.as_str().unwrap_or_default().to_owned();
            Some(match key.as_str() {
                "topic" => Directive::SetTopic(text()),
                "plan" => Directive::LeavePlanMode { plan: text() },
                "folder" => Directive::OpenFolder(text().into()),
                _ => {
                    let todo = Todo { description: text(), status: TodoStatus::Blocked };
                    Directive::SetTodos(vec![todo])
                }
            })
        }
        fn prepare(&self, _args: &Args) -> Result<Box<dyn Invocation>, ToolError> {
            unreachable!("nothing runs here")
        }
    }

    /// Returns the state after calls with these arguments and answers.
    fn after(steps: &[(Value, Option<&str>)]) -> PinnedContext {
        let mut history = History::new();
        for (number, (args, answer)) in steps.iter().enumerate() {
            let (id, call) = (|kind: &str| EntryId::new(format!("{kind}{number}")), "c");
            history.push_user(id("u"), vec![Part::text("go")]);
            history.push_model(id("m"), vec![Part::call(call, "remember", args.clone())]);
            history.push_responses(
                id("r"),
                match answer {
                    Some(answer) => vec![Part::output(call, "remember", *answer)],
                    None => vec![Part::error(call, "remember", "failed")],
                },
            );
        }
        PinnedContext::of(&history, &Toolset::new(vec![Arc::new(Remembering)]))
    }

    #[test]
    fn a_topic_is_one_bounded_line() {
        assert_eq!(clean(" Mend\n\n the\u{1b} parser\t"), Some("Mend the parser".to_owned()));
        assert_eq!(clean(" \n\u{0}"), None);
        assert_eq!(clean(&"é".repeat(5000)), Some("é".repeat(LONGEST_TOPIC)));
    }

    #[test]
    fn the_last_call_that_changed_something_counts() {
        assert_eq!(after(&[]), PinnedContext::default());
        let standing = after(&[
            (json!({"topic": "First"}), Some("")),
            (json!({"topic": "Second\n one"}), Some("")),
            (json!({"plan": "one.md"}), Some("")),
            (json!({"todo": "read\non"}), Some("")),
            (json!({"topic": "Third"}), None),
            (json!({"topic": " "}), Some("")),
            (json!({"plan": "two.md"}), Some("refused")),
            (json!({"plan": "a\n# Rules"}), Some("")),
            (json!({"todo": "other"}), None),
            (json!({"folder": "/skills/a"}), Some("")),
            (json!({"folder": "/skills/b"}), Some("")),
            (json!({"folder": "/skills/c"}), None),
            (json!({}), Some("")),
        ]);
        let todo = Todo { description: "read on".to_owned(), status: TodoStatus::Blocked };
        let expected = PinnedContext {
            topic: Some("Second one".to_owned()),
            plan: Some("one.md".to_owned()),
            todos: vec![todo],
            folders: vec!["/skills/b".into(), "/skills/a".into()],
        };
        assert_eq!(standing, expected);
    }
}
