//! `write_todos`: updates the list of tasks that the user sees.

use std::sync::Arc;

use async_trait::async_trait;
use pollux_protocol::{
    Args, Declaration, Directive, Display, Effects, Invocation, ModelLimits, RunContext, Todo,
    TodoStatus, Tool, ToolError, ToolKind, ToolOutput,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::context::ToolContext;
use crate::validation::{Schema, invalid};

/// Name of the tool for models and policies.
const NAME: &str = "write_todos";
/// Maximum number of entries of a list; nobody would follow a longer list.
const MAX_TODOS: usize = 200;
/// Maximum size of one description in bytes.
const MAX_DESCRIPTION: usize = 4096;

/// The tool `write_todos`.
pub(crate) struct WriteTodosTool {
    context: Arc<ToolContext>,
    schema: Schema,
}

impl WriteTodosTool {
    /// Creates the tool for a session.
    pub(crate) fn new(context: Arc<ToolContext>) -> Self {
        let schema = Schema::new(json!({
            "type": "object",
            "properties": {
                "todos": {
                    "type": "array",
                    "description": "The complete current list. It replaces the previous list; an empty one \
                                    clears it.",
                    "items": {
                        "type": "object",
                        "description": "One task.",
                        "properties": {
                            "description": {
                                "type": "string",
                                "description": "The task, in one short line."
                            },
                            "status": {
                                "type": "string",
                                "description": "The status. At most one entry is in_progress.",
                                "enum": ["pending", "in_progress", "completed", "cancelled", "blocked"]
                            }
                        },
                        "required": ["description", "status"],
                        "additionalProperties": false
                    }
                }
            },
            "required": ["todos"],
            "additionalProperties": false
        }));
        Self { context, schema }
    }
}

#[derive(Deserialize)]
struct Params {
    todos: Vec<Todo>,
}

impl Tool for WriteTodosTool {
    fn name(&self) -> &'static str {
        NAME
    }

    fn display_name(&self) -> &'static str {
        "WriteTodos"
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Other
    }

    fn declaration(&self) -> Declaration {
        Declaration {
            name: NAME.to_owned(),
            description: "Maintains a task list that the user can follow. Use it for work of several \
                          steps, not for simple requests. Write the list before you start. Mark one \
                          entry in_progress when you start it and completed as soon as it is done. \
                          Add new tasks when you find them. Mark unnecessary tasks as cancelled, and \
                          tasks that wait for something else as blocked."
                .to_owned(),
            parameters: self.schema.document().clone(),
        }
    }

    /// Older models need a list to stay on plan; if enabled, the tracker replaces the list.
    fn is_offered_to(&self, model: &str, _limits: ModelLimits) -> bool {
        let options = &self.context.options;
        options.write_todos && !options.task_tracker && is_second_generation(model)
    }

    fn recall(&self, args: &Value, _response: &Value) -> Option<Directive> {
        let listed = args.get("todos")?.as_array()?.iter();
        let todos = listed.filter_map(|todo| Todo::deserialize(todo).ok()).collect();
        Some(Directive::SetTodos(todos))
    }

    fn prepare(&self, args: &Args) -> Result<Box<dyn Invocation>, ToolError> {
        let Params { todos } = self.schema.read(args)?;
        let problem = if todos.len() > MAX_TODOS {
            Some(format!("Invalid parameters: At most {MAX_TODOS} todos can be listed."))
        } else if todos.iter().any(|todo| todo.description.trim().is_empty()) {
            Some("Each todo must have a non-empty description string".to_owned())
        } else if todos.iter().any(|todo| todo.description.len() > MAX_DESCRIPTION) {
            Some(format!("Invalid parameters: A description has at most {MAX_DESCRIPTION} bytes."))
        } else if todos.iter().filter(|todo| todo.status == TodoStatus::InProgress).count() > 1 {
            let only_one = "Only one task can be \"in_progress\" at a time.";
            Some(format!("Invalid parameters: {only_one}"))
        } else {
            None
        };
        match problem {
            Some(message) => Err(invalid(message)),
            None => Ok(Box::new(WriteTodos { todos })),
        }
    }
}

/// Returns true for `gemini-2` and later versions before 3.
fn is_second_generation(model: &str) -> bool {
    let rest = model.strip_prefix("gemini-2");
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

struct WriteTodos {
    todos: Vec<Todo>,
}

#[async_trait]
impl Invocation for WriteTodos {
    fn effects(&self) -> Effects {
        Effects::default()
    }

    fn describe(&self) -> String {
        match self.todos.len() {
            0 => "Cleared todo list".to_owned(),
            count => format!("Set {count} todo(s)"),
        }
    }

    async fn run(&self, _run: RunContext) -> ToolOutput {
        let lines: Vec<String> = (1..)
            .zip(&self.todos)
            .map(|(number, todo)| format!("{number}. [{}] {}", todo.status, todo.description))
            .collect();
        let reported = if lines.is_empty() {
            "Successfully cleared the todo list.".to_owned()
        } else {
            let list = lines.join("\n");
            format!("Successfully updated the todo list. The current list is now:\n{list}")
        };
        let display = Display::Structured(json!({ "todos": self.todos }));
        let directives = vec![Directive::SetTodos(self.todos.clone())];
        ToolOutput { directives, ..ToolOutput::quiet(reported).display(display) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_models_of_the_second_generation_get_a_list() {
        let table = [
            ("gemini-2.5-pro", true),
            ("gemini-2.0-flash", true),
            ("gemini-2", true),
            ("gemini-2.5-flash-preview-09-2025", true),
            ("gemini-25", false),
            ("gemini-3-pro", false),
            ("gpt-5", false),
        ];
        for (model, expected) in table {
            assert_eq!(is_second_generation(model), expected, "{model}");
        }
    }
}
