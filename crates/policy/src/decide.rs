//! The decision.

use std::path::{Component, Path, PathBuf};

use pollux_protocol::{ApprovalMode, Effects, ToolKind};

use crate::Exclusions;

/// What the model is told in plan mode about a change of anything but a plan.
const PLANS_ONLY: &str = "You are in Plan Mode and cannot modify source code. You may ONLY use write_file or replace to save plans to the designated plans directory as .md files.";

/// What a decision rests on for the whole session.
#[derive(Debug, Clone, Default)]
pub struct Policy {
    /// A person can be asked.
    pub interactive: bool,
    /// What the settings take away.
    pub exclusions: Exclusions,
    /// Where plan mode may write its `.md` files, absolute.
    pub plans_directory: PathBuf,
}

/// One call in question.
#[derive(Debug, Clone, Copy)]
pub struct Query<'a> {
    /// The tool.
    pub tool: &'a str,
    /// Its kind.
    pub kind: ToolKind,
    /// What the call will do.
    pub effects: &'a Effects,
    /// The mode at this moment.
    pub mode: ApprovalMode,
}

/// The answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It may run.
    Allow,
    /// A person must say yes.
    Ask,
    /// It may not run.
    Deny {
        /// Why, as an addition to what the model is told.
        message: Option<String>,
    },
}

impl Policy {
    /// Decides about one call.
    pub fn decide(&self, query: Query<'_>) -> Verdict {
        if self.exclusions.excludes(query.tool) {
            return Verdict::Deny { message: None };
        }
        let verdict = match query.mode {
            ApprovalMode::Default | ApprovalMode::AutoEdit | ApprovalMode::Yolo
                if self.exclusions.must_confirm(query.tool) =>
            {
                Verdict::Ask
            }
            ApprovalMode::Yolo => Verdict::Allow,
            ApprovalMode::Plan => self.decide_in_plan_mode(query),
            ApprovalMode::Default | ApprovalMode::AutoEdit => {
                decide_by_kind(query.kind, query.mode)
            }
        };
        if verdict == Verdict::Ask && !self.interactive {
            return Verdict::Deny { message: None };
        }
        verdict
    }

    /// True when some call of this tool may run in this mode: only such tools are declared to the model.
    pub fn declares(&self, tool: &str, kind: ToolKind, mode: ApprovalMode) -> bool {
        if mode == ApprovalMode::Plan && kind == ToolKind::Edit {
            return !self.exclusions.excludes(tool);
        }
        let query = Query { tool, kind, effects: &Effects::default(), mode };
        !matches!(self.decide(query), Verdict::Deny { .. })
    }

    fn decide_in_plan_mode(&self, query: Query<'_>) -> Verdict {
        if query.kind != ToolKind::Edit {
            return decide_by_kind(query.kind, ApprovalMode::Plan);
        }
        let outside = query.effects.writes.iter().find(|path| !self.is_plan(path));
        match outside {
            None => Verdict::Allow,
            Some(_) => Verdict::Deny { message: Some(PLANS_ONLY.to_owned()) },
        }
    }

    fn is_plan(&self, path: &Path) -> bool {
        path.starts_with(&self.plans_directory)
            && !self.plans_directory.as_os_str().is_empty()
            && !path.components().any(|component| component == Component::ParentDir)
            && path.extension().is_some_and(|extension| extension == "md")
    }
}

fn decide_by_kind(kind: ToolKind, mode: ApprovalMode) -> Verdict {
    match kind {
        ToolKind::Read | ToolKind::Search | ToolKind::Think | ToolKind::Agent | ToolKind::Plan => {
            Verdict::Allow
        }
        ToolKind::Edit if mode == ApprovalMode::AutoEdit => Verdict::Allow,
        ToolKind::Execute | ToolKind::Delete | ToolKind::Move if mode == ApprovalMode::Plan => {
            Verdict::Deny { message: None }
        }
        ToolKind::Edit
        | ToolKind::Execute
        | ToolKind::Delete
        | ToolKind::Move
        | ToolKind::Fetch
        | ToolKind::Communicate
        | ToolKind::Other => Verdict::Ask,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(interactive: bool) -> Policy {
        Policy { interactive, plans_directory: "/plans".into(), ..Policy::default() }
    }

    #[test]
    fn modes_by_kind() {
        use ApprovalMode::{AutoEdit, Default, Plan, Yolo};
        let table = [
            (ToolKind::Read, [Default, AutoEdit, Plan, Yolo].as_slice(), "allow"),
            (ToolKind::Search, &[Default, AutoEdit, Plan, Yolo], "allow"),
            (ToolKind::Edit, &[AutoEdit, Yolo], "allow"),
            (ToolKind::Edit, &[Default], "ask"),
            (ToolKind::Execute, &[Default, AutoEdit], "ask"),
            (ToolKind::Execute, &[Plan], "deny"),
            (ToolKind::Execute, &[Yolo], "allow"),
            (ToolKind::Fetch, &[Default, Plan], "ask"),
        ];
        for (kind, modes, expected) in table {
            for &mode in modes {
                let effects = Effects::default();
                let query = Query { tool: "t", kind, effects: &effects, mode };
                let word = |verdict| match verdict {
                    Verdict::Allow => "allow",
                    Verdict::Ask => "ask",
                    Verdict::Deny { .. } => "deny",
                };
                assert_eq!(word(policy(true).decide(query)), expected, "{kind:?} {mode}");
                let headless = if expected == "ask" { "deny" } else { expected };
                assert_eq!(word(policy(false).decide(query)), headless, "headless {kind:?} {mode}");
                let declared = headless != "deny" || (kind == ToolKind::Edit && mode == Plan);
                assert_eq!(policy(false).declares("t", kind, mode), declared, "{kind:?} {mode}");
            }
        }
    }

    #[test]
    fn plan_mode_writes_plans_and_nothing_else() {
        let verdict = |path: &str| {
            let effects = Effects::write(path);
            let query = Query {
                tool: "write_file",
                kind: ToolKind::Edit,
                effects: &effects,
                mode: ApprovalMode::Plan,
            };
            policy(false).decide(query)
        };
        assert_eq!(verdict("/plans/a.md"), Verdict::Allow);
        for path in ["/plans/a.rs", "/plans/../src/a.md", "/plansx/a.md", "/src/a.md"] {
            assert!(matches!(verdict(path), Verdict::Deny { message: Some(_) }), "{path}");
        }
        assert!(policy(false).declares("write_file", ToolKind::Edit, ApprovalMode::Plan));
    }

    #[test]
    fn a_required_confirmation_holds_in_yolo_too() {
        let exclusions = Exclusions::default().confirming(&["ShellTool".to_owned()]);
        let policy = Policy { interactive: true, exclusions, ..Policy::default() };
        let effects = Effects::default();
        let (tool, kind, mode) = ("run_shell_command", ToolKind::Execute, ApprovalMode::Yolo);
        let query = Query { tool, kind, effects: &effects, mode };
        assert_eq!(policy.decide(query), Verdict::Ask);
        let headless = Policy { interactive: false, ..policy };
        assert!(!headless.declares(tool, kind, mode));
    }

    #[test]
    fn an_exclusion_holds_in_every_mode() {
        let exclusions = Exclusions::new(&["glob".to_owned()], None);
        let policy = Policy { interactive: true, exclusions, ..Policy::default() };
        for mode in [ApprovalMode::Default, ApprovalMode::Yolo, ApprovalMode::Plan] {
            assert!(!policy.declares("glob", ToolKind::Search, mode));
        }
    }
}
