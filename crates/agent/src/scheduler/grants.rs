//! Approvals that the user gave for the rest of the session.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use pollux_policy::{
    Approval, ApprovalScope, Policy, PolicyVerdict, Query, Rule, SaveApprovalError,
};
use pollux_protocol::{CallConfinement, Effects};

use super::definitions::Definitions;

/// Rules from approvals. Each rule is as narrow as the scope that the user approved.
#[derive(Debug, Default)]
pub struct Grants {
    rules: Mutex<Vec<Rule>>,
    /// Command lines that confinement stopped, each with its folder and the reason to ask about it.
    stopped: Mutex<HashMap<CommandKey, String>>,
    /// Definitions of servers' tools that the approvals are about.
    pub(super) definitions: Definitions,
}

/// Command line and its folder.
type CommandKey = (String, Option<PathBuf>);

impl Grants {
    /// Creates empty approvals. The definitions of servers' tools that the user approves are kept
    /// in `file`.
    pub fn remembering(file: PathBuf) -> Self {
        Self { definitions: Definitions::in_file(file), ..Self::default() }
    }

    /// Adds a rule that allows this kind of call from now on. With a file, the rule is saved for
    /// later sessions, too.
    pub(super) fn grant(
        &self,
        policy: &Policy,
        query: &Query<'_>,
        scope: ApprovalScope,
        file: Option<&Path>,
    ) -> Result<(), SaveApprovalError> {
        let Some(approval) = Approval::of(policy, query, scope) else { return Ok(()) };
        if let Ok(mut granted) = self.rules.lock() {
            granted.extend(approval.rules().rules);
        }
        file.map_or(Ok(()), |file| approval.save(file))
    }

    /// Returns the confinement of a call that earlier approvals allow; `None` if the user must be
    /// asked.
    pub(super) fn hold(&self, policy: &Policy, query: Query<'_>) -> Option<CallConfinement> {
        let Cow::Owned(policy) = self.over(policy) else { return None };
        let judgement = policy.judge(query);
        (judgement.verdict == PolicyVerdict::Allow).then(|| judgement.confinement())
    }

    /// Makes the next run of a command line that confinement stopped require a question.
    pub(super) fn ask_again(&self, effects: &Effects, reason: String) {
        if let (Some(key), Ok(mut stopped)) = (key(effects), self.stopped.lock()) {
            stopped.insert(key, reason);
        }
    }

    /// Returns the reason to ask about a command line that confinement stopped, once for each stop.
    pub(super) fn take_stop(&self, effects: &Effects) -> Option<String> {
        self.stopped.lock().ok()?.remove(&key(effects)?)
    }

    /// Returns the policy extended by the approvals, or the unchanged policy if there are none.
    pub(super) fn over<'p>(&self, policy: &'p Policy) -> Cow<'p, Policy> {
        let granted = self.rules.lock().map(|granted| granted.clone()).unwrap_or_default();
        if granted.is_empty() {
            return Cow::Borrowed(policy);
        }
        let mut policy = policy.clone();
        for rule in granted {
            policy.add(rule);
        }
        Cow::Owned(policy)
    }
}

fn key(effects: &Effects) -> Option<CommandKey> {
    Some((effects.command.clone()?, effects.folder.clone()))
}
