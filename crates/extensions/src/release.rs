//! Releases on GitHub: which one there is, and its archive.

use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, HeaderMap, HeaderValue};
use pollux_config::Environment;
use pollux_config::names::{GITHUB_API_URL, GITHUB_TOKEN};
use pollux_net::{ClientOptions, HttpClient, HttpRequest, PageClient, is_loopback};
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use url::Url;

use crate::archive::{ArchiveKind, MAX_ARCHIVE};

/// Address of the interface of GitHub.
const API: &str = "https://api.github.com";
/// Maximum size of an answer of this interface, in bytes.
const MAX_ANSWER: usize = 4 << 20;
/// Parts of file names that say that an archive is for one system.
const SYSTEMS: [&str; 3] = ["darwin", "linux", "win32"];

/// Repository on GitHub: its owner and its name.
pub(crate) type Repository<'a> = (&'a str, &'a str);

/// Access to releases on GitHub.
pub(crate) struct Releases {
    client: HttpClient,
    /// Client for archives. It sends no token, because their addresses lead to other hosts.
    pages: PageClient,
    api: Url,
    token: Option<HeaderValue>,
}

/// Release of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Release {
    pub(crate) tag: String,
    pub(crate) kind: ArchiveKind,
    archive: Url,
}

impl Releases {
    /// Creates the value. Nothing is requested.
    ///
    /// # Errors
    /// The message about a variable of the environment that cannot be used.
    pub(crate) fn new(environment: &Environment) -> Result<Self, String> {
        let own = environment.non_empty(GITHUB_API_URL);
        let api = Url::parse(own.unwrap_or(API));
        let api = api.map_err(|error| format!("{GITHUB_API_URL} is not an address: {error}"))?;
        let is_safe = api.scheme() == "https" || is_loopback(&api);
        let token = environment.non_empty(GITHUB_TOKEN).filter(|_| is_safe);
        let token = token.and_then(|token| HeaderValue::try_from(format!("token {token}")).ok());
        let options =
            ClientOptions::from_environment(&|name| environment.get(name).map(str::to_owned));
        // The user has named this host.
        let allowed = own.and_then(|_| api.host_str()).unwrap_or_default();
        let failed = |error: pollux_net::Error| error.to_string();
        let pages = PageClient::new(options.clone(), allowed).map_err(failed)?;
        Ok(Self { client: HttpClient::new(options).map_err(failed)?, pages, api, token })
    }

    /// Returns the release with a tag, or the newest one; `None` if there is none that the user may
    /// see.
    ///
    /// # Errors
    /// The message about a failed request or an answer that cannot be used.
    pub(crate) async fn find(
        &self,
        (owner, name): Repository<'_>,
        tag: Option<&str>,
        pre_release: bool,
    ) -> Result<Option<Release>, String> {
        let mut url = self.api.clone();
        {
            let cannot = |()| format!("{GITHUB_API_URL} is not an address of a service");
            let mut path = url.path_segments_mut().map_err(cannot)?;
            path.pop_if_empty().extend(["repos", owner, name, "releases"]);
            match tag {
                Some(tag) => drop(path.extend(["tags", tag])),
                None if pre_release => {}
                None => drop(path.push("latest")),
            }
        }
        if tag.is_none() && pre_release {
            url.set_query(Some("per_page=1"));
        }
        let mut request = HttpRequest::get(url)
            .header(ACCEPT, HeaderValue::from_static("application/vnd.github+json"));
        if let Some(token) = &self.token {
            request = request.header(AUTHORIZATION, token.clone());
        }
        let cancel = CancellationToken::new();
        let failed = |error: pollux_net::Error| error.to_string();
        let response = self.client.execute(request, &cancel).await.map_err(failed)?;
        if response.status() == http::StatusCode::NOT_FOUND {
            return Ok(None);
        }
        if !response.status().is_success() {
            return Err(format!("GitHub has answered with the status {}", response.status()));
        }
        let bytes = response.bytes(MAX_ANSWER).await.map_err(failed)?;
        let answer: Value = serde_json::from_slice(&bytes).map_err(|error| error.to_string())?;
        let answer = match answer {
            Value::Array(releases) => match releases.into_iter().next() {
                Some(release) => release,
                None => return Ok(None),
            },
            answer => answer,
        };
        release(&answer, (std::env::consts::OS, std::env::consts::ARCH)).map(Some)
    }

    /// Downloads the archive of a release.
    ///
    /// # Errors
    /// The message about a failed request, or an archive that is too large.
    pub(crate) async fn download(&self, release: &Release) -> Result<Bytes, String> {
        let cancel = CancellationToken::new();
        let failed = |error: pollux_net::Error| error.to_string();
        let page = self.pages.get(release.archive.clone(), &HeaderMap::new(), &cancel).await;
        let response = page.map_err(failed)?.response;
        if !response.status().is_success() {
            return Err(format!("the download has the status {}", response.status()));
        }
        response.bytes(MAX_ARCHIVE).await.map_err(failed)
    }
}

