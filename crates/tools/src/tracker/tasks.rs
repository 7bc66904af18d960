//! Rules for changes of tasks. Pure functions.

use std::collections::HashSet;

use pollux_protocol::ToolError;

use super::refused;
use super::store::{Status, Tasks};

/// Checks that the task may be closed: all its dependencies are closed.
///
/// # Errors
/// The first dependency that prevents it.
pub(super) fn may_close(tasks: &Tasks, id: &str, dependencies: &[String]) -> Result<(), ToolError> {
    for dependency in dependencies {
        let Some(other) = tasks.get(dependency) else {
            return Err(refused(format!("Dependency {dependency} not found for task {id}.")));
        };
        if other.status != Status::Closed {
            let status = other.status.as_str();
            return Err(refused(format!(
                "Cannot close task {id} because dependency {dependency} is still {status}."
            )));
        }
    }
    Ok(())
}

/// Checks that the task may depend on these tasks: they exist, and none of them depends on the
/// task, directly or indirectly.
///
/// # Errors
/// A missing dependency, or a cycle in which the tasks would wait for each other forever.
pub(super) fn may_depend(
    tasks: &Tasks,
    id: &str,
    dependencies: &[String],
) -> Result<(), ToolError> {
    if let Some(missing) = dependencies.iter().find(|other| !tasks.contains_key(*other)) {
        return Err(refused(format!("Dependency {missing} not found.")));
    }
    let mut seen: HashSet<&str> = HashSet::new();
    let mut ahead: Vec<&str> = dependencies.iter().map(String::as_str).collect();
    while let Some(next) = ahead.pop() {
        if next == id {
            return Err(refused(format!("Circular dependency detected involving task {id}.")));
        }
        if let Some(task) = tasks.get(next).filter(|_| seen.insert(next)) {
            ahead.extend(task.dependencies.iter().map(String::as_str));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::Map;

    use super::super::store::{Kind, Task};
    use super::*;

    fn tasks(list: &[(&str, Status, &[&str])]) -> Tasks {
        let task = |(id, status, dependencies): &(&str, Status, &[&str])| Task {
            id: (*id).to_owned(),
            title: String::new(),
            description: String::new(),
            kind: Kind::Task,
            status: *status,
            parent_id: None,
            dependencies: dependencies.iter().map(|id| (*id).to_owned()).collect(),
            other: Map::new(),
        };
        list.iter().map(|entry| (entry.0.to_owned(), task(entry))).collect()
    }

    fn reported(result: Result<(), ToolError>) -> String {
        result.err().map(|error| error.message).unwrap_or_default()
    }

    #[test]
    fn tasks_do_not_wait_for_each_other_for_ever() {
        use Status::Open;
        let tasks = tasks(&[
            ("a", Open, &[]),
            ("b", Open, &["a"]),
            ("c", Open, &["b", "gone"]),
            // A cycle that existed before must not cause an endless loop.
            ("x", Open, &["y"]),
            ("y", Open, &["x"]),
        ]);
        let table: [(&str, &[&str], &str); 6] = [
            ("a", &[], ""),
            ("a", &["a"], "Circular dependency detected involving task a."),
            ("a", &["c"], "Circular dependency detected involving task a."),
            ("c", &["a", "b"], ""),
            ("a", &["x"], ""),
            ("a", &["zzz"], "Dependency zzz not found."),
        ];
        for (id, dependencies, expected) in table {
            let dependencies: Vec<String> = dependencies.iter().map(ToString::to_string).collect();
            assert_eq!(reported(may_depend(&tasks, id, &dependencies)), expected, "{id}");
        }
    }

    #[test]
    fn a_task_is_closed_after_what_it_depends_on() {
        let tasks = tasks(&[("a", Status::Closed, &[]), ("b", Status::InProgress, &[])]);
        let table: [(&[&str], &str); 4] = [
            (&[], ""),
            (&["a"], ""),
            (&["a", "b"], "Cannot close task c because dependency b is still in_progress."),
            (&["gone"], "Dependency gone not found for task c."),
        ];
        for (dependencies, expected) in table {
            let dependencies: Vec<String> = dependencies.iter().map(ToString::to_string).collect();
            assert_eq!(reported(may_close(&tasks, "c", &dependencies)), expected);
        }
    }
}
