//! Operations that change tasks.

use pollux_protocol::{ToolError, ToolKind};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::store::{Kind, MAX_TASKS, Status, Store, Task};
use super::tasks::{may_close, may_depend};
use super::{Done, Operation, one_of, refused, text, texts};
use crate::validation::invalid;

/// Maximum size of a title in bytes.
const MAX_TITLE: usize = 1024;
/// Maximum size of a description in bytes.
const MAX_DESCRIPTION: usize = 16 << 10;
/// Maximum number of dependencies of one task.
const MAX_DEPENDENCIES: usize = 100;
/// Maximum size of an id in bytes.
const MAX_ID: usize = 64;

/// `tracker_create_task`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CreateTask {
    title: String,
    description: String,
    #[serde(rename = "type")]
    kind: Kind,
    #[serde(default)]
    parent_id: Option<String>,
    #[serde(default)]
    dependencies: Vec<String>,
}

impl Operation for CreateTask {
    const NAME: &'static str = "tracker_create_task";
    const DISPLAY_NAME: &'static str = "Create Task";
    const KIND: ToolKind = ToolKind::Edit;
    const DESCRIPTION: &'static str = "Adds a task to the tracker of this session and returns its id. Use the tracker \
                                       for work of many steps: an epic for the whole, tasks and bugs \
                                       for its parts, dependencies for their order.";
    const FAILURE: &'static str = "Failed to create task.";
    const REQUIRED: &'static [&'static str] = &["title", "description", "type"];

    fn properties() -> Value {
        json!({
            "title": text("The task, in one short line."),
            "description": text("The complete description of the task."),
            "type": one_of(&Kind::NAMES, "epic: work of several parts; bug: an error to fix; task: everything else."),
            "parentId": text("The id of the larger task that contains this one."),
            "dependencies": texts("The ids of tasks that must be closed before this one.")
        })
    }

    fn describe(&self) -> String {
        format!("Creating task: {}", self.title).trim_end().to_owned()
    }

    fn check(&self) -> Result<(), ToolError> {
        check_texts(Some(&self.title), Some(&self.description))?;
        check_ids(self.parent_id.iter().chain(&self.dependencies))
    }

    fn work(&self, store: &Store) -> Result<Done, ToolError> {
        let _changing = store.change();
        let tasks = store.load()?;
        if tasks.len() >= MAX_TASKS {
            return Err(refused(format!(
                "There are already {MAX_TASKS} tasks. Continue with those, or change a closed one."
            )));
        }
        let parent = self.parent_id.clone().filter(|parent| !parent.is_empty());
        if let Some(missing) = parent.as_ref().filter(|parent| !tasks.contains_key(*parent)) {
            return Err(refused(format!("Parent task with ID {missing} not found.")));
        }
        let task = store.add(Task {
            id: String::new(),
            title: self.title.clone(),
            description: self.description.clone(),
            kind: self.kind,
            status: Status::Open,
            parent_id: parent,
            dependencies: self.dependencies.clone(),
            other: Map::new(),
        })?;
        Ok(Done::Tasks(format!("Created task {}: {}", task.id, task.title)))
    }
}

/// `tracker_update_task`.
#[derive(Deserialize)]
pub(super) struct UpdateTask {
    id: String,
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    description: Option<String>,
    #[serde(default)]
    status: Option<Status>,
    #[serde(default)]
    dependencies: Option<Vec<String>>,
}

