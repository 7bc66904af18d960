//! Choices of the question whether a call may run.

use pollux_policy::ApprovalScope;
use pollux_protocol::{ConfirmationKind, QuestionChoice, QuestionOutcome};

/// File of saved approvals, relative to the settings folder.
const SAVED_IN: &str = "policies/auto-saved.toml";

/// Available choices in addition to "allow once" and "no".
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ApprovalChoices {
    /// True if approval for the session is offered. False in an untrusted folder, or if the
    /// settings forbid it.
    pub session: bool,
    /// True if approval for all future sessions is offered.
    pub saved: bool,
    /// True if the Enter key saves the approval, where this choice is offered.
    pub saved_by_default: bool,
    /// True if the user can change a proposed file in an editor first.
    pub editor: bool,
    /// True if the work continues after a refusal, which is then the result for the model.
    pub continues_after_no: bool,
}

impl ApprovalChoices {
    /// Returns the choices for a call, and the index of the default choice. `scopes` are the scopes
    /// of a command line, each with the commands that it allows.
    pub(super) fn of(
        self,
        kind: &ConfirmationKind,
        scopes: &[(ApprovalScope, String)],
    ) -> (Vec<QuestionChoice>, Option<usize>) {
        let choices = match kind {
            ConfirmationKind::Plan { .. } => self.of_plan(),
            ConfirmationKind::Questions(_) => vec![
                QuestionChoice::new(QuestionOutcome::ProceedOnce, "Submit", 'y'),
                QuestionChoice::new(QuestionOutcome::Cancel, "Dismiss", 'n'),
            ],
            ConfirmationKind::Execute { .. } => self.of_command(scopes),
            ConfirmationKind::ServerTool(_) => self.of_server_tool(),
            ConfirmationKind::Edit { .. } | ConfirmationKind::Information { .. } => {
                self.of_action(kind)
            }
        };
        let is_saved =
            |choice: &QuestionChoice| choice.outcome == QuestionOutcome::ProceedAlwaysAndSave;
        // The Enter key never saves the approval of a command.
        let is_command = matches!(kind, ConfirmationKind::Execute { .. });
        let saves = self.saved_by_default && !is_command;
        let default = choices.iter().position(is_saved).filter(|_| saves);
        (choices, default)
    }

    fn of_plan(self) -> Vec<QuestionChoice> {
        let quietly = QuestionChoice::new(
            QuestionOutcome::ProceedAlways,
            "Yes, automatically accept edits",
            'a',
        );
        let mut choices: Vec<_> = self.session.then_some(quietly).into_iter().collect();
        choices.push(QuestionChoice::new(
            QuestionOutcome::ProceedOnce,
            "Yes, manually accept edits",
            'y',
        ));
        choices.push(QuestionChoice::new(QuestionOutcome::Cancel, "No, the plan needs work", 'n'));
        choices
    }

    fn of_command(self, scopes: &[(ApprovalScope, String)]) -> Vec<QuestionChoice> {
        let mut choices =
            vec![QuestionChoice::new(QuestionOutcome::ProceedOnce, "Allow once", 'y')];
        let line = (
            QuestionOutcome::ProceedAlways,
            QuestionOutcome::ProceedAlwaysAndSave,
            "this line".to_owned(),
        );
        let wider = scopes.iter().filter_map(|(scope, commands)| {
            let outcome: fn(bool) -> QuestionOutcome = match scope {
                ApprovalScope::Subcommand => |saved| QuestionOutcome::ProceedSubcommand { saved },
                ApprovalScope::Program => |saved| QuestionOutcome::ProceedProgram { saved },
                ApprovalScope::Call | ApprovalScope::Server => return None,
            };
            Some((outcome(false), outcome(true), format!("`{commands} …`")))
        });
        let lasting: Vec<_> = std::iter::once(line).chain(wider).collect();
        if self.session {
            for ((session, _, what), key) in lasting.iter().zip(['a', 'b', 'c']) {
                let label = format!("Allow {what} for this session");
                choices.push(QuestionChoice::new(*session, label, key));
            }
        }
        if self.session && self.saved {
            for ((_, saved, what), key) in lasting.iter().zip(['s', 't', 'u']) {
                let label = format!("Allow {what} for all future sessions ({SAVED_IN})");
                choices.push(QuestionChoice::new(*saved, label, key));
            }
        }
        choices.push(QuestionChoice::new(QuestionOutcome::Cancel, "No, suggest changes", 'n'));
        choices
    }

    fn of_server_tool(self) -> Vec<QuestionChoice> {
        let mut choices =
            vec![QuestionChoice::new(QuestionOutcome::ProceedOnce, "Allow once", 'y')];
        if self.session {
            let lasting = [
                (QuestionOutcome::ProceedAlwaysTool, "Allow tool for this session", 't'),
                (
                    QuestionOutcome::ProceedAlwaysServer,
                    "Allow all server tools for this session",
                    'a',
                ),
            ];
            choices.extend(
                lasting.map(|(outcome, label, key)| QuestionChoice::new(outcome, label, key)),
            );
        }
        if self.session && self.saved {
            let label = format!("Allow tool for all future sessions ({SAVED_IN})");
            choices.push(QuestionChoice::new(QuestionOutcome::ProceedAlwaysAndSave, label, 's'));
        }
        choices.push(QuestionChoice::new(QuestionOutcome::Cancel, "No, suggest changes", 'n'));
        choices
    }

