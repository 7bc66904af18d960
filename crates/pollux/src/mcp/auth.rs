//! `mcp auth` and `mcp logout`.

use pollux_host::{OAuthError, Setup};
use pollux_protocol::plain_text::visible;

use super::Answer;
use super::change::named;
use super::found::Finding;
use crate::exit::Failure;
use crate::sign_in_user::{TerminalUser, Topic};
use crate::stderr::stderr_line;

/// Exit code if the user refuses.
const REFUSED: i32 = 130;

/// Signs in to a server.
pub(super) async fn sign_in(setup: &Setup, name: &str) -> Result<Answer, Failure> {
    let server = named(setup, name)?;
    let name = visible(&server.name);
    let failed = |reason: &str| {
        Failure::authentication(format!(
            "Failed to authenticate with MCP server '{name}': {reason}"
        ))
    };
    let Finding::Open(config) = &server.finding else {
        let reason = server.finding.reason(&setup.input.called_as);
        return Err(failed(&reason.unwrap_or_default()));
    };
    stderr_line(&format!("Starting OAuth authentication for MCP server '{name}'..."));
    let user = TerminalUser::new(setup, Topic::Server);
    match setup.authorization().sign_in(config, &user).await {
        Ok(()) => {
            Ok(Answer::of_text(format!("✅ Successfully authenticated with MCP server '{name}'!")))
        }
        Err(error @ OAuthError::Cancelled) => {
            Err(Failure { message: error.to_string(), ..Failure::cancelled(REFUSED) })
        }
        Err(error) => Err(failed(&error.to_string())),
    }
}

/// Removes the stored credentials of a server, which need not be in the settings any more.
pub(super) async fn sign_out(setup: &Setup, name: &str) -> Result<Answer, Failure> {
    let removed = setup.authorization().sign_out(name).await;
    let removed = removed.map_err(|error| Failure::general(error.to_string()))?;
    let name = visible(name);
    Ok(Answer::of_text(if removed {
        format!("Removed the credentials of MCP server '{name}'.")
    } else {
        format!("There are no credentials of MCP server '{name}'.")
    }))
}
