//! What the safety checkers make of a call. They can make a verdict stricter, never weaker.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{Checker, CheckerKind};
use crate::judgement::Verdict;
use crate::policy::{CallArguments, Policy, lexical};
use crate::subject::Query;

impl Policy {
    /// The verdict after all checkers that concern the call have looked at it. Links of paths are followed on the disk.
    pub fn checked(&self, query: Query<'_>, verdict: Verdict) -> Verdict {
        if matches!(verdict, Verdict::Deny { .. }) {
            return verdict;
        }
        let query = Query {
            subject: query.subject.with_arguments(query.args),
            mode: self.mode(query.mode),
            ..query
        };
        let call = CallArguments::new(&query);
        let mut strictest = verdict;
        for checker in self.checkers() {
            let concerns =
                checker.rule.concerns(&query.subject, query.mode, self.facts.interactive);
            if !concerns || !call.fits(&checker.rule, &self.facts) {
                continue;
            }
            match self.look(&checker.checker, &query) {
                Verdict::Allow => {}
                Verdict::Ask if self.facts.interactive => strictest = Verdict::Ask,
                Verdict::Ask => return Verdict::Deny { message: None },
                deny @ Verdict::Deny { .. } => return deny,
            }
        }
        strictest
    }

    fn look(&self, checker: &Checker, query: &Query<'_>) -> Verdict {
        match (&checker.kind, checker.name.as_str()) {
            (CheckerKind::InProcess, "allowed-path") => self.allowed_path(checker, query),
            // It asks a model, and is off.
            (CheckerKind::InProcess, _) => Verdict::Allow,
            (CheckerKind::External, name) => Verdict::Deny {
                message: Some(format!(
                    "Failed to run safety checker \"{name}\": Unknown external checker \"{name}\"."
                )),
            },
        }
    }

    /// Paths stay inside of the workspace, and out of the places that change how tools behave.
    fn allowed_path(&self, checker: &Checker, query: &Query<'_>) -> Verdict {
        let names = |key: &str| -> Vec<String> {
            let listed = checker.config.as_ref().and_then(|config| config.get(key)?.as_array());
            listed.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
        };
        let (included, excluded) = (names("included_args"), names("excluded_args"));
        let mut verdict = Verdict::Allow;
        for path in paths(query.args, "", &included, &excluded) {
            let path = lexical(&self.facts.folder, path);
            let real = pollux_fs::real_path(&path).unwrap_or(path);
            let shown = real.display();
            // Our own tools have looked at where they write: there is more than the workspace.
            let is_declared = query
                .effects
                .writes
                .iter()
                .chain(&query.effects.reads)
                .any(|path| pollux_fs::real_path(path).is_ok_and(|path| path == real));
            let is_inside = is_declared || self.workspace().any(|root| real.starts_with(root));
            match path_fault_below(&real, self.workspace()) {
                _ if !is_inside => {
                    let message = format!("The path {shown} is outside of the workspace.");
                    return Verdict::Deny { message: Some(message) };
                }
                Some(".vscode") => verdict = Verdict::Ask,
                Some(name) => {
                    let message = format!("The path {shown} is in {name}, which is protected.");
                    return Verdict::Deny { message: Some(message) };
                }
                None => {}
            }
        }
        verdict
    }

    fn workspace(&self) -> impl Iterator<Item = PathBuf> {
        let folders = self.facts.workspace.iter().chain([&self.facts.folder]);
        folders.map(|folder| pollux_fs::real_path(folder).unwrap_or_else(|_| folder.clone()))
    }
}

/// What is protected below the folder of the workspace that holds the path.
fn path_fault_below(path: &Path, mut roots: impl Iterator<Item = PathBuf>) -> Option<&'static str> {
    let root = roots.find(|root| path.starts_with(root))?;
    super::path_fault(path.strip_prefix(root).ok()?)
}

/// The texts among the arguments that are paths by the names of their keys.
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
    use crate::{Facts, PolicyFile, Subject};

    #[test]
    fn what_is_not_asked_about_stays_where_it_does_no_harm() {
        let disk = tempfile::tempdir().unwrap();
        let root = pollux_fs::real_path(disk.path()).unwrap().join("project");
        fs::create_dir_all(root.join("src")).unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink("/etc", root.join("out")).unwrap();
        let facts = Facts {
            interactive: true,
            folder: root.clone(),
            workspace: vec![root.clone()],
            ..Facts::default()
        };
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
            let verdict = policy.checked(query, policy.decide(query));
            assert_eq!(verdict.as_str(), expected, "{path} {mode}");
        }
    }

    #[test]
    fn a_program_that_nobody_knows_lets_nothing_pass() {
        let text = "[[safety_checker]]\ntoolName = \"glob\"\n[safety_checker.checker]\ntype = \"external\"\nname = \"mine\"\n";
        let file = crate::read(crate::Tier::User, Path::new("a.toml"), text);
        let policy = Policy::new(Facts::default(), file);
        let (args, effects) = (json!({}), Effects::default());
        let mode = ApprovalMode::Yolo;
        let query = Query { subject: Subject::named("glob"), args: &args, effects: &effects, mode };
        let Verdict::Deny { message: Some(message) } = policy.checked(query, Verdict::Allow) else {
            panic!("it passed")
        };
        assert_eq!(
            message,
            "Failed to run safety checker \"mine\": Unknown external checker \"mine\"."
        );
        let other = Query { subject: Subject::named("read_file"), ..query };
        assert_eq!(policy.checked(other, Verdict::Allow), Verdict::Allow);
    }
}