    fn of_action(self, kind: &ConfirmationKind) -> Vec<QuestionChoice> {
        let is_edit = matches!(kind, ConfirmationKind::Edit { .. });
        let saved = match kind {
            ConfirmationKind::Edit { .. } => "Allow for this file in all future sessions",
            _ => "Allow for all future sessions",
        };
        let mut choices =
            vec![QuestionChoice::new(QuestionOutcome::ProceedOnce, "Allow once", 'y')];
        if self.session {
            // The approval of an edit changes the mode, which applies to all files.
            let label = if is_edit {
                "Allow all edits for this session (mode auto_edit)"
            } else {
                "Allow for this session"
            };
            choices.push(QuestionChoice::new(QuestionOutcome::ProceedAlways, label, 'a'));
        }
        if self.session && self.saved {
            let label = format!("{saved} ({SAVED_IN})");
            choices.push(QuestionChoice::new(QuestionOutcome::ProceedAlwaysAndSave, label, 's'));
        }
        if is_edit && self.editor {
            let label = "Modify with external editor";
            choices.push(QuestionChoice::new(QuestionOutcome::ModifyWithEditor, label, 'e'));
        }
        choices.push(QuestionChoice::new(QuestionOutcome::Cancel, "No, suggest changes", 'n'));
        choices
    }
}

#[cfg(test)]
mod tests {
    use pollux_protocol::DiffStat;
    use pretty_assertions::assert_eq;

    use super::*;

    const SESSION: ApprovalChoices = ApprovalChoices {
        session: true,
        saved: false,
        saved_by_default: false,
        editor: false,
        continues_after_no: false,
    };
    const SAVED: ApprovalChoices = ApprovalChoices { saved: true, ..SESSION };

    fn command() -> ConfirmationKind {
        ConfirmationKind::Execute {
            command: "ls".to_owned(),
            programs: Vec::new(),
            commands: Vec::new(),
            writes: Vec::new(),
            unknown: Vec::new(),
            starts: Vec::new(),
            reason: None,
            level: pollux_protocol::ConfinementLevel::None,
            purpose: None,
            folder: None,
            is_background: false,
        }
    }

    fn labels(choices: ApprovalChoices, kind: &ConfirmationKind) -> Vec<String> {
        choices.of(kind, &[]).0.into_iter().map(|choice| choice.label).collect()
    }

    #[test]
    fn saved_approvals_follow_those_of_the_session() {
        let [once, session, no] =
            ["Allow once", "Allow this line for this session", "No, suggest changes"];
        let saved = "Allow this line for all future sessions (policies/auto-saved.toml)";
        assert_eq!(labels(SAVED, &command()), [once, session, saved, no]);
        assert_eq!(labels(ApprovalChoices { session: false, ..SAVED }, &command()), [once, no]);
    }

    #[test]
    fn wider_approvals_of_commands_are_choices_of_their_own() {
        let scopes = [
            (ApprovalScope::Subcommand, "git push".to_owned()),
            (ApprovalScope::Program, "git".to_owned()),
        ];
        let (choices, default) = SESSION.of(&command(), &scopes);
        let found: Vec<_> =
            choices.iter().map(|choice| (choice.outcome, choice.label.as_str())).collect();
        assert_eq!(
            found,
            [
                (QuestionOutcome::ProceedOnce, "Allow once"),
                (QuestionOutcome::ProceedAlways, "Allow this line for this session"),
                (
                    QuestionOutcome::ProceedSubcommand { saved: false },
                    "Allow `git push …` for this session"
                ),
                (
                    QuestionOutcome::ProceedProgram { saved: false },
                    "Allow `git …` for this session"
                ),
                (QuestionOutcome::Cancel, "No, suggest changes"),
            ]
        );
        assert_eq!(default, None);
    }

    #[test]
    fn only_an_edit_can_be_changed_first() {
        let edit = ConfirmationKind::Edit {
            path: "/p/a".into(),
            patch: String::new(),
            original: None,
            proposed: String::new(),
            stat: DiffStat::default(),
            rewrite: None,
        };
        let editor = ApprovalChoices { editor: true, ..SESSION };
        for (choices, kind, offered) in
            [(editor, &edit, true), (SESSION, &edit, false), (editor, &command(), false)]
        {
            let labels = labels(choices, kind);
            assert_eq!(labels.iter().any(|label| label.contains("editor")), offered, "{labels:?}");
        }
    }

    #[test]
    fn enter_saves_an_approval_only_where_that_is_wanted() {
        let information = ConfirmationKind::Information { prompt: String::new(), urls: Vec::new() };
        let wanted = ApprovalChoices { saved_by_default: true, ..SAVED };
        for (kind, choices, expected) in [
            (&information, wanted, Some(2)),
            (&information, SAVED, None),
            (&information, ApprovalChoices { saved: false, ..wanted }, None),
            (&command(), wanted, None),
        ] {
            assert_eq!(choices.of(kind, &[]).1, expected, "{kind:?}");
        }
    }

    #[test]
    fn a_plan_has_choices_of_its_own() {
        let plan = ConfirmationKind::Plan { path: "/t/a.md".into(), text: "x".into() };
        let [quietly, manually, no] = [
            "Yes, automatically accept edits",
            "Yes, manually accept edits",
            "No, the plan needs work",
        ];
        assert_eq!(labels(SESSION, &plan), [quietly, manually, no]);
        assert_eq!(labels(ApprovalChoices::default(), &plan), [manually, no]);
    }
}
