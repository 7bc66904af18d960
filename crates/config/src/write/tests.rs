use std::path::Path;

use pretty_assertions::assert_eq;
use serde_json::json;

use super::*;

fn set(path: &Path, key: &str, value: &serde_json::Value) -> Result<Changed, ConfigError> {
    edit_file(FileScope::User, path, &|text| edit::set(path, text, &names(key), value))
}

#[test]
fn a_new_file_is_made_with_its_folder() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a/b/settings.json");
    assert_eq!(set(&path, "x.y", &json!(1)).unwrap(), Changed::Yes);
    let text = std::fs::read_to_string(&path).unwrap();
    assert_eq!(text, "{\n  \"x\": {\n    \"y\": 1\n  }\n}");
    assert_eq!(set(&path, "x.y", &json!(1)).unwrap(), Changed::No);
    let left: Vec<_> = std::fs::read_dir(path.parent().unwrap()).unwrap().collect();
    assert_eq!(left.len(), 1, "neither lock nor temporary file is left: {left:?}");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}

#[test]
fn what_changes_nothing_makes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a/settings.json");
    let same = edit_file(FileScope::Project, &path, &|text| Ok(text.to_owned()));
    assert_eq!(same.unwrap(), Changed::No);
    assert!(!folder.path().join("a").exists());
}

#[test]
fn files_that_cannot_be_understood_stay_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("settings.json");
    let utf16: Vec<u8> = "\u{feff}{}".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let table: [(&[u8], &str); 6] = [
        (b"{\n  \"a\": 1,\n}", "(line 2, column 9)"),
        (b"{\"a\": \"\xff\"}", "not UTF-8, so Pollux does not change it (line 1, column 8)"),
        (&utf16, "UTF-16 (little endian)"),
        (b"[1]", "not a valid JSON object"),
        (b"{\"x\": 1}", "x is no object but of type number (line 1, column 7)"),
        (b"{\"a\": \"\0\"}", "line 1"),
    ];
    for (bytes, words) in table {
        std::fs::write(&path, bytes).unwrap();
        let error = set(&path, "x.y", &json!(1)).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
        assert_eq!(std::fs::read(&path).unwrap(), bytes);
    }
}

#[cfg(unix)]
#[test]
fn a_link_stays_a_link() {
    let folder = tempfile::tempdir().unwrap();
    let (target, path) = (folder.path().join("dotfiles.json"), folder.path().join("settings.json"));
    std::fs::write(&target, "{\"a\": 1}\n").unwrap();
    std::os::unix::fs::symlink(&target, &path).unwrap();
    set(&path, "b", &json!(2)).unwrap();
    assert!(path.is_symlink());
    assert_eq!(std::fs::read_to_string(&target).unwrap(), "{\n  \"a\": 1,\n  \"b\": 2\n}\n");
}

#[test]
fn many_writers_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("settings.json");
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let path = &path;
            scope.spawn(move || {
                for number in 0..5 {
                    set(path, &format!("w{writer}.n{number}"), &json!(number)).unwrap();
                }
            });
        }
    });
    let value = jsonc::parse(&path, &std::fs::read_to_string(&path).unwrap()).unwrap();
    for writer in 0..4 {
        assert_eq!(value[format!("w{writer}")].as_object().unwrap().len(), 5);
    }
}

#[test]
fn old_keys_are_rewritten() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("settings.json");
    assert!(migrate_file(FileScope::User, &path).unwrap().is_empty(), "no file, no keys");
    std::fs::write(&path, "{\n  // updates\n  \"general\": {\"disableAutoUpdate\": true}\n}\n")
        .unwrap();
    assert_eq!(migrate_file(FileScope::User, &path).unwrap(), ["general.disableAutoUpdate"]);
    let text = std::fs::read_to_string(&path).unwrap();
    let general = "\"general\": {\n    \"enableAutoUpdate\": false\n  }";
    assert_eq!(text, format!("{{\n  // updates\n  {general}\n}}\n"));
    assert!(migrate_file(FileScope::User, &path).unwrap().is_empty());
}
