//! Places of Google credentials, as the environment names them.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::client::ClientOptions;
use crate::retry::Backoff;

/// Folder of gcloud's configuration below the user's.
const GCLOUD: &str = "gcloud";
/// File with the credentials of `gcloud auth application-default login`.
const WELL_KNOWN: &str = "application_default_credentials.json";
/// Address of the metadata server. Its name (`metadata.google.internal`) could be resolved to any
/// address outside of Google Cloud.
const METADATA_HOST: &str = "169.254.169.254";
/// Address of the service that creates tokens for service accounts.
const IAM: &str = "https://iamcredentials.googleapis.com";

/// Places of Google credentials, and how they are reached.
#[derive(Debug, Clone)]
pub struct GoogleSetup {
    /// File that `GOOGLE_APPLICATION_CREDENTIALS` names.
    pub named_file: Option<PathBuf>,
    /// File that gcloud writes: in `CLOUDSDK_CONFIG`, or below the user's configuration folder.
    pub gcloud_file: Option<PathBuf>,
    /// Project that requests are billed to (`GOOGLE_CLOUD_QUOTA_PROJECT`). It takes precedence over
    /// that of a file.
    pub quota_project: Option<String>,
    /// Host of the metadata server, with an optional port (`GCE_METADATA_HOST`).
    pub metadata_host: String,
    /// True if the user has named the metadata server, so that it need not be looked for.
    pub is_metadata_named: bool,
    /// False if `NO_GCE_CHECK` excludes the metadata server.
    pub uses_metadata: bool,
    /// Time limit of the first contact with the metadata server (`GCE_METADATA_TIMEOUT`).
    pub metadata_timeout: Duration,
    /// Address of the service that creates tokens for service accounts.
    pub iam: String,
    /// Delays after a failure of an identity service.
    pub backoff: Backoff,
    /// Options of the HTTP client.
    pub client: ClientOptions,
}

impl Default for GoogleSetup {
    /// Returns a setup that only knows the metadata server.
    fn default() -> Self {
        Self::from_environment(&|_| None, None, ClientOptions::default())
    }
}

impl GoogleSetup {
    /// Reads the variables of Google's libraries through `lookup`. `home` is the user's home
    /// folder.
    pub fn from_environment(
        lookup: &dyn Fn(&str) -> Option<String>,
        home: Option<&Path>,
        client: ClientOptions,
    ) -> Self {
        let present = |name: &str| {
            lookup(name).map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
        };
        let gcloud = present("CLOUDSDK_CONFIG").map(PathBuf::from).or_else(|| {
            if cfg!(windows) {
                return present("APPDATA").map(|folder| Path::new(&folder).join(GCLOUD));
            }
            home.map(|home| home.join(".config").join(GCLOUD))
        });
        let host = present("GCE_METADATA_HOST").or_else(|| present("GCE_METADATA_ROOT"));
        let timeout = present("GCE_METADATA_TIMEOUT").and_then(|text| text.parse::<u64>().ok());
        let backoff = Backoff { initial: Duration::from_secs(1), ..Backoff::MID_STREAM };
        Self {
            named_file: present("GOOGLE_APPLICATION_CREDENTIALS").map(PathBuf::from),
            gcloud_file: gcloud.map(|folder| folder.join(WELL_KNOWN)),
            quota_project: present("GOOGLE_CLOUD_QUOTA_PROJECT"),
            is_metadata_named: host.is_some(),
            metadata_host: host.unwrap_or_else(|| METADATA_HOST.to_owned()),
            uses_metadata: present("NO_GCE_CHECK").is_none_or(|text| text != "true"),
            metadata_timeout: Duration::from_secs(timeout.unwrap_or(3).clamp(1, 60)),
            iam: IAM.to_owned(),
            backoff: backoff.with_environment(lookup),
            client,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setup(variables: &[(&str, &str)]) -> GoogleSetup {
        let lookup = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        GoogleSetup::from_environment(&lookup, Some(Path::new("/h")), ClientOptions::default())
    }

    #[test]
    fn variables_are_those_of_the_libraries() {
        let plain = setup(&[("GOOGLE_APPLICATION_CREDENTIALS", " ")]);
        assert_eq!(plain.named_file, None);
        assert!(plain.uses_metadata && !plain.is_metadata_named);
        assert_eq!(plain.metadata_host, METADATA_HOST);
        if !cfg!(windows) {
            let expected = "/h/.config/gcloud/application_default_credentials.json";
            assert_eq!(plain.gcloud_file, Some(PathBuf::from(expected)));
        }
        let set = setup(&[
            ("GOOGLE_APPLICATION_CREDENTIALS", "/f.json"),
            ("CLOUDSDK_CONFIG", "/c"),
            ("GOOGLE_CLOUD_QUOTA_PROJECT", "q"),
            ("GCE_METADATA_HOST", "127.0.0.1:9"),
            ("GCE_METADATA_TIMEOUT", "1000"),
            ("NO_GCE_CHECK", "true"),
        ]);
        assert_eq!(set.named_file, Some(PathBuf::from("/f.json")));
        assert_eq!(set.gcloud_file, Some(Path::new("/c").join(WELL_KNOWN)));
        assert_eq!(set.quota_project.as_deref(), Some("q"));
        assert!(set.is_metadata_named && !set.uses_metadata);
        assert_eq!(set.metadata_timeout, Duration::from_mins(1));
    }
}
