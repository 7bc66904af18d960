//! Open tasks, as the model itself has listed them.

use std::collections::HashMap;

use pollux_protocol::plain_text::one_line;
use pollux_protocol::{Content, Directive, FunctionCall, Todo};

use super::snapshot::{is_snapshot, machine_made};
use super::{items_of, list};
use crate::toolset::Toolset;

pub(super) const TAG: &str = "open_todos";
const ITEM: &str = "todo";

/// Maximum number of tasks that are kept.
const MOST: usize = 200;

/// Entries of the latest list that are not done, in its order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Todos(Vec<String>);

impl Todos {
    /// Returns the open tasks at the end of these contents, as the tools read their calls.
    pub fn in_contents<'a>(
        contents: impl IntoIterator<Item = &'a Content>,
        toolset: &Toolset,
    ) -> Self {
        let mut todos = Vec::new();
        let mut calls: HashMap<&str, &FunctionCall> = HashMap::new();
        for part in contents.into_iter().flat_map(|content| &content.parts) {
            if let Some(call) = part.as_call() {
                calls.insert(&call.id, call);
            } else if let Some(answer) = part.as_response() {
                let call = calls.remove(answer.id.as_str());
                let change = call.and_then(|call| toolset.recall(call, answer));
                if let Some(Directive::SetTodos(list)) = change {
                    todos = open(&list);
                }
            } else if let Some(text) = part.as_text().filter(|text| is_snapshot(text)) {
                todos = items_of(machine_made(text), TAG, ITEM);
            }
        }
        Self(todos)
    }

    /// Adds other open tasks after these.
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

    /// Returns the number of tasks.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Returns the list in its snapshot form; empty without tasks.
    pub fn render(&self) -> String {
        list(TAG, ITEM, &self.0)
    }
}

fn open(todos: &[Todo]) -> Vec<String> {
    let open = todos.iter().filter(|todo| todo.status.is_open()).take(MOST);
    open.map(|todo| format!("[{}] {}", todo.status, one_line(&todo.description))).collect()
}
