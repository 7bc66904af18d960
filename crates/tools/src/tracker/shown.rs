//! Texts about tasks: a graph for the model, a list for the user.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::store::{Status, Task, Tasks};

/// Groups the tasks by their parents; tasks without an existing parent are under the empty text.
fn families(tasks: &Tasks) -> BTreeMap<&str, Vec<&Task>> {
    let mut families: BTreeMap<&str, Vec<&Task>> = BTreeMap::new();
    for task in tasks.values() {
        let parent = task.parent_id.as_deref().filter(|parent| tasks.contains_key(*parent));
        families.entry(parent.unwrap_or_default()).or_default().push(task);
    }
    families
}

/// Returns the tasks with their depths, each before its parts. Tasks that are parts of each other
/// in a cycle, which no tool creates, are left out.
fn in_order<'a>(families: &BTreeMap<&str, Vec<&'a Task>>) -> Vec<(usize, &'a Task)> {
    let mut ordered = Vec::new();
    let parts = |id: &str| families.get(id).into_iter().flatten().rev().copied();
    let mut ahead: Vec<(usize, &Task)> = parts("").map(|task| (0, task)).collect();
    while let Some((depth, task)) = ahead.pop() {
        ordered.push((depth, task));
        ahead.extend(parts(&task.id).map(|part| (depth + 1, part)));
    }
    ordered
}

/// Returns the graph as lines: each task below its parent, then its dependencies.
pub(super) fn graph(tasks: &Tasks) -> String {
    let mut lines = vec!["Task Tracker Graph:".to_owned()];
    for (depth, task) in in_order(&families(tasks)) {
        let (indent, Task { id, title, .. }) = ("  ".repeat(depth), task);
        let sign = match task.status {
            Status::Open => "⭕",
            Status::InProgress => "🚧",
            Status::Blocked => "⛔",
            Status::Closed => "✅",
        };
        let kind = task.kind.as_str().to_uppercase();
        lines.push(format!("{indent}{sign} {id} [{kind}] {title}"));
        if !task.dependencies.is_empty() {
            let dependencies = task.dependencies.join(", ");
            lines.push(format!("{indent}  └─ Depends on: {dependencies}"));
        }
    }
    lines.join("\n") + "\n"
}

/// Returns the entries of a list, active tasks first.
pub(super) fn todos(tasks: &Tasks) -> Vec<Value> {
    let mut families = families(tasks);
    for family in families.values_mut() {
        // The sort is stable; the tasks were sorted by id before.
        family.sort_by_key(|task| task.status);
    }
    let entry = |(depth, task): (usize, &Task)| {
        let (indent, kind) = ("  ".repeat(depth), task.kind.as_str());
        let status = match task.status {
            Status::Open => "pending",
            Status::Closed => "completed",
            status @ (Status::InProgress | Status::Blocked) => status.as_str(),
        };
        let description = format!("{indent}{kind}: {} ({})", task.title, task.id);
        json!({ "description": description, "status": status })
    };
    in_order(&families).into_iter().map(entry).collect()
}
