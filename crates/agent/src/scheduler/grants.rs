//! What the person has allowed for the rest of the session.

use std::collections::HashSet;
use std::sync::Mutex;

use pollux_protocol::ConfirmationKind;

/// Characters of a command line that a shell gives no meaning beyond words and quotation.
const PLAIN: &str = " \t'\"_-./=:,@%+";

/// The kinds of calls that are allowed without a further question. Changes of files are not among them:
/// they are the approval mode's.
#[derive(Debug, Default)]
pub(crate) struct Grants(Mutex<HashSet<String>>);

impl Grants {
    /// Allows what is like this from now on.
    pub(super) fn grant(&self, tool: &str, kind: &ConfirmationKind) {
        if let (Some(key), Ok(mut granted)) = (key(tool, kind), self.0.lock()) {
            granted.insert(key);
        }
    }

    /// Something like this was allowed.
    pub(super) fn holds(&self, tool: &str, kind: &ConfirmationKind) -> bool {
        key(tool, kind).is_some_and(|key| self.0.lock().is_ok_and(|granted| granted.contains(&key)))
    }
}

/// What stands for all calls that are alike. A command line that starts one program and nothing else is like
/// all others that start it; one that might do more is like itself only.
fn key(tool: &str, kind: &ConfirmationKind) -> Option<String> {
    match kind {
        ConfirmationKind::Edit { .. } => None,
        ConfirmationKind::Information { .. } => Some(tool.to_owned()),
        ConfirmationKind::Execute { command, programs } => {
            let is_plain = |letter: char| letter.is_alphanumeric() || PLAIN.contains(letter);
            // A wrapper such as `sh -c` runs what it is given: both count.
            let first = command.split_whitespace().next().unwrap_or_default();
            // A variable that is set before the program stands in its place.
            let is_program = !first.contains('=');
            Some(if is_program && command.chars().all(is_plain) {
                format!("{tool}\0{first}\0{}", programs.join("\0"))
            } else {
                format!("{tool}\n{command}")
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(line: &str) -> ConfirmationKind {
        let programs = line.split_whitespace().take(1).map(str::to_owned).collect();
        ConfirmationKind::Execute { command: line.to_owned(), programs }
    }

    #[test]
    fn a_program_is_granted_and_nothing_that_rides_on_it() {
        let grants = Grants::default();
        grants.grant("shell", &command("git status"));
        for (line, held) in [
            ("git status", true),
            ("git log -n 3 --format=%h", true),
            ("git", true),
            ("gitk", false),
            ("ls", false),
            ("git log; rm -rf x", false),
            ("git log && rm x", false),
            ("git log | sh", false),
            ("git log > x", false),
            ("git $(rm x)", false),
            ("git `rm x`", false),
            ("git log\nrm x", false),
            ("git log & rm x", false),
            ("PAGER=x git log", false),
        ] {
            assert_eq!(grants.holds("shell", &command(line)), held, "{line:?}");
        }
        assert!(!grants.holds("other", &command("git status")));
    }

    #[test]
    fn a_line_that_might_do_more_is_granted_as_it_is() {
        let grants = Grants::default();
        grants.grant("shell", &command("make && ls"));
        assert!(grants.holds("shell", &command("make && ls")));
        assert!(!grants.holds("shell", &command("make")));
        assert!(!grants.holds("shell", &command("make && rm x")));
    }

    #[test]
    fn what_a_wrapper_runs_counts() {
        let wrapped = |program: &str| ConfirmationKind::Execute {
            command: format!("sh -c '{program} x'"),
            programs: vec![program.to_owned()],
        };
        let grants = Grants::default();
        grants.grant("shell", &wrapped("ls"));
        assert!(grants.holds("shell", &wrapped("ls")));
        assert!(!grants.holds("shell", &wrapped("rm")));
        assert!(!grants.holds("shell", &command("ls x")));
    }

    #[test]
    fn other_tools_are_granted_whole_and_edits_never() {
        let words = |prompt: &str| ConfirmationKind::Information {
            prompt: prompt.to_owned(),
            urls: Vec::new(),
        };
        let edit = ConfirmationKind::Edit {
            path: "/a".into(),
            patch: String::new(),
            original: None,
            proposed: String::new(),
            stat: pollux_protocol::DiffStat::default(),
        };
        let grants = Grants::default();
        grants.grant("fetch", &words("one"));
        grants.grant("write", &edit);
        assert!(grants.holds("fetch", &words("two")));
        assert!(!grants.holds("write", &edit));
    }
}
