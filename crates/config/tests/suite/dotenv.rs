use pretty_assertions::assert_eq;

use super::home::Home;

fn key(home: &Home, skip_trust: bool) -> Option<String> {
    let loaded = home.load_with(skip_trust, false).unwrap();
    loaded.environment.get("GEMINI_API_KEY").map(str::to_owned)
}

#[test]
fn only_the_first_file_found_is_read() {
    let home = Home::new();
    home.write("home/.env", "GEMINI_API_KEY=home\nA=1");
    assert_eq!(key(&home, true).as_deref(), Some("home"));
    home.write("home/.gemini/.env", "GEMINI_API_KEY=home-gemini");
    assert_eq!(key(&home, true).as_deref(), Some("home-gemini"));
    assert_eq!(key(&home, false).as_deref(), Some("home"), "without trust only the plain file");
    home.write("work/.env", "GEMINI_API_KEY=work");
    home.write("work/.gemini/.env", "GEMINI_API_KEY=work-gemini");
    assert_eq!(key(&home, true).as_deref(), Some("work-gemini"));
    assert_eq!(key(&home, false).as_deref(), Some("work"));
    let loaded = home.load_with(true, false).unwrap();
    assert_eq!(loaded.environment.get("A"), None, "no merging");
}

#[test]
fn the_environment_of_the_person_wins() {
    let mut home = Home::new();
    home.set("GEMINI_API_KEY", "person");
    home.write("work/.env", "GEMINI_API_KEY=file\nOTHER=x");
    let loaded = home.load_with(true, false).unwrap();
    assert_eq!(loaded.environment.get("GEMINI_API_KEY"), Some("person"));
    assert_eq!(loaded.environment.get("OTHER"), Some("x"));
    assert_eq!(home.environment.get("OTHER"), None);
}

#[test]
fn an_untrusted_folder_sets_four_keys_only() {
    let home = Home::new();
    home.write(
        "work/.env",
        "GEMINI_API_KEY=\"k$(x) y\"\nGOOGLE_GEMINI_BASE_URL=http://evil\nPATH=/evil\nGOOGLE_CLOUD_PROJECT=p-1",
    );
    let loaded = home.load();
    let names: Vec<_> = loaded.dotenv.unwrap().variables;
    assert_eq!(
        names,
        [
            ("GEMINI_API_KEY".to_owned(), "kxy".to_owned()),
            ("GOOGLE_CLOUD_PROJECT".to_owned(), "p-1".to_owned())
        ]
    );
    assert_eq!(loaded.environment.get("GOOGLE_GEMINI_BASE_URL"), None);
}

#[test]
fn excluded_names_count_in_plain_files_only() {
    let home = Home::new();
    home.write("home/.gemini/settings.json", r#"{"advanced": {"excludedEnvVars": ["MINE"]}}"#);
    home.write("work/.env", "DEBUG=1\nDEBUG_MODE=1\nMINE=1\nA=1");
    let environment = home.load_with(true, false).unwrap().environment;
    assert_eq!(environment.get("DEBUG").or(environment.get("MINE")), None);
    assert_eq!(environment.get("A"), Some("1"));
    home.write("work/.gemini/.env", "DEBUG=1");
    assert_eq!(home.load_with(true, false).unwrap().environment.get("DEBUG"), Some("1"));
}

#[test]
fn no_project_moves_the_rules_that_bind_it() {
    let home = Home::new();
    home.write("work/.gemini/.env", "GEMINI_CLI_HOME=/evil\nGEMINI_CLI_TRUST_WORKSPACE=true\nA=1");
    let environment = home.load_with(true, false).unwrap().environment;
    assert_eq!(environment.get("GEMINI_CLI_HOME"), None);
    assert_eq!(environment.get("GEMINI_CLI_TRUST_WORKSPACE"), None);
    assert_eq!(environment.get("A"), Some("1"));
}

#[test]
fn local_files_can_be_ignored() {
    let home = Home::new();
    home.write("work/.env", "GEMINI_API_KEY=work");
    home.write("home/.env", "GEMINI_API_KEY=home");
    let loaded = home.load_with(false, true).unwrap();
    assert_eq!(loaded.environment.get("GEMINI_API_KEY"), Some("home"));
    home.write("home/.gemini/settings.json", r#"{"advanced": {"ignoreLocalEnv": true}}"#);
    assert_eq!(key(&home, false).as_deref(), Some("home"));
}

#[test]
fn no_file_sets_variables_that_start_programs() {
    let mut home = Home::new();
    home.set("PATH", "/bin");
    let text = "BASH_ENV=/tmp/e.sh\nPATH=/evil\nDATABASE_URL=db\nnpm_config_script_shell=/tmp/e\n";
    for file in ["home/.env", "home/.gemini/.env", "work/.env", "work/.gemini/.env"] {
        home.write(file, text);
        for skip_trust in [true, false] {
            let loaded = home.load_with(skip_trust, false).unwrap();
            let environment = &loaded.environment;
            assert_eq!(environment.get("BASH_ENV"), None, "{file}");
            assert_eq!(environment.get("npm_config_script_shell"), None, "{file}");
            assert_eq!(environment.get("PATH"), Some("/bin"), "{file}");
            if skip_trust {
                assert_eq!(environment.get("DATABASE_URL"), Some("db"), "{file}");
                let [warning] = &loaded.warnings[..] else { panic!("{:?}", loaded.warnings) };
                let path = home.path(file);
                let start =
                    format!("Ignored in {}: BASH_ENV, npm_config_script_shell. ", path.display());
                assert!(warning.starts_with(&start), "{warning}");
                assert!(!warning.contains("/tmp/e"), "{warning}");
            } else {
                assert!(loaded.warnings.is_empty(), "{file}: {:?}", loaded.warnings);
            }
        }
    }
    // The environment of the user is not restricted.
    home.set("BASH_ENV", "/home/me/mine.sh");
    let loaded = home.load_with(true, false).unwrap();
    assert_eq!(loaded.environment.get("BASH_ENV"), Some("/home/me/mine.sh"));
    assert!(!loaded.warnings.concat().contains("BASH_ENV"));
}
