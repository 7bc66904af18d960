//! Tests of the store with both formats.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use pretty_assertions::assert_eq;
use serde_json::json;

use super::*;

fn credentials(server: &str, token: &str) -> StoredCredentials {
    serde_json::from_value(json!({
        "serverName": server,
        "token": {
            "accessToken": token, "tokenType": "Bearer", "refreshToken": "r", "scope": "a b",
            "expiresAt": 1_795_730_745_421_u64,
        },
        "clientId": "cid",
        "tokenUrl": "https://h/token",
        "mcpServerUrl": "https://h/mcp",
        "updatedAt": 1,
    }))
    .unwrap()
}

fn plain(folder: &Path) -> CredentialStore {
    CredentialStore::of_servers(folder, CredentialFormat::Plain)
}

/// The file exactly as Gemini CLI 0.61 writes it.
const WRITTEN: &str = r#"[
  {
    "serverName": "s",
    "token": {
      "accessToken": "AT",
      "tokenType": "Bearer",
      "refreshToken": "r",
      "scope": "a b",
      "expiresAt": 1795730745421
    },
    "clientId": "cid",
    "tokenUrl": "https://h/token",
    "mcpServerUrl": "https://h/mcp",
    "updatedAt": 1
  }
]"#;

#[test]
fn the_plain_file_is_that_of_gemini_cli() {
    let folder = tempfile::tempdir().unwrap();
    let store = plain(&folder.path().join("new"));
    assert_eq!(store.get("s").unwrap(), None);
    assert!(!store.remove("s").unwrap());
    assert!(!folder.path().join("new").exists());
    store.set(&credentials("s", "AT")).unwrap();
    assert_eq!(std::fs::read_to_string(store.path()).unwrap(), WRITTEN);
    assert_eq!(store.get("s").unwrap(), Some(credentials("s", "AT")));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = std::fs::metadata(store.path()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    assert!(store.remove("s").unwrap());
    assert!(!store.path().exists(), "an empty file is deleted");
}

#[test]
fn what_is_not_known_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let store = plain(folder.path());
    let before = json!([
        7,
        {"serverName": "broken", "token": 1},
        {
            "serverName": "s", "token": {"accessToken": "old", "own": [1]}, "updatedAt": 1.5,
            "isNew": true,
        },
    ]);
    std::fs::write(store.path(), before.to_string()).unwrap();
    let mut stored = store.get("s").unwrap().unwrap();
    stored.token.access_token = "new".to_owned();
    store.set(&stored).unwrap();
    let after: Value = serde_json::from_slice(&std::fs::read(store.path()).unwrap()).unwrap();
    assert_eq!(after[0], before[0]);
    assert_eq!(after[1], before[1]);
    let token = json!({"accessToken": "new", "tokenType": "Bearer", "own": [1]});
    let expected = json!({"serverName": "s", "token": token, "updatedAt": 1, "isNew": true});
    assert_eq!(after[2], expected);
    let error = store.get("broken").unwrap_err().to_string();
    assert!(error.contains("the entry of \"broken\": invalid type"), "{error}");
    assert!(store.remove("broken").unwrap());
}

#[test]
fn a_broken_file_is_reported_and_never_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let store = plain(folder.path());
    for content in ["", "[{", "{}", "null", "\u{0}", "[] []"] {
        std::fs::write(store.path(), content).unwrap();
        let errors = [
            store.get("s").unwrap_err(),
            store.set(&credentials("s", "AT")).unwrap_err(),
            store.remove("s").unwrap_err(),
        ];
        for error in errors {
            let text = error.to_string();
            let start = "The file of stored credentials is broken: ";
            assert!(text.starts_with(start) && text.contains("mcp-oauth-tokens.json"), "{text}");
        }
        assert_eq!(std::fs::read_to_string(store.path()).unwrap(), content);
    }
    std::fs::write(store.path(), vec![b' '; LARGEST as usize + 1]).unwrap();
    assert!(matches!(store.get("s").unwrap_err(), CredentialError::File(_)));
}

#[test]
fn concurrent_changes_are_all_kept() {
    for format in [CredentialFormat::Plain, CredentialFormat::Encrypted] {
        let folder = tempfile::tempdir().unwrap();
        let store = CredentialStore::of_servers(folder.path(), format);
        std::thread::scope(|scope| {
            for thread in 0..4 {
                // Another process has a store of its own, but the key takes long to derive.
                let store = store.clone();
                scope.spawn(move || {
                    for server in 0..5 {
                        let name = format!("{thread} {server}");
                        store.set(&credentials(&name, &name)).unwrap();
                    }
                });
            }
        });
        for name in (0..4).flat_map(|thread| (0..5).map(move |server| format!("{thread} {server}")))
        {
            assert_eq!(store.get(&name).unwrap(), Some(credentials(&name, &name)));
        }
    }
}

#[test]
fn one_holder_at_a_time_renews_the_token_of_a_server() {
    let folder = tempfile::tempdir().unwrap();
    let store = plain(folder.path());
    let holders = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let lock = store.lock_refresh("s/../x", Duration::from_secs(30)).unwrap();
                assert_eq!(holders.fetch_add(1, Ordering::SeqCst), 0);
                std::thread::sleep(Duration::from_millis(20));
                holders.fetch_sub(1, Ordering::SeqCst);
                drop(lock);
            });
        }
    });
    let held = store.lock_refresh("s", Duration::ZERO).unwrap();
    assert!(store.lock_refresh("s", Duration::ZERO).is_err());
    drop(store.lock_refresh("other", Duration::ZERO).unwrap());
    let since = Instant::now();
    drop(held);
    assert!(since.elapsed() < STALE_HALF, "the thread ends at once");
    drop(store.lock_refresh("s", Duration::ZERO).unwrap());
}

const STALE_HALF: Duration = Duration::from_secs(2);

#[test]
fn no_secret_is_shown() {
    let shown = format!("{:?}", credentials("s", "hidden"));
    assert!(!shown.contains("hidden") && !shown.contains("\"r\""), "{shown}");
}
