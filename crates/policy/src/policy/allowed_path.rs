//! The check `allowed-path`: paths among the arguments must be inside the workspace, and must not
//! be in places that change how tools behave. Links are resolved.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::checker::{Checker, CheckerFinding};
use crate::paths::{lexical, path_fault};
use crate::policy::Policy;
use crate::subject::Query;

impl Policy {
    /// Runs the check `allowed-path` for a call.
    pub fn allowed_path(&self, checker: &Checker, query: &Query<'_>) -> CheckerFinding {
        let names = |key: &str| -> Vec<String> {
            let listed = checker.config.as_ref().and_then(|config| config.get(key)?.as_array());
            listed.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
        };
        let (included, excluded) = (names("included_args"), names("excluded_args"));
        let mut finding = CheckerFinding::ALLOW;
        for path in paths(query.args, "", &included, &excluded) {
            let real = self.real(path);
            let shown = real.display();
            // Pollux's own tools have checked the files that they declare, which may be outside the
            // workspace.
            let mut confined = query.effects.confined_to().into_iter();
            let is_declared =
                confined.any(|path| pollux_fs::real_path(path).is_ok_and(|path| path == real));
            match path_fault_below(&real, &self.workspace()) {
                _ if !is_declared && !self.is_inside(&real) => {
                    return CheckerFinding::Deny(format!(
                        "The path {shown} is outside of the workspace."
                    ));
                }
                Some(".vscode") => {
                    finding = CheckerFinding::Ask(format!("The path {shown} is in .vscode."));
                }
                Some(name) => {
                    let message = format!("The path {shown} is in {name}, which is protected.");
                    return CheckerFinding::Deny(message);
                }
                None => {}
            }
        }
        finding
    }

    /// Resolves a path relative to the project's folder.
    pub(super) fn real(&self, path: &str) -> PathBuf {
        let path = lexical(&self.facts.folder(), path);
        pollux_fs::real_path(&path).unwrap_or(path)
    }

    /// True for a path inside the workspace.
    pub(super) fn is_inside(&self, real: &Path) -> bool {
        self.workspace().iter().any(|root| real.starts_with(root))
    }

    fn workspace(&self) -> Vec<PathBuf> {
        let folders = self.facts.folders().into_iter();
        folders.map(|folder| pollux_fs::real_path(&folder).unwrap_or(folder)).collect()
    }
}

/// Returns the protected name in the path below its workspace folder.
fn path_fault_below(path: &Path, roots: &[PathBuf]) -> Option<&'static str> {
    let root = roots.iter().find(|root| path.starts_with(root))?;
    path_fault(path.strip_prefix(root).ok()?)
}

/// Returns the texts among the arguments whose keys suggest that they are paths.
fn paths<'a>(
    args: &'a Value,
    prefix: &str,
    included: &[String],
    excluded: &[String],
) -> Vec<&'a str> {
    let Value::Object(fields) = args else { return Vec::new() };
    let mut found = Vec::new();
    for (key, value) in fields {
        let name = if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
        if excluded.contains(&name) {
            continue;
        }
        let lower = key.to_lowercase();
        let is_path = ["path", "directory", "file"].iter().any(|word| lower.contains(word))
            || matches!(lower.as_str(), "source" | "destination")
            || included.contains(&name);
        match value {
            Value::String(text) if is_path => found.push(text.as_str()),
            Value::Object(_) if name.matches('.').count() < 16 => {
                found.extend(paths(value, &name, included, excluded));
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use std::fs;

    use pollux_protocol::{ApprovalMode, Effects};
    use serde_json::json;

    use super::*;
    use crate::facts::workspace;
    use crate::{Facts, PolicyFile, Subject};

    #[test]
    fn what_is_not_asked_about_stays_where_it_does_no_harm() {
        let disk = tempfile::tempdir().unwrap();
        let root = pollux_fs::real_path(disk.path()).unwrap().join("project");
        fs::create_dir_all(root.join("src")).unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink("/etc", root.join("out")).unwrap();
        let facts = Facts { interactive: true, workspace: workspace([&root]), ..Facts::default() };
        let policy = Policy::new(facts, PolicyFile::default());
        let effects = Effects::default();
        for (path, mode, expected) in [
            ("src/a.rs", ApprovalMode::AutoEdit, "allow"),
            ("new/deep/a.rs", ApprovalMode::AutoEdit, "allow"),
            ("../a.rs", ApprovalMode::AutoEdit, "deny"),
            ("out/passwd", ApprovalMode::AutoEdit, if cfg!(unix) { "deny" } else { "allow" }),
            (".git/config", ApprovalMode::AutoEdit, "deny"),
            (".ENV", ApprovalMode::AutoEdit, "deny"),
            ("node_modules/x/a.js", ApprovalMode::AutoEdit, "deny"),
            (".vscode/tasks.json", ApprovalMode::AutoEdit, "ask_user"),
            (".git/config", ApprovalMode::Default, "ask_user"),
            ("../a.rs", ApprovalMode::Yolo, "allow"),
        ] {
            let args = json!({"file_path": path, "content": "../x"});
            let subject = Subject::named("write_file");
            let query = Query { subject, args: &args, effects: &effects, mode };
            let mut verdict = policy.decide(query);
            for checker in policy.checks(query).iter().filter(|checker| !checker.is_conseca()) {
                verdict = policy.allowed_path(checker, &query).over(verdict);
            }
            assert_eq!(verdict.as_str(), expected, "{path} {mode}");
        }
    }

    #[test]
    fn paths_are_found_by_their_keys_to_a_limited_depth() {
        let args = json!({
            "file_path": "a",
            "Directory": "b",
            "source": "c",
            "resource": "-",
            "content": "-",
            "own": "d",
            "cwd_path": "-",
            "more": {"path": "e", "own": "-", "deep": {"own": "f", "path": 1}},
        });
        let list = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
        let (included, excluded) = (list(&["own", "more.deep.own"]), list(&["cwd_path"]));
        assert_eq!(paths(&args, "", &included, &excluded), ["a", "b", "c", "d", "e", "f"]);
        let nested = |depth| {
            let mut value = json!({"path": "deep"});
            for _ in 0..depth {
                value = json!({ "x": value });
            }
            paths(&value, "", &[], &[]).len()
        };
        assert_eq!((nested(0), nested(1), nested(16), nested(17)), (1, 1, 1, 0));
    }

    #[test]
    fn a_tool_vouches_for_a_path_outside_unless_its_effects_are_unknown() {
        let disk = tempfile::tempdir().unwrap();
        let base = pollux_fs::real_path(disk.path()).unwrap();
        let (root, outside) = (base.join("project"), base.join("memory.md"));
        fs::create_dir(&root).unwrap();
        let facts = Facts { workspace: workspace([root]), ..Facts::default() };
        let policy = Policy::new(facts, PolicyFile::default());
        let args = json!({"file_path": outside});
        let finding = |effects: Effects| {
            let (subject, mode) = (Subject::named("write_file"), ApprovalMode::AutoEdit);
            let query = Query { subject, args: &args, effects: &effects, mode };
            let checkers = policy.checks(query);
            let checker = checkers.iter().find(|checker| !checker.is_conseca()).unwrap();
            policy.allowed_path(checker, &query)
        };
        assert_eq!(finding(Effects::write(&outside)), CheckerFinding::ALLOW);
        assert!(matches!(finding(Effects::write(&outside).or_unknown()), CheckerFinding::Deny(_)));
    }
}
