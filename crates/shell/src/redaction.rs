//! Selection of the environment variables that a command may see. A pure function on a list.
//!
//! The order and the lists of the rules are those of Gemini CLI 0.61, so that a user's own lists
//! have the same meaning here.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::sync::LazyLock;

use regex::RegexSet;

#[cfg(test)]
mod tests;

/// Rules for hiding variables from commands. The default hides nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Redaction {
    /// Hide variables that look like secrets.
    pub enabled: bool,
    /// Hide all variables that are not known to be harmless, independent of `enabled`.
    pub strict: bool,
    /// Names that are shown unless the value has the form of a secret. Letter case is ignored.
    pub allowed: Vec<String>,
    /// Names that are hidden unless they are in `allowed`. Letter case is ignored.
    pub blocked: Vec<String>,
}

impl Redaction {
    /// Returns the same rules, made strict inside the GitHub action, where a variable that is not
    /// known to be harmless may be a secret of the repository.
    #[must_use]
    pub fn strict_in_actions(mut self, environment: &[(OsString, OsString)]) -> Self {
        self.strict |= environment.iter().any(|(name, value)| match name.to_str() {
            Some("GITHUB_SHA") => !value.is_empty(),
            Some("SURFACE") => value == "Github",
            _ => false,
        });
        self
    }
}

/// Prefix of names that are always shown, because they belong to Gemini CLI.
const OWN_PREFIX: &str = "GEMINI_CLI_";
/// Prefix of names that carry Git settings.
const GIT_PREFIX: &str = "GIT_CONFIG_";

/// Names that programs cannot work without.
const HARMLESS: &[&str] = &[
    "PATH",
    "HOME",
    "LANG",
    "SHELL",
    "TMPDIR",
    "USER",
    "LOGNAME",
    "TERM",
    "COLORTERM",
    // Windows.
    "SYSTEMROOT",
    "COMSPEC",
    "PATHEXT",
    "WINDIR",
    "TEMP",
    "TMP",
    "USERPROFILE",
    "SYSTEMDRIVE",
    // Task description of the GitHub action.
    "ADDITIONAL_CONTEXT",
    "AVAILABLE_LABELS",
    "BRANCH_NAME",
    "DESCRIPTION",
    "EVENT_NAME",
    "GITHUB_ENV",
    "IS_PULL_REQUEST",
    "ISSUES_TO_TRIAGE",
    "ISSUE_BODY",
    "ISSUE_NUMBER",
    "ISSUE_TITLE",
    "PULL_REQUEST_NUMBER",
    "REPOSITORY",
    "TITLE",
    "TRIGGERING_ACTOR",
];

/// Names that give access to accounts and data but do not look like secrets.
const SENSITIVE: &[&str] = &[
    "CLIENT_ID",
    "DB_URI",
    "CONNECTION_STRING",
    "AWS_DEFAULT_REGION",
    "AZURE_CLIENT_ID",
    "AZURE_TENANT_ID",
    "SLACK_WEBHOOK_URL",
    "TWILIO_ACCOUNT_SID",
    "DATABASE_URL",
    "GOOGLE_CLOUD_PROJECT",
    "GOOGLE_CLOUD_ACCOUNT",
    "FIREBASE_PROJECT_ID",
];

/// Parts of names that indicate a secret.
const SUSPICIOUS: &[&str] = &[
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "PASSWD",
    "KEY",
    "AUTH",
    "CREDENTIAL",
    "CREDS",
    "PRIVATE",
    "CERT",
];

/// Forms of values that are secrets under any name.
const SECRET_FORMS: &[&str] = &[
    // Private keys and certificates (RFC 7468).
    r"(?i)-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----",
    r"(?i)-----BEGIN CERTIFICATE-----",
    // User and password in a URL.
    r"(?i)[a-z][a-z0-9+.-]*://[^:/\s]*:[^@\s]+@",
    // GitHub.
    r"(?i)(?:gh[pousr]|github_pat)_[a-z0-9_]{36}",
    // Google.
    r"(?i)AIzaSy[a-z0-9_-]{33}",
    // Amazon.
    r"(?i)AKIA[A-Z0-9]{16}",
    // JSON Web Tokens (RFC 7519).
    r"eyJ[A-Za-z0-9_-]*\.[A-Za-z0-9_-]*\.[A-Za-z0-9_-]*",
    // Stripe.
    r"(?i)[sr]k_(?:live|test)_[0-9a-z]{24}",
    // Slack.
    r"(?i)xox[abpr]-[a-z0-9-]+",
];

/// The compiled forms. A test checks that they compile.
static SECRETS: LazyLock<Option<RegexSet>> = LazyLock::new(|| RegexSet::new(SECRET_FORMS).ok());

/// Returns the variables that a command may see, in their order; all of them if `redaction` is
/// neither enabled nor strict.
pub fn redact(
    environment: Vec<(OsString, OsString)>,
    redaction: &Redaction,
) -> Vec<(OsString, OsString)> {
    if !redaction.enabled && !redaction.strict {
        return environment;
    }
    let upper = |names: &[String]| names.iter().map(|name| name.to_uppercase()).collect();
    let rules = Rules {
        allowed: upper(&redaction.allowed),
        blocked: upper(&redaction.blocked),
        strict: redaction.strict,
    };
    environment.into_iter().filter(|(name, value)| rules.keep(name, value)).collect()
}

/// The user's lists, in capitals.
struct Rules {
    allowed: HashSet<String>,
    blocked: HashSet<String>,
    strict: bool,
}

impl Rules {
    /// Returns true if a variable is shown. The first rule that applies decides.
    fn keep(&self, name: &OsStr, value: &OsStr) -> bool {
        let name = name.to_string_lossy().to_uppercase();
        let is_one_of = |names: &[&str]| names.contains(&name.as_str());
        if name.starts_with(OWN_PREFIX) {
            true
        } else if is_secret(value) {
            false
        } else if name.starts_with(GIT_PREFIX) || self.allowed.contains(&name) {
            true
        } else if self.blocked.contains(&name) {
            false
        } else if is_one_of(HARMLESS) {
            true
        } else if is_one_of(SENSITIVE) || self.strict {
            false
        } else {
            !SUSPICIOUS.iter().any(|part| name.contains(part))
        }
    }
}

fn is_secret(value: &OsStr) -> bool {
    // If the forms did not compile, every value counts as a secret.
    SECRETS.as_ref().is_none_or(|forms| forms.is_match(&value.to_string_lossy()))
}