/// Reads a release, and chooses its archive for a system (`OS`, `ARCH` of Rust): the one whose name
/// begins with system and processor, the one whose name begins with the system, the only one if its
/// name is for no system, and otherwise the files of the tag.
fn release(answer: &Value, (system, processor): (&str, &str)) -> Result<Release, String> {
    let unusable = |what: &str| format!("the answer of GitHub has no usable {what}");
    let tag = answer["tag_name"].as_str().filter(|tag| !tag.is_empty());
    let tag = tag.ok_or_else(|| unusable("tag"))?.to_owned();
    let assets = answer["assets"].as_array().map(Vec::as_slice).unwrap_or_default();
    let assets: Vec<(String, &str)> = assets
        .iter()
        .filter_map(|asset| {
            let name = asset["name"].as_str()?.to_lowercase();
            Some((name, asset["browser_download_url"].as_str()?))
        })
        .collect();
    // The names are those of Node.js.
    let system = match system {
        "macos" => "darwin",
        "windows" => "win32",
        other => other,
    };
    let processor = match processor {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        other => other,
    };
    let begins = |beginning: String| {
        assets.iter().find(move |(name, _)| name.starts_with(beginning.as_str()))
    };
    let only = || match &assets[..] {
        [one] if !SYSTEMS.iter().any(|system| one.0.contains(system)) => Some(one),
        _ => None,
    };
    let asset = begins(format!("{system}.{processor}."))
        .or_else(|| begins(format!("{system}.")))
        .or_else(only);
    let (kind, address) = match asset {
        Some((name, address)) => {
            let kind = ArchiveKind::of(name)
                .ok_or_else(|| format!("{name} is neither a .tar.gz nor a .zip file"))?;
            (kind, *address)
        }
        None => match (answer["tarball_url"].as_str(), answer["zipball_url"].as_str()) {
            (Some(address), _) => (ArchiveKind::TarGz, address),
            (None, Some(address)) => (ArchiveKind::Zip, address),
            (None, None) => return Err(unusable("archive")),
        },
    };
    let archive = Url::parse(address).map_err(|_| unusable("address"))?;
    if archive.scheme() != "https" && !is_loopback(&archive) {
        return Err(unusable("address"));
    }
    Ok(Release { tag, kind, archive })
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;

    fn chosen(names: &[&str], system: (&str, &str)) -> Result<String, String> {
        let asset = |name: &&str| json!({"name": name, "browser_download_url": format!("https://h/{name}")});
        let assets: Vec<Value> = names.iter().map(asset).collect();
        let answer = json!({"tag_name": "v1", "tarball_url": "https://h/tar", "assets": assets});
        release(&answer, system).map(|release| release.archive.path().to_owned())
    }

    #[test]
    fn the_archive_fits_the_system() {
        let linux = ("linux", "x86_64");
        let all = ["linux.tar.gz", "darwin.arm64.x.zip", "linux.x64.x.tar.gz"];
        assert_eq!(chosen(&all, linux).unwrap(), "/linux.x64.x.tar.gz");
        assert_eq!(chosen(&all, ("linux", "aarch64")).unwrap(), "/linux.tar.gz");
        assert_eq!(chosen(&all, ("macos", "aarch64")).unwrap(), "/darwin.arm64.x.zip");
        assert_eq!(chosen(&all, ("windows", "x86_64")).unwrap(), "/tar");
        assert_eq!(chosen(&["any.zip"], linux).unwrap(), "/any.zip");
        assert_eq!(chosen(&["for-darwin.zip"], linux).unwrap(), "/tar");
        assert_eq!(chosen(&["a.zip", "b.zip"], linux).unwrap(), "/tar");
        let error = chosen(&["linux.x64.exe"], linux).unwrap_err();
        assert_eq!(error, "linux.x64.exe is neither a .tar.gz nor a .zip file");
    }

    #[test]
    fn answers_that_cannot_be_used_are_errors() {
        for answer in [
            json!({}),
            json!([]),
            json!({"tag_name": 1}),
            json!({"tag_name": "v1"}),
            json!({"tag_name": "v1", "tarball_url": "file:///etc/passwd"}),
            json!({"tag_name": "v1", "tarball_url": "http://h/x"}),
        ] {
            let error = release(&answer, ("linux", "x86_64")).unwrap_err();
            assert!(error.starts_with("the answer of GitHub has no usable "), "{error}");
        }
    }
}
