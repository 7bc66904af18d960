use super::*;
use proptest::prelude::*;

fn environment(base: &[(&str, &str)], credentials: &[&str]) -> Vec<(String, String)> {
    let base = base.iter().map(|&(name, value)| (name.into(), value.into()));
    child_environment(base, credentials, Some(Path::new("/state/empty.gitconfig")))
        .into_iter()
        .map(|(name, value)| (name.into_string().unwrap(), value.into_string().unwrap()))
        .collect()
}

fn value<'a>(environment: &'a [(String, String)], name: &str) -> Option<&'a str> {
    environment.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
}

#[test]
fn fixed_variables_replace_the_users() {
    let result = environment(&[("PAGER", "less"), ("PATH", "/bin"), ("DISPLAY", ":0")], &[]);
    assert_eq!(value(&result, "PAGER"), Some("cat"));
    assert_eq!(value(&result, "DISPLAY"), Some(""));
    assert_eq!(value(&result, "PATH"), Some("/bin"));
    assert_eq!(value(&result, "GEMINI_CLI"), Some("1"));
}

#[test]
fn no_variable_names_a_device_that_git_could_replace() {
    let result = environment(&[("GIT_CONFIG_GLOBAL", "/dev/null")], &[]);
    for name in GIT_FILES {
        assert_eq!(value(&result, name), Some("/state/empty.gitconfig"));
    }
    assert!(result.iter().all(|(_, value)| value != "/dev/null"), "{result:?}");
}

#[cfg(unix)]
#[test]
fn the_git_configuration_is_empty_again_whatever_became_of_it() {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    let folder = tempfile::tempdir().unwrap();
    let other = folder.path().join("other");
    let state = folder.path().join("state");
    let file = state.join("empty.gitconfig");
    let harms: [&dyn Fn(); 6] = [
        &|| (),
        &|| fs::remove_file(&file).unwrap(),
        &|| {
            fs::remove_file(&file).unwrap();
            fs::write(&file, "[diff]\n\texternal = harm\n").unwrap();
        },
        &|| fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).unwrap(),
        &|| {
            fs::remove_file(&file).unwrap();
            fs::write(&other, "").unwrap();
            symlink(&other, &file).unwrap();
        },
        &|| fs::remove_dir_all(&state).unwrap(),
    ];
    for (number, harm) in harms.iter().enumerate() {
        // The first call creates the file.
        assert_eq!(empty_git_config(&state), file);
        harm();
        assert_eq!(empty_git_config(&state), file, "{number}");
        let info = fs::symlink_metadata(&file).unwrap();
        assert!(info.is_file() && info.len() == 0, "{number}");
        assert_eq!(info.permissions().mode() & 0o777, 0o400, "{number}");
    }
    assert_eq!(fs::read(&other).unwrap(), b"", "what a link led to is left alone");

    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    fs::write(file.join("config"), "").unwrap();
    assert_eq!(empty_git_config(&state), Path::new(NOWHERE));
}

/// Git replaces the file that it is given, which is why that file is not a device.
#[cfg(unix)]
#[test]
fn what_git_writes_globally_is_gone_at_the_next_command() {
    use std::process::Command;

    let state = tempfile::tempdir().unwrap();
    let git = |arguments: &[&str]| {
        let base = std::env::vars_os().filter(|(name, _)| name == "PATH");
        let git_config = empty_git_config(state.path());
        let environment = child_environment(base, &[], Some(&git_config));
        let device = |(_, value): &(_, OsString)| value.to_string_lossy().contains("/dev/");
        assert!(!environment.iter().any(device), "Git could replace a device: {environment:?}");
        let mut command = Command::new("git");
        command.env_clear().envs(environment).current_dir(state.path()).args(arguments);
        let run = command.output().unwrap();
        (run.status.success(), String::from_utf8(run.stdout).unwrap())
    };
    let (listed, nothing) = git(&["config", "--global", "--list"]);
    assert_eq!((listed, nothing.as_str()), (true, ""));
    let written = git(&["config", "--global", "user.name", "x"]);
    assert!(written.0);
    let file = state.path().join("empty.gitconfig");
    assert!(std::fs::read_to_string(&file).unwrap().contains("name = x"));
    assert_eq!(git(&["config", "--global", "--list"]), (true, String::new()));
}

#[test]
fn only_the_named_credentials_go() {
    let base = [("GEMINI_API_KEY", "secret"), ("GITHUB_TOKEN", "other"), ("GEMINI_API_KEY_2", "x")];
    let result = environment(&base, &["GEMINI_API_KEY"]);
    assert_eq!(value(&result, "GEMINI_API_KEY"), None);
    assert_eq!(value(&result, "GITHUB_TOKEN"), Some("other"));
    assert_eq!(value(&result, "GEMINI_API_KEY_2"), Some("x"));
}

#[test]
fn git_settings_start_at_zero() {
    let result = environment(&[], &[]);
    assert_eq!(value(&result, "GIT_CONFIG_COUNT"), Some("8"));
    assert_eq!(value(&result, "GIT_CONFIG_KEY_0"), Some("credential.helper"));
    assert_eq!(value(&result, "GIT_CONFIG_KEY_4"), Some("core.pager"));
    assert_eq!(value(&result, "GIT_CONFIG_VALUE_4"), Some("cat"));
}

#[test]
fn git_settings_follow_those_already_there() {
    let base = [
        ("GIT_CONFIG_COUNT", "1"),
        ("GIT_CONFIG_KEY_0", "safe.directory"),
        ("GIT_CONFIG_VALUE_0", "*"),
        ("GIT_CONFIG_KEY_1", "stale"),
    ];
    let result = environment(&base, &[]);
    assert_eq!(value(&result, "GIT_CONFIG_COUNT"), Some("9"));
    assert_eq!(value(&result, "GIT_CONFIG_KEY_0"), Some("safe.directory"));
    assert_eq!(value(&result, "GIT_CONFIG_KEY_1"), Some("credential.helper"));
}

#[test]
fn an_unreadable_git_count_starts_afresh() {
    for count in ["", "-1", "many", "99999999999999"] {
        let result = environment(&[("GIT_CONFIG_COUNT", count)], &[]);
        assert_eq!(value(&result, "GIT_CONFIG_COUNT"), Some("8"), "{count}");
    }
}

proptest! {
    #[test]
    fn no_name_twice_and_no_credential(
        names in proptest::collection::hash_set("[A-Z_]{1,12}|GIT_CONFIG_KEY_[0-9]|PAGER|TERM", 0..12),
        count in 0u32..10,
    ) {
        let mut base: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "v")).collect();
        let count = count.to_string();
        base.push(("GIT_CONFIG_COUNT", &count));
        let credentials: Vec<&str> = names.iter().take(2).map(String::as_str)
            .filter(|name| value(&environment(&[], &[]), name).is_none()).collect();
        let result = environment(&base, &credentials);
        let names = result.iter().map(|(name, _)| name);
        let unique: std::collections::HashSet<&String> = names.collect();
        prop_assert_eq!(unique.len(), result.len());
        for credential in credentials {
            let ours = credential.starts_with("GIT_CONFIG_");
            prop_assert!(ours || value(&result, credential).is_none());
        }
    }
}
