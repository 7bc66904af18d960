//! Copies of Git repositories, made by the program `git`.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use pollux_shell::{ChildSpec, Ended, PipedCommand, Program, run_piped};
use tokio_util::sync::CancellationToken;

use crate::error::InstallError;

/// Beginnings of addresses.
const BEGINNINGS: [&str; 3] = ["https://", "http://", "git@"];

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

/// Copies the last commit of a repository into an empty folder. `environment` is that of the user,
/// whose own configuration of Git applies: it may know credentials for the repository.
///
/// # Errors
/// [`InstallError::Address`] and [`InstallError::Git`].
pub(crate) async fn clone(
    address: &str,
    to: &Path,
    environment: Vec<(OsString, OsString)>,
) -> Result<(), InstallError> {
    check(address)?;
    let settings = SETTINGS.iter().flat_map(|setting| ["-c", setting]);
    let command =
        ["clone", "--depth=1", "--no-recurse-submodules", "--no-tags", "--template=", "--"];
    let arguments = settings.chain(command).chain([address, "."]);
    let arguments: Vec<OsString> = arguments.map(OsString::from).collect();
    let program = Program::File { path: "git".into(), arguments };
    let child = ChildSpec::new(program, to, adapted(environment));
    let command = PipedCommand { child, input: Vec::new(), timeout: TIMEOUT, limit: OUTPUT };
    let failed = |message: String| InstallError::Git {
        address: without_credentials(address),
        message: message.trim_end().to_owned(),
    };
    let outcome = run_piped(command, &CancellationToken::new()).await;
    let outcome = outcome.map_err(|error| failed(format!("git cannot be started: {error}")))?;
    if outcome.exit_code == Some(0) {
        return Ok(());
    }
    Err(failed(match outcome.ended {
        Ended::TimedOut => format!("it took longer than {} s", TIMEOUT.as_secs()),
        _ => without_credentials(&String::from_utf8_lossy(&outcome.stderr)),
    }))
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
    let Some(beginning) = BEGINNINGS.iter().find(|beginning| address.starts_with(**beginning))
    else {
        return refused("it does not begin with https://, http:// or git@");
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
        let error = clone(address, folder.path(), environment).await.unwrap_err().to_string();
        let beginning = format!("Failed to clone Git repository from {address} Cloning into '.'");
        assert!(error.starts_with(&beginning), "{error}");
    }
}
