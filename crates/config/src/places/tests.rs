use pretty_assertions::assert_eq;

use super::*;

fn places(pairs: &[(&str, &str)]) -> Places {
    Places::new(&Environment::from_pairs(pairs.iter().copied()))
}

#[cfg(unix)]
#[test]
fn the_home_directory() {
    let cases: [(&[(&str, &str)], &str); 4] = [
        (&[("HOME", "/h")], "/h"),
        (&[("HOME", "/h"), ("GEMINI_CLI_HOME", "/g")], "/g"),
        (&[("HOME", "/h"), ("GEMINI_CLI_HOME", "")], "/h"),
        (&[("TMPDIR", "/t")], "/t"),
    ];
    for (pairs, home) in cases {
        assert_eq!(places(pairs).home, Path::new(home), "{pairs:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn system_files() {
    let standard = places(&[("HOME", "/h")]);
    assert_eq!(standard.system_settings, Path::new("/etc/gemini-cli/settings.json"));
    assert_eq!(standard.system_defaults, Path::new("/etc/gemini-cli/system-defaults.json"));
    assert_eq!(standard.trusted_folders, Path::new("/h/.gemini/trustedFolders.json"));

    let moved = places(&[
        ("GEMINI_CLI_SYSTEM_SETTINGS_PATH", "/s/a.json"),
        ("GEMINI_CLI_TRUSTED_FOLDERS_PATH", "/s/t.json"),
    ]);
    assert_eq!(moved.system_settings, Path::new("/s/a.json"));
    assert_eq!(moved.system_defaults, Path::new("/s/system-defaults.json"));
    assert_eq!(moved.trusted_folders, Path::new("/s/t.json"));
}

#[test]
fn home_is_expanded_at_the_start_only() {
    let places = places(&[("GEMINI_CLI_HOME", "/home/me")]);
    let table = [
        ("~", "/home/me"),
        ("~/x", "/home/me/x"),
        ("%USERPROFILE%/x", "/home/me/x"),
        ("~you/x", "~you/x"),
        ("a/~", "a/~"),
        ("ümlaut", "ümlaut"),
    ];
    for (given, expected) in table {
        assert_eq!(places.expand_home(given), Path::new(expected), "{given}");
    }
}
