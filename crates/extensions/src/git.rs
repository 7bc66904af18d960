//! Copies of Git repositories, made by the program `git`.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use pollux_shell::{ChildSpec, Ended, PipedCommand, Program, run_piped};
use tokio_util::sync::CancellationToken;

use crate::error::InstallError;

/// Beginnings of addresses of skills.
const BEGINNINGS: [&str; 3] = ["https://", "http://", "git@"];
/// Beginnings of addresses that are cloned.
const CLONED: [&str; 4] = ["https://", "http://", "git@", "ssh://"];

/// Settings of every command. A repository runs no program: it has no hooks and no monitor, its
/// submodules are not read, and only these protocols are used, whatever it refers to.
const SETTINGS: [&str; 8] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.protectHFS=true",
    "core.protectNTFS=true",
    "protocol.allow=never",
    "protocol.https.allow=always",
    "protocol.http.allow=always",
    "protocol.ssh.allow=always",
];

/// Variables with which another program has pointed Git to its own repository.
const FOREIGN: [&str; 9] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_NAMESPACE",
    "GIT_COMMON_DIR",
    "GIT_TEMPLATE_DIR",
    "GIT_ALLOW_PROTOCOL",
];

const TIMEOUT: Duration = Duration::from_mins(5);
/// Maximum number of bytes of Git's messages.
const OUTPUT: usize = 64 << 10;

/// Returns true for the address of a repository, as Gemini CLI recognises it.
pub fn is_git_address(source: &str) -> bool {
    BEGINNINGS.iter().any(|beginning| source.starts_with(beginning))
}

/// Copies the last commit of a repository, or that of a branch, a tag or a commit, into an empty
/// folder. `environment` is that of the user, whose own configuration of Git applies: it may know
/// credentials for the repository.
///
/// # Errors
/// [`InstallError::Address`] and [`InstallError::Git`].
pub(crate) async fn clone(
    address: &str,
    reference: Option<&str>,
    to: &Path,
    environment: Vec<(OsString, OsString)>,
) -> Result<(), InstallError> {
    check(address)?;
    let git = Git { address, folder: to, environment: adapted(environment) };
    let command = ["clone", "--depth=1", "--no-recurse-submodules", "--no-tags", "--template="];
    let Some(reference) = reference else {
        return git.run(&[&command[..], &["--", address, "."]].concat()).await.map(drop);
    };
    check_reference(address, reference)?;
    git.run(&[&command[..], &["--no-checkout", "--", address, "."]].concat()).await?;
    git.run(&["fetch", "--depth=1", "--no-recurse-submodules", "--", "origin", reference]).await?;
    git.run(&["checkout", "--quiet", "--detach", "FETCH_HEAD"]).await.map(drop)
}

/// Returns the hash of the last commit of a repository, or of a branch or a tag.
///
/// # Errors
/// As for [`clone`]; there is no such branch or tag.
pub(crate) async fn remote_hash(
    address: &str,
    reference: Option<&str>,
    environment: Vec<(OsString, OsString)>,
) -> Result<String, InstallError> {
    check(address)?;
    let reference = reference.unwrap_or("HEAD");
    check_reference(address, reference)?;
    let folder = std::env::temp_dir();
    let git = Git { address, folder: &folder, environment: adapted(environment) };
    let commit = format!("{reference}^{{}}");
    let text = git.run(&["ls-remote", "--", address, reference, &commit]).await?;
    // A commit is not listed.
    Ok(listed_hash(&text, reference).unwrap_or(reference).to_owned())
}

/// Returns the hash of the commit that a reference means in a list of `git ls-remote`, whose lines
/// are a hash, a tab and a name. Tags come before branches, as in `git fetch`.
fn listed_hash<'a>(list: &'a str, reference: &str) -> Option<&'a str> {
    let of = |name: &str| list.lines().find_map(|line| line.strip_suffix(name)?.strip_suffix('\t'));
    // An annotated tag is an object of its own; `^{}` is the commit that it names.
    let names = [
        reference.to_owned(),
        format!("refs/tags/{reference}^{{}}"),
        format!("refs/tags/{reference}"),
        format!("refs/heads/{reference}"),
    ];
    names.iter().find_map(|name| of(name))
}

/// Returns the hash of the commit in a folder that was cloned from an address.
///
/// # Errors
/// [`InstallError::Git`].
pub(crate) async fn local_hash(
    folder: &Path,
    address: &str,
    environment: Vec<(OsString, OsString)>,
) -> Result<String, InstallError> {
    let git = Git { address, folder, environment: adapted(environment) };
    // Without this, Git would search the folders above.
    let text = git.run(&["--git-dir=.git", "rev-parse", "HEAD"]).await?;
    Ok(text.trim().to_owned())
}

/// The program `git` in a folder.
struct Git<'a> {
    /// Address for messages.
    address: &'a str,
    folder: &'a Path,
    environment: Vec<(OsString, OsString)>,
}

impl Git<'_> {
    /// Runs a command and returns what it prints.
    async fn run(&self, command: &[&str]) -> Result<String, InstallError> {
        let settings = SETTINGS.iter().flat_map(|setting| ["-c", setting]);
        let arguments = settings.chain(command.iter().copied()).map(OsString::from).collect();
        let program = Program::File { path: "git".into(), arguments };
        let child = ChildSpec::new(program, self.folder, self.environment.clone());
        let command = PipedCommand { child, input: Vec::new(), timeout: TIMEOUT, limit: OUTPUT };
        let failed = |message: String| InstallError::Git {
            address: without_credentials(self.address),
            message: message.trim_end().to_owned(),
        };
        let outcome = run_piped(command, &CancellationToken::new()).await;
        let outcome = outcome.map_err(|error| failed(format!("git cannot be started: {error}")))?;
        if outcome.exit_code == Some(0) {
            return Ok(String::from_utf8_lossy(&outcome.stdout).into_owned());
        }
        Err(failed(match outcome.ended {
            Ended::TimedOut => format!("it took longer than {} s", TIMEOUT.as_secs()),
            _ => without_credentials(&String::from_utf8_lossy(&outcome.stderr)),
        }))
    }
}

