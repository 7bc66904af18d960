//! Operations that read tasks.

use pollux_protocol::{ToolError, ToolKind};
use serde::Deserialize;
use serde_json::{Value, json};

use super::store::{Kind, Status, Store, pretty};
use super::{Done, Operation, one_of, shown, text};

/// `tracker_get_task`.
#[derive(Deserialize)]
pub(super) struct GetTask {
    id: String,
}

impl Operation for GetTask {
    const NAME: &'static str = "tracker_get_task";
    const DISPLAY_NAME: &'static str = "Get Task";
    const KIND: ToolKind = ToolKind::Read;
    const DESCRIPTION: &'static str = "Returns all details of one task of the tracker.";
    const FAILURE: &'static str = "Failed to get task.";
    const REQUIRED: &'static [&'static str] = &["id"];

    fn properties() -> Value {
        json!({
            "id": text("The id of the task, six characters.")
        })
    }

    fn describe(&self) -> String {
        format!("Retrieving task {}", self.id)
    }

    fn work(&self, store: &Store) -> Result<Done, ToolError> {
        Ok(match store.load()?.get(&self.id) {
            Some(task) => Done::Tasks(pretty(task)),
            None => Done::Nothing(format!("Task {} not found.", self.id), "Task not found."),
        })
    }
}

/// `tracker_list_tasks`.
#[derive(Deserialize)]
pub(super) struct ListTasks {
    #[serde(default)]
    status: Option<Status>,
    #[serde(default, rename = "type")]
    kind: Option<Kind>,
    #[serde(default, rename = "parentId")]
    parent_id: Option<String>,
}

impl Operation for ListTasks {
    const NAME: &'static str = "tracker_list_tasks";
    const DISPLAY_NAME: &'static str = "List Tasks";
    const KIND: ToolKind = ToolKind::Search;
    const DESCRIPTION: &'static str = "Lists tasks with their ids and statuses: all tasks, or only those with a \
                                       given status, type or larger task.";
    const FAILURE: &'static str = "Failed to list tasks.";
    const REQUIRED: &'static [&'static str] = &[];

    fn properties() -> Value {
        json!({
            "status": one_of(&Status::NAMES, "Only tasks with this status."),
            "type": one_of(&Kind::NAMES, "Only tasks of this type."),
            "parentId": text("Only the direct parts of the task with this id.")
        })
    }

    fn describe(&self) -> String {
        "Listing tasks.".to_owned()
    }

    fn work(&self, store: &Store) -> Result<Done, ToolError> {
        let tasks = store.load()?;
        let parent = self.parent_id.as_ref().filter(|parent| !parent.is_empty());
        let wanted = tasks.values().filter(|task| {
            self.status.is_none_or(|status| task.status == status)
                && self.kind.is_none_or(|kind| task.kind == kind)
                && (parent.is_none() || task.parent_id.as_ref() == parent)
        });
        let lines: Vec<String> = wanted
            .map(|task| format!("- [{}] {} ({})", task.id, task.title, task.status.as_str()))
            .collect();
        Ok(if lines.is_empty() {
            let reported = "No tasks found matching the criteria.".to_owned();
            Done::Nothing(reported, "No matching tasks.")
        } else {
            Done::Tasks(lines.join("\n"))
        })
    }
}

/// `tracker_visualize`.
#[derive(Deserialize)]
pub(super) struct Visualize {}

impl Operation for Visualize {
    const NAME: &'static str = "tracker_visualize";
    const DISPLAY_NAME: &'static str = "Visualize Tracker";
    const KIND: ToolKind = ToolKind::Read;
    const DESCRIPTION: &'static str =
        "Shows all tasks as a tree in plain text, with their dependencies.";
    const FAILURE: &'static str = "Failed to visualize tasks.";
    const REQUIRED: &'static [&'static str] = &[];

    fn properties() -> Value {
        json!({})
    }

    fn describe(&self) -> String {
        "Visualizing the task graph.".to_owned()
    }

    fn work(&self, store: &Store) -> Result<Done, ToolError> {
        let tasks = store.load()?;
        Ok(if tasks.is_empty() {
            Done::Nothing("No tasks to visualize.".to_owned(), "Empty tracker.")
        } else {
            Done::Tasks(shown::graph(&tasks))
        })
    }
}
