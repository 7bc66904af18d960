//! Changes of protected files: in every approval mode they need the user's approval, or a rule that
//! names the path.

use std::path::Path;

use pollux_protocol::Effects;

use crate::checker::CheckerFinding;
use crate::policy::{CallArguments, PATH_KEYS, Policy};
use crate::protected::{ProtectedPlace, ResolvedPlaces};
use crate::rule::{Pattern, Rule, Ruling};
use crate::subject::Query;

/// Name used in place of a protected one to form an unprotected path.
const ORDINARY: &str = "ordinary";

impl Policy {
    /// Checks the declared changes of a call: a protected file needs the user's approval, or an
    /// allow rule of the user that names its path. If no user can be asked, the call is denied.
    pub fn protected_files(&self, query: &Query<'_>) -> CheckerFinding {
        if query.effects.changes().next().is_none() {
            return CheckerFinding::ALLOW;
        }
        let places = ResolvedPlaces::on_disk(&self.facts);
        let mut changes = query.effects.changes();
        let unnamed = changes.find_map(|path| {
            let place = places.concerned(path)?;
            (!self.names(query, path, &place)).then(|| (path, place.protection.in_words()))
        });
        let Some((path, kind)) = unnamed else { return CheckerFinding::ALLOW };
        let path = path.display();
        let message = format!(
            "Changing {path} needs the user's approval in every approval mode: {kind} are protected."
        );
        if self.facts.interactive {
            CheckerFinding::Ask(message)
        } else {
            CheckerFinding::Deny(message)
        }
    }

    /// True if a rule of the user allows the call because of the protected path: the same rule does
    /// not match the same call on an unprotected path.
    fn names(&self, query: &Query<'_>, path: &Path, place: &ProtectedPlace) -> bool {
        let Some(key) = PATH_KEYS.into_iter().find(|key| query.args[*key].is_string()) else {
            return false;
        };
        let mut ordinary = path.components().take(place.depth).collect::<std::path::PathBuf>();
        ordinary.set_file_name(ORDINARY);
        ordinary.extend(path.components().skip(place.depth));
        let mut args = query.args.clone();
        args[key] = ordinary.to_string_lossy().into();
        let effects = Effects::write(&ordinary);
        let unprotected = CallArguments::new(&Query { args: &args, effects: &effects, ..*query });
        let call = CallArguments::new(query);
        let subject = query.subject.with_arguments(query.args);
        self.concerned(&subject, self.mode(query.mode))
            .map(|(_, rule)| rule)
            .filter(|rule| call.fits(rule, &self.facts))
            .take_while(|rule| rule.ruling == Ruling::Allow)
            .filter(|rule| rule.is_of_person() && has_arguments(rule))
            .any(|rule| !unprotected.fits(rule, &self.facts))
    }
}

fn has_arguments(rule: &Rule) -> bool {
    matches!(rule.pattern, Some(Pattern::Arguments(_)))
}

#[cfg(test)]
mod tests;
