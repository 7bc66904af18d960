//! What the person has allowed for the rest of the session.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Mutex;

use pollux_policy::{Approval, ApprovalError, Policy, Query, Rule, Scope, Verdict};

/// Rules that stand for what was allowed. Each is as narrow as the call that was asked about.
#[derive(Debug, Default)]
pub struct Grants(Mutex<Vec<Rule>>);

impl Grants {
    /// Allows what is like this from now on; in later sessions, too, when there is a file that keeps it.
    pub(super) fn grant(
        &self,
        policy: &Policy,
        query: &Query<'_>,
        scope: Scope,
        file: Option<&Path>,
    ) -> Result<(), ApprovalError> {
        let Some(approval) = Approval::of(policy, query, scope) else { return Ok(()) };
        if let Ok(mut granted) = self.0.lock() {
            granted.extend(approval.rules().rules);
        }
        file.map_or(Ok(()), |file| approval.save(file))
    }

    /// With what was allowed nobody needs to be asked.
    pub(super) fn hold(&self, policy: &Policy, query: Query<'_>) -> bool {
        match self.over(policy) {
            Cow::Owned(policy) => policy.decide(query) == Verdict::Allow,
            Cow::Borrowed(_) => false,
        }
    }

    /// Returns the policy with what was allowed, itself if that is nothing.
    pub(super) fn over<'p>(&self, policy: &'p Policy) -> Cow<'p, Policy> {
        let granted = self.0.lock().map(|granted| granted.clone()).unwrap_or_default();
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
