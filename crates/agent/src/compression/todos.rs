//! What is still to be done, as the model itself has listed it.

use pollux_protocol::{Content, FunctionCall};
use serde_json::Value;

use super::snapshot::{is_snapshot, machine_made};
use super::{items_of, list, one_line};

pub(super) const TAG: &str = "open_todos";
const ITEM: &str = "todo";

/// The tool that lists them.
const TOOL: &str = "write_todos";

/// Those that are kept.
const MOST: usize = 200;

/// The entries of the latest list that are not done, in its order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Todos(Vec<String>);

impl Todos {
    /// What is open at the end of these contents.
    pub fn in_contents<'a>(contents: impl IntoIterator<Item = &'a Content>) -> Self {
        let mut todos = Vec::new();
        let mut asked: Option<&FunctionCall> = None;
        for part in contents.into_iter().flat_map(|content| &content.parts) {
            if let Some(call) = part.as_call().filter(|call| call.name == TOOL) {
                asked = Some(call);
            } else if let Some(answer) = part.as_response().filter(|answer| answer.name == TOOL) {
                let call = asked.take_if(|call| call.id == answer.id);
                if let Some(call) = call.filter(|_| answer.response.get("error").is_none()) {
                    todos = open(call);
                }
            } else if let Some(text) = part.as_text().filter(|text| is_snapshot(text)) {
                todos = items_of(machine_made(text), TAG, ITEM);
            }
        }
        Self(todos)
    }

    /// These, and other open tasks behind them.
    #[must_use]
    pub fn and(mut self, tasks: impl IntoIterator<Item = String>) -> Self {
        for task in tasks {
            let task = one_line(&task);
            if !self.0.contains(&task) && self.0.len() < MOST {
                self.0.push(task);
            }
        }
        self
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// As a snapshot holds them; empty without one.
    pub fn render(&self) -> String {
        list(TAG, ITEM, &self.0)
    }
}

fn open(call: &FunctionCall) -> Vec<String> {
    let todos = call.args.get("todos").and_then(Value::as_array);
    let open = todos.into_iter().flatten().filter_map(|todo| {
        let text = |name: &str| todo.get(name).and_then(Value::as_str);
        let (description, status) = (text("description")?, text("status").unwrap_or("pending"));
        let is_open = !matches!(status, "completed" | "cancelled");
        is_open.then(|| format!("[{status}] {}", one_line(description)))
    });
    open.take(MOST).collect()
}
