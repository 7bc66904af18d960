//! Google credentials: the Application Default Credentials (ADC) and the access tokens that they
//! give, in the formats and with the requests of Google's own libraries (`google-auth`).
//!
//! | module | contents |
//! |---|---|
//! | `setup` | [`GoogleSetup`]: places of credentials, as the environment names them |
//! | `search` | order in which credentials are searched for |
//! | `file` | files of credentials (pure) |
//! | `addresses` | addresses that credentials may be sent to (pure) |
//! | `grants` | requests that turn credentials into a token |
//! | `assertion` | tokens that a service account signs itself (RS256) |
//! | `signed_in` | sign-in through an OAuth client of the user, and the file of its tokens |
//! | `subject` | tokens of other identity providers, from a file or an address |
//! | `metadata` | metadata server of machines in Google Cloud |
//! | `requests` | requests to identity services, and their responses |
//! | `tokens` | [`GoogleAuthoriser`], which signs requests and renews its token in time |
//!
//! A file of credentials may come from anyone. It decides which identity is used, but not where
//! secrets are sent: addresses must be Google's. Programs that a file names are never run.

use std::path::{Path, PathBuf};

use pollux_protocol::plain_text::{one_line, visible};

use crate::error::Error;

mod addresses;
mod assertion;
mod file;
mod grants;
mod metadata;
mod requests;
mod search;
mod setup;
mod signed_in;
mod subject;
mod tokens;

pub use file::{GoogleFile, read_google_file};
pub use requests::GoogleToken;
pub use search::{GoogleSource, find};
pub use setup::GoogleSetup;
pub use signed_in::{Grant, OAuthClient, UserTokens, request_tokens};
pub use tokens::{GoogleAuthoriser, IdTokenAuthoriser};

/// Permission that all Google Cloud services accept.
pub const CLOUD_PLATFORM: &str = "https://www.googleapis.com/auth/cloud-platform";

/// Command that creates the credentials of a user.
const LOGIN: &str = "gcloud auth application-default login";

/// Maximum length of a text of a file or a server in a message, in characters.
const LONGEST_TEXT: usize = 300;

/// Failure of finding or using Google credentials. The messages name the source and the remedy.
#[derive(Debug, thiserror::Error)]
pub enum GoogleError {
    /// There are no credentials.
    #[error(
        "No Google credentials were found. Searched: {}. Run `{LOGIN}`, or set GOOGLE_APPLICATION_CREDENTIALS to a file of credentials.",
        searched.join("; ")
    )]
    Missing {
        /// Places that were searched, with the reason why each of them has no credentials.
        searched: Vec<String>,
    },
    /// A file of credentials cannot be used.
    #[error("Cannot use the Google credentials in {}: {cause}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Reason, with the remedy if there is one.
        cause: String,
    },
    /// An identity service refused, or its response is not usable.
    #[error("{0}")]
    Refused(String),
    /// A request was not answered.
    #[error(transparent)]
    Network(#[from] Error),
}

impl GoogleError {
    fn file(path: &Path, cause: impl Into<String>) -> Self {
        Self::File { path: path.to_owned(), cause: cause.into() }
    }
}

impl From<GoogleError> for Error {
    fn from(error: GoogleError) -> Self {
        match error {
            // Another attempt may succeed.
            GoogleError::Network(error) => error,
            other => Self::Credentials(other.to_string()),
        }
    }
}

/// Returns a text of a file or a server in the form that is shown: one line, without control
/// characters.
fn shown(text: &str) -> String {
    let head: String = text.chars().take(4 * LONGEST_TEXT).collect();
    visible(&one_line(&head)).chars().take(LONGEST_TEXT).collect()
}

/// Returns the time in seconds since 1970.
fn now() -> i64 {
    jiff::Timestamp::now().as_second()
}
