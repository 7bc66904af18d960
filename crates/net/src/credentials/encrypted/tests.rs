//! Tests of the encrypted file with content that Node.js has encrypted.

use pretty_assertions::assert_eq;
use serde_json::json;

use super::*;

/// Salt of the machine `host` and the user `me`.
const SALT: &str = "host-me-gemini-cli";

/// File with an IV of 12 bytes.
const NODE_12: &str = "\
    0c0c0c0c0c0c0c0c0c0c0c0c:98f6810d2e64ba4df39092c7644b32eb:f2a3852519908394af6e346535e7b5e9\
    09782ca90098eaf543c52ca50bacba6b0ed04f63cb9bac035207e0d0842c81fd720d0d06a519491be8dfcdfcee\
    b0794f17f1e963c040ac456a4358a91d8cdbf080cd49daf2b3d67b04e39a2ba39360c67b0c9af9469ecf40570c\
    e9bd8c9a94d3f39bba5dbaa5e7f4fbc6f0422de7d90a5c09d86359385c29d668db080ae809a4e43392fd029c9c\
    927b85a7eb2f12a74251f9cf7f4e6112ffc057708e613fadb3e3f455e64a2842049eafd1ab46850ffa06b97c65\
    7270294d076d286eca3298a1b775fbd4326f58f0b3f98883a4745eef0149dced34b5";
/// File with an IV of 16 bytes.
const NODE_16: &str = "\
    10101010101010101010101010101010:d252ad6bad5f471acd9a1e0b2da569b0:7e50100afbf22cd4f279cf8f\
    78d9acff1f4e5030c9241cead05049b52100b3461fafa78bece375eb819cd5055c654144b14fb8aef7f7874821\
    d33b22850db2bbf6d7625e1b579b1c3e2c0461b5bb64635e98984694445764ee045fa2ab22ef3dd1e3cdc226bb\
    0fcf1fe55f03e12386b0b485b8e97eb828f3921c8fdec0d9a09d459ce5b48c5a52afcff8bb27377f474a765eae\
    c292868e646267eaab511d86995d6c7d7636c4c83ba82350ab8410b1f6a87d03a1e9dd53bda21d4d43b6bc42b1\
    b7eb4f9499e0084e958a18e7ab022d64e8fed11e32652980e36cde7a736dc5ecb82431425a92";

fn file(content: &str) -> (tempfile::TempDir, EncryptedFile) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("gemini-credentials.json");
    std::fs::write(&path, content).unwrap();
    let file = EncryptedFile::new(path);
    file.key.set(derived(SALT)).unwrap();
    (folder, file)
}

#[test]
fn files_of_node_are_read_with_both_lengths_of_the_iv() {
    for content in [NODE_12, NODE_16] {
        let (_folder, file) = file(content);
        let stored = file.get("my srv").unwrap().unwrap();
        assert_eq!((stored.server_name.as_str(), stored.updated_at), ("my srv", 1));
        assert_eq!(stored.token.access_token, "AT");
        assert_eq!(stored.client_id.as_deref(), Some("cid"));
        // The same account, but another server.
        assert_eq!(file.get("my_srv").unwrap(), None);
    }
}

#[test]
fn other_services_are_kept() {
    let (_folder, file) = file(NODE_12);
    let mut stored = file.get("my srv").unwrap().unwrap();
    stored.server_name = "second".to_owned();
    file.set(&stored).unwrap();
    assert!(file.remove("my srv").unwrap());
    assert!(!file.remove("my srv").unwrap());
    assert_eq!(file.get("second").unwrap(), Some(stored));
    assert!(file.remove("second").unwrap());
    let other = json!({"gemini-cli-api-key": {"default-api-key": "k"}});
    assert_eq!(Value::Object(file.services().unwrap()), other);
}

#[test]
fn the_file_is_deleted_when_it_is_empty() {
    let (_folder, file) = file(NODE_12);
    let mut services = file.services().unwrap();
    services.shift_remove("gemini-cli-api-key");
    file.save(&services).unwrap();
    assert!(file.remove("my srv").unwrap());
    assert!(!file.path.exists());
}

#[test]
fn a_damaged_file_is_reported_and_kept() {
    let flipped = NODE_12.replace(&NODE_12[60..64], "0000");
    for content in ["", "x", "00:11", "zz:zz:zz", "00:00:0", &flipped, &NODE_12[..100]] {
        let (_folder, file) = file(content);
        let mut stored = StoredCredentials {
            server_name: "s".to_owned(),
            ..serde_json::from_value(json!({
                "serverName": "", "token": {"accessToken": ""}
            }))
            .unwrap()
        };
        stored.updated_at = 2;
        for error in [file.get("s").unwrap_err(), file.set(&stored).unwrap_err()] {
            let text = error.to_string();
            assert!(text.starts_with("Corrupted credentials file detected at: "), "{text}");
        }
        assert_eq!(std::fs::read_to_string(&file.path).unwrap(), content);
    }
}

#[test]
fn no_two_texts_have_the_same_iv() {
    let key = derived(SALT).unwrap();
    let [first, second] = [(); 2].map(|()| encrypted(b"text", &key).unwrap());
    assert_ne!(first[..24], second[..24]);
    assert_eq!(decrypted(first.as_bytes(), &key).unwrap(), b"text");
}

#[test]
fn accounts_are_those_of_javascript() {
    for (server, expected) in
        [("a-B_9.c", "a-B_9.c"), ("a b/c", "a_b_c"), ("ä", "_"), ("😀", "__"), ("", "")]
    {
        assert_eq!(account(server), expected, "{server}");
    }
}