/// Refuses a name of a branch, a tag or a commit that Git could read as something else.
fn check_reference(address: &str, reference: &str) -> Result<(), InstallError> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./".contains(letter);
    let is_name = !reference.is_empty() && reference.len() <= 200;
    if is_name && !reference.starts_with('-') && reference.chars().all(is_plain) {
        return Ok(());
    }
    let reason = "the name of the branch, tag or commit is not valid".to_owned();
    Err(InstallError::Address { address: without_credentials(address), reason })
}

/// Returns the environment of the user without the repository of another program, and without a
/// question for a password that nobody sees.
fn adapted(mut environment: Vec<(OsString, OsString)>) -> Vec<(OsString, OsString)> {
    environment.retain(|(name, _)| !FOREIGN.iter().any(|foreign| name == foreign));
    environment.push(("GIT_TERMINAL_PROMPT".into(), "0".into()));
    environment.push(("GIT_LFS_SKIP_SMUDGE".into(), "1".into()));
    environment
}

/// Refuses an address that Git or SSH could read as an option.
fn check(address: &str) -> Result<(), InstallError> {
    let refused = |reason: &str| {
        Err(InstallError::Address {
            address: without_credentials(address),
            reason: reason.to_owned(),
        })
    };
    if address.contains(|letter: char| letter.is_control() || letter.is_whitespace()) {
        return refused("it contains blanks");
    }
    let Some(beginning) = CLONED.iter().find(|beginning| address.starts_with(**beginning)) else {
        return refused("it does not begin with https://, http://, ssh:// or git@");
    };
    let rest = &address[beginning.len()..];
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    let host = host.split(':').next().unwrap_or_default();
    let is_host = |letter: char| letter.is_ascii_alphanumeric() || ".-_[]".contains(letter);
    if host.is_empty() || host.starts_with('-') || !host.chars().all(is_host) {
        return refused("its host is not valid");
    }
    Ok(())
}

/// Returns a text with the user names and passwords of its addresses hidden.
pub fn without_credentials(text: &str) -> String {
    let mut hidden = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (head, tail) = rest.split_at(at + 3);
        hidden.push_str(head);
        let end = tail.find(|letter: char| "/?#'\"".contains(letter) || letter.is_whitespace());
        let authority = &tail[..end.unwrap_or(tail.len())];
        rest = tail;
        if let Some(at) = authority.rfind('@') {
            hidden.push_str("***");
            rest = &tail[at..];
        }
    }
    hidden + rest
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn addresses_are_never_options() {
        for address in [
            "https://github.com/o/r.git",
            "http://localhost:8080/r",
            "https://user:word@host/r",
            "git@github.com:o/r.git",
            "https://[::1]/r",
        ] {
            assert!(is_git_address(address));
            check(address).unwrap();
        }
        for address in [
            "https://",
            "https:///path",
            "git@-oProxyCommand=touch:x",
            "ssh://-oProxyCommand=x/r",
            "sso://h/r",
            "https://-oProxyCommand=x/r",
            "https://user@-x/r",
            "https://host/a b",
            "https://host/\n",
            "git@ho$(x)st:r",
            "--upload-pack=x",
            "ext::sh -c x",
            "file:///etc",
        ] {
            assert!(check(address).is_err(), "{address}");
        }
    }

    #[test]
    fn references_are_never_options() {
        for reference in ["main", "v1.2.0", "feature/x", "0123abcd"] {
            check_reference("https://h/r", reference).unwrap();
        }
        for reference in ["", "--upload-pack=x", "-b", "a b", "a:b", "+main", "^x", "a\nb"] {
            assert!(check_reference("https://h/r", reference).is_err(), "{reference}");
        }
    }

    #[test]
    fn references_mean_commits() {
        let list = "1\tHEAD\n2\trefs/heads/a/v1\n3\trefs/heads/v1\n4\trefs/tags/v1\n5\trefs/tags/v1^{}\n6\trefs/heads/main\n";
        let cases = [("HEAD", Some("1")), ("v1", Some("5")), ("main", Some("6")), ("ain", None)];
        for (reference, hash) in cases {
            assert_eq!(listed_hash(list, reference), hash, "{reference}");
        }
    }

    #[test]
    fn credentials_are_hidden() {
        for (text, hidden) in [
            ("https://u:p@h/r", "https://***@h/r"),
            ("https://h/r@1", "https://h/r@1"),
            (
                "fatal: 'https://t@h/x/' and ssh://a:b@c",
                "fatal: 'https://***@h/x/' and ssh://***@c",
            ),
            ("git@h:r", "git@h:r"),
            ("://", "://"),
        ] {
            assert_eq!(without_credentials(text), hidden);
        }
    }

    #[tokio::test]
    async fn a_failure_has_the_words_of_git() {
        let folder = tempfile::tempdir().unwrap();
        let environment: Vec<_> = std::env::vars_os().collect();
        let address = "http://127.0.0.1:1/r.git";
        let error = clone(address, None, folder.path(), environment).await.unwrap_err().to_string();
        let beginning = format!("Failed to clone Git repository from {address} Cloning into '.'");
        assert!(error.starts_with(&beginning), "{error}");
    }
}