impl Operation for UpdateTask {
    const NAME: &'static str = "tracker_update_task";
    const DISPLAY_NAME: &'static str = "Update Task";
    const KIND: ToolKind = ToolKind::Edit;
    const DESCRIPTION: &'static str = "Changes the texts, the status or the dependencies of a task. Omitted arguments \
                                       change nothing. A task can only be closed after all its \
                                       dependencies.";
    const FAILURE: &'static str = "Failed to update task.";
    const REQUIRED: &'static [&'static str] = &["id"];

    fn properties() -> Value {
        json!({
            "id": text("The id of the task, six characters."),
            "title": text("The new title."),
            "description": text("The new description."),
            "status": one_of(&Status::NAMES, "The new status."),
            "dependencies": texts("The ids of all tasks that must be closed before this one.")
        })
    }

    fn describe(&self) -> String {
        format!("Updating task {}", self.id)
    }

    fn check(&self) -> Result<(), ToolError> {
        check_texts(self.title.as_ref(), self.description.as_ref())?;
        check_ids(std::iter::once(&self.id).chain(self.dependencies.iter().flatten()))
    }

    fn work(&self, store: &Store) -> Result<Done, ToolError> {
        let _changing = store.change();
        let tasks = store.load()?;
        let Some(task) = tasks.get(&self.id) else {
            return Err(refused(format!("Task with ID {} not found.", self.id)));
        };
        let mut task = task.clone();
        if let Some(title) = &self.title {
            task.title.clone_from(title);
        }
        if let Some(description) = &self.description {
            task.description.clone_from(description);
        }
        if let Some(dependencies) = &self.dependencies {
            may_depend(&tasks, &self.id, dependencies)?;
            task.dependencies.clone_from(dependencies);
        }
        if let Some(status) = self.status {
            if status == Status::Closed {
                may_close(&tasks, &self.id, &task.dependencies)?;
            }
            task.status = status;
        }
        store.keep(&task)?;
        Ok(Done::Tasks(format!("Updated task {}. Status: {}", task.id, task.status.as_str())))
    }
}

/// `tracker_add_dependency`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct AddDependency {
    task_id: String,
    dependency_id: String,
}

impl Operation for AddDependency {
    const NAME: &'static str = "tracker_add_dependency";
    const DISPLAY_NAME: &'static str = "Add Dependency";
    const KIND: ToolKind = ToolKind::Edit;
    const DESCRIPTION: &'static str = "Declares that a task must wait until another task is closed. Circular \
                                       dependencies are refused.";
    const FAILURE: &'static str = "Failed to add dependency.";
    const REQUIRED: &'static [&'static str] = &["taskId", "dependencyId"];

    fn properties() -> Value {
        json!({
            "taskId": text("The id of the task that waits."),
            "dependencyId": text("The id of the task that must be closed first.")
        })
    }

    fn describe(&self) -> String {
        format!("Adding dependency: {} depends on {}", self.task_id, self.dependency_id)
    }

    fn failure(&self) -> &'static str {
        if self.task_id == self.dependency_id {
            "Self-referential dependency rejected."
        } else {
            Self::FAILURE
        }
    }

    fn check(&self) -> Result<(), ToolError> {
        check_ids([&self.task_id, &self.dependency_id].into_iter())
    }

    fn work(&self, store: &Store) -> Result<Done, ToolError> {
        let Self { task_id, dependency_id } = self;
        if task_id == dependency_id {
            return Err(refused("Task cannot depend on itself"));
        }
        let _changing = store.change();
        let tasks = store.load()?;
        let Some(task) = tasks.get(task_id) else {
            return Ok(Done::Nothing(format!("Task {task_id} not found."), "Task not found."));
        };
        if !tasks.contains_key(dependency_id) {
            let reported = format!("Dependency task {dependency_id} not found.");
            return Ok(Done::Nothing(reported, "Dependency not found."));
        }
        let mut task = task.clone();
        if !task.dependencies.contains(dependency_id) {
            if task.dependencies.len() >= MAX_DEPENDENCIES {
                return Err(refused(too_many()));
            }
            may_depend(&tasks, task_id, std::slice::from_ref(dependency_id))?;
            task.dependencies.push(dependency_id.clone());
            store.keep(&task)?;
        }
        Ok(Done::Tasks(format!("Linked {task_id} -> {dependency_id}.")))
    }
}

fn check_texts(title: Option<&String>, description: Option<&String>) -> Result<(), ToolError> {
    if title.is_some_and(|title| title.len() > MAX_TITLE) {
        return Err(invalid(format!("A title has at most {MAX_TITLE} bytes.")));
    }
    if description.is_some_and(|description| description.len() > MAX_DESCRIPTION) {
        return Err(invalid(format!("A description has at most {MAX_DESCRIPTION} bytes.")));
    }
    Ok(())
}

fn check_ids<'a>(ids: impl Iterator<Item = &'a String>) -> Result<(), ToolError> {
    let mut count = 0;
    for id in ids {
        count += 1;
        if id.len() > MAX_ID {
            return Err(invalid("An id has six characters."));
        }
    }
    // One more than the dependencies: the task itself or its parent.
    if count > MAX_DEPENDENCIES + 1 { Err(invalid(too_many())) } else { Ok(()) }
}

fn too_many() -> String {
    format!("A task has at most {MAX_DEPENDENCIES} dependencies.")
}
