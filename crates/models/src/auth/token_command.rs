//! Tokens for a gateway that a command of the user prints (`pollux.auth.tokenCommand`).

use std::path::PathBuf;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderValue, StatusCode};
use pollux_config::Environment;
use pollux_net::{Authoriser, Error, HttpRequest, Renewal, StatusError};
use pollux_protocol::CancellationToken;
use pollux_protocol::plain_text::{one_line, visible};
use pollux_shell::{ChildSpec, Ended, PipedCommand, Program, run_piped};
use tokio::sync::Mutex;

/// Time for which a token is used without asking again.
const LIFE: Duration = Duration::from_mins(5);
/// Time limit of the command.
const LIMIT: Duration = Duration::from_secs(30);
/// Maximum length of a token in bytes.
const LONGEST: usize = 16 << 10;

/// Signs requests with a token that a command prints. It runs when the first request is signed,
/// every five minutes, and when the gateway rejects the token.
pub(super) struct TokenCommand {
    line: String,
    folder: PathBuf,
    environment: Environment,
    held: Mutex<Option<(HeaderValue, Instant)>>,
}

impl std::fmt::Debug for TokenCommand {
    /// Shows neither the command, which may contain a secret, nor the environment.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("TokenCommand").finish_non_exhaustive()
    }
}

impl TokenCommand {
    /// Creates an authoriser for a command line, which runs in this folder.
    pub(super) fn new(line: String, folder: PathBuf, environment: Environment) -> Self {
        Self { line, folder, environment, held: Mutex::default() }
    }

    async fn run(&self) -> Result<HeaderValue, Error> {
        let failed = |what: &str| {
            Error::Credentials(format!("The command in pollux.auth.tokenCommand {what}."))
        };
        let script = Program::Script(self.line.clone());
        let command = PipedCommand {
            child: ChildSpec::new(script, &self.folder, self.environment.for_children()),
            input: Vec::new(),
            timeout: LIMIT,
            limit: LONGEST + 1,
        };
        let ran = run_piped(command, &CancellationToken::new()).await;
        let ran = ran.map_err(|error| failed(&format!("cannot be started: {error}")))?;
        if ran.exit_code != Some(0) {
            let text = String::from_utf8_lossy(&ran.stderr);
            let text: String = visible(&one_line(&text)).chars().take(300).collect();
            let end = match (&ran.ended, ran.exit_code) {
                (Ended::TimedOut, _) => format!("did not end within {} seconds", LIMIT.as_secs()),
                (_, Some(code)) => format!("failed with exit code {code}"),
                (_, None) => "was ended by a signal".to_owned(),
            };
            let text = if text.is_empty() { text } else { format!(": {text}") };
            return Err(failed(&format!("{end}{text}")));
        }
        let token = String::from_utf8_lossy(&ran.stdout);
        let token = token.trim();
        let is_sendable = (1..=LONGEST).contains(&token.len())
            && token.bytes().all(|byte| byte.is_ascii_graphic());
        let value = HeaderValue::from_str(&format!("Bearer {token}")).ok();
        let mut value =
            value.filter(|_| is_sendable).ok_or_else(|| failed("printed no usable token"))?;
        value.set_sensitive(true);
        Ok(value)
    }
}

#[async_trait]
impl Authoriser for TokenCommand {
    async fn authorise(&self, _request: &HttpRequest) -> Result<HeaderMap, Error> {
        let mut held = self.held.lock().await;
        let known = held.as_ref().filter(|(_, since)| since.elapsed() < LIFE);
        let value = match known {
            Some((value, _)) => value.clone(),
            None => held.insert((self.run().await?, Instant::now())).0.clone(),
        };
        Ok(HeaderMap::from_iter([(AUTHORIZATION, value)]))
    }

    async fn refused(
        &self,
        signed_with: &HeaderMap,
        refusal: &StatusError,
    ) -> Result<Renewal, Error> {
        if refusal.status != StatusCode::UNAUTHORIZED {
            return Ok(Renewal::Unchanged);
        }
        let sent = signed_with.get(AUTHORIZATION);
        let mut held = self.held.lock().await;
        if held.as_ref().map(|(value, _)| value) == sent {
            *held = None;
        }
        Ok(Renewal::Renewed)
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    async fn token(line: &str) -> Result<String, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = std::env::var("PATH").unwrap();
        let environment = Environment::from_pairs([("PATH", path.as_str())]);
        let command = TokenCommand::new(line.to_owned(), folder.path().to_owned(), environment);
        let value = command.run().await.map_err(|error| error.to_string())?;
        Ok(value.to_str().unwrap().to_owned())
    }

    #[tokio::test]
    async fn only_one_word_is_a_token() {
        assert_eq!(token("echo ' a.b-c '").await, Ok("Bearer a.b-c".to_owned()));
        for (line, expected) in [
            ("true", "printed no usable token."),
            ("echo two words", "printed no usable token."),
            ("printf 'a\\033b'", "printed no usable token."),
            ("head -c 20000 /dev/zero | tr '\\0' a", "printed no usable token."),
            (
                "echo secret; echo 'sign in first' >&2; exit 3",
                "failed with exit code 3: sign in first.",
            ),
            ("kill -9 $$", "was ended by a signal."),
        ] {
            let message = token(line).await.unwrap_err();
            assert!(message.ends_with(expected), "{line}: {message}");
            assert!(message.contains("pollux.auth.tokenCommand"), "{message}");
            assert!(!message.contains("secret"), "{message}");
        }
    }
}
