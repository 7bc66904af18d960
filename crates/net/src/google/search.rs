//! Order in which Google credentials are searched for.

use std::path::{Path, PathBuf};

use super::file::{GoogleFile, read_google_file};
use super::grants::Grants;
use super::metadata::Metadata;
use super::requests::Requests;
use super::{GoogleError, GoogleSetup, GoogleToken};

/// Maximum size of a file of credentials, in bytes.
const LARGEST: u64 = 1 << 20;

/// Credentials that were found.
#[derive(Debug)]
pub enum GoogleSource {
    /// File of credentials.
    File {
        /// The file.
        path: PathBuf,
        /// Its content.
        file: Box<GoogleFile>,
    },
    /// Service account of this machine, which the metadata server knows.
    Machine,
}

impl GoogleSource {
    /// Returns a description for messages, such as `the service account in /path/key.json`.
    pub fn description(&self) -> String {
        match self {
            Self::File { path, file } => {
                format!("the Google credentials in {} ({})", path.display(), file.kind())
            }
            Self::Machine => "the service account of this machine".to_owned(),
        }
    }

    /// Returns the project that requests are billed to, where the credentials name it.
    pub(super) fn quota_project(&self) -> Option<&str> {
        match self {
            Self::File { file, .. } => file.quota_project.as_deref(),
            Self::Machine => None,
        }
    }

    /// Requests a token.
    pub(super) async fn token(
        &self,
        setup: &GoogleSetup,
        requests: &Requests,
        scopes: &[String],
    ) -> Result<GoogleToken, GoogleError> {
        match self {
            Self::File { file, .. } => {
                let who = self.description();
                Grants { requests, who: &who }.token(&file.credential, scopes).await
            }
            Self::Machine => Metadata::new(setup)?.token(scopes).await,
        }
    }
}

/// Searches for credentials: the file that `GOOGLE_APPLICATION_CREDENTIALS` names, gcloud's file,
/// the metadata server. The first place that has some decides, also if they cannot be used.
///
/// # Errors
/// [`GoogleError::Missing`], [`GoogleError::File`]; [`GoogleError::Refused`] for an invalid name of
/// the metadata server.
pub async fn find(setup: &GoogleSetup) -> Result<GoogleSource, GoogleError> {
    let mut searched = Vec::new();
    match &setup.named_file {
        Some(path) => {
            return match read(path).await? {
                Some(file) => Ok(file),
                None => Err(GoogleError::file(
                    path,
                    "the file does not exist. Correct or unset GOOGLE_APPLICATION_CREDENTIALS.",
                )),
            };
        }
        None => searched.push("GOOGLE_APPLICATION_CREDENTIALS is not set".to_owned()),
    }
    if let Some(path) = &setup.gcloud_file {
        if let Some(file) = read(path).await? {
            return Ok(file);
        }
        searched.push(format!("{} does not exist", path.display()));
    }
    if !setup.uses_metadata {
        searched.push("NO_GCE_CHECK excludes the metadata server".to_owned());
    } else if setup.is_metadata_named || Metadata::new(setup)?.responds().await {
        return Ok(GoogleSource::Machine);
    } else {
        searched.push("no metadata server of Google Cloud answers".to_owned());
    }
    Err(GoogleError::Missing { searched })
}

/// Reads a file of credentials; `None` if it is missing.
async fn read(path: &Path) -> Result<Option<GoogleSource>, GoogleError> {
    let file = path.to_owned();
    let reading = tokio::task::spawn_blocking(move || pollux_fs::read_bytes(&file, LARGEST));
    let failed = |cause: String| GoogleError::file(path, cause);
    let bytes = match reading.await.map_err(|error| failed(error.to_string()))? {
        Ok(bytes) => bytes,
        Err(error) if error.is_not_found() => return Ok(None),
        Err(error) => return Err(failed(error.to_string())),
    };
    let file = Box::new(read_google_file(&bytes).map_err(failed)?);
    Ok(Some(GoogleSource::File { path: path.to_owned(), file }))
}
