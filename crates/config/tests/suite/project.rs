use std::fs;

use pollux_config::{ProjectIdentity, installation_id};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::home::Home;

fn resolve(home: &Home, name: &str) -> ProjectIdentity {
    fs::create_dir_all(home.path(name)).unwrap();
    ProjectIdentity::resolve(&home.places, &home.path(name))
}

fn registry(home: &Home) -> Value {
    serde_json::from_str(&fs::read_to_string(home.places.projects_file()).unwrap()).unwrap()
}

#[test]
fn a_new_project_is_registered_and_marked() {
    let home = Home::new();
    let project = resolve(&home, "a/My App");
    assert_eq!(project.slug, "my-app");
    assert_eq!(project.warning, None);
    assert_eq!(project.temporary_dir, home.path("home/.gemini/tmp/my-app"));
    let root = home.path("a/My App");
    assert_eq!(registry(&home), json!({"projects": {root.to_str().unwrap(): "my-app"}}));
    for parent in ["tmp", "history"] {
        let marker = home.path(&format!("home/.gemini/{parent}/my-app/.project_root"));
        assert_eq!(fs::read_to_string(marker).unwrap(), root.to_str().unwrap());
    }
    assert_eq!(resolve(&home, "a/My App"), project);
}

#[test]
fn projects_of_the_same_name_are_distinguished() {
    let home = Home::new();
    let slugs: Vec<_> =
        ["a/app", "b/app", "c/app", "b/app"].map(|name| resolve(&home, name).slug).into();
    assert_eq!(slugs, ["app", "app-1", "app-2", "app-1"]);
}

#[test]
fn a_known_project_is_found_without_a_write() {
    let home = Home::new();
    let project = resolve(&home, "app");
    let before = fs::metadata(home.places.projects_file()).unwrap().modified().unwrap();
    // A lock held by another process would make a write wait.
    fs::create_dir(home.path("home/.gemini/projects.json.lock")).unwrap();
    let started = std::time::Instant::now();
    assert_eq!(resolve(&home, "app"), project);
    // A write would wait for the lock.
    assert!(started.elapsed().as_secs() < 5);
    assert_eq!(fs::metadata(home.places.projects_file()).unwrap().modified().unwrap(), before);
}

#[test]
fn a_lost_registry_is_found_again_by_the_markers() {
    let home = Home::new();
    resolve(&home, "a/app");
    let second = resolve(&home, "b/app");
    fs::remove_file(home.places.projects_file()).unwrap();
    assert_eq!(resolve(&home, "b/app"), second);
}

#[test]
fn a_broken_registry_is_kept_and_rebuilt() {
    let home = Home::new();
    let project = resolve(&home, "app");
    fs::write(home.places.projects_file(), "{ torn").unwrap();
    assert_eq!(resolve(&home, "app"), project);
    assert_eq!(
        fs::read_to_string(home.path("home/.gemini/projects.json.broken")).unwrap(),
        "{ torn"
    );
    assert!(registry(&home)["projects"].is_object());
}

#[test]
fn a_mapping_that_the_markers_contradict_is_dropped() {
    let home = Home::new();
    resolve(&home, "app");
    home.write("home/.gemini/tmp/app/.project_root", "/someone/else/app");
    let healed = resolve(&home, "app");
    assert_eq!(healed.slug, "app-1");
    assert_eq!(resolve(&home, "app"), healed);
}

#[test]
fn a_hostile_name_in_the_registry_leads_nowhere() {
    let home = Home::new();
    let root = home.path("app");
    let text = json!({"projects": {root.to_str().unwrap(): "../../evil"}, "other": 1}).to_string();
    home.write("home/.gemini/projects.json", &text);
    assert_eq!(resolve(&home, "app").slug, "app");
    assert_eq!(registry(&home)["other"], json!(1), "what is not ours to know is kept");
}

#[test]
fn state_of_old_versions_is_copied() {
    let home = Home::new();
    let hash = resolve(&Home::new(), "x").hash.len();
    assert_eq!(hash, 64);
    let other = Home::new();
    let hash = ProjectIdentity::resolve(&other.places, &home.path("app")).hash;
    let old = home.write(&format!("home/.gemini/tmp/{hash}/chats/session.json"), "{}");
    let project = resolve(&home, "app");
    assert!(project.chats_dir().join("session.json").is_file());
    assert!(old.is_file(), "copied, not moved");
}

#[test]
fn a_home_that_cannot_be_used_is_replaced_and_said() {
    let mut home = Home::new();
    // A file in place of the directory makes the access fail for every user, including root.
    home.write("no-home", "");
    let path = home.path("no-home");
    home.set("GEMINI_CLI_HOME", path.to_str().unwrap());
    let project = resolve(&home, "app");
    assert!(project.warning.unwrap().contains("Could not use"));
    assert!(project.temporary_dir.starts_with(home.path("temporary")));
    assert!(project.temporary_dir.is_dir());
}

#[test]
fn two_processes_register_at_once() {
    let home = Home::new();
    let roots: Vec<_> = (0..6).map(|n| home.path(&format!("{n}/app"))).collect();
    let slugs: Vec<String> = std::thread::scope(|scope| {
        let threads: Vec<_> = roots
            .iter()
            .map(|root| scope.spawn(|| ProjectIdentity::resolve(&home.places, root).slug))
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let mut unique = slugs.clone();
    unique.sort();
    unique.dedup();
    assert_eq!(unique.len(), slugs.len(), "{slugs:?}");
}

#[test]
fn the_installation_keeps_its_identity() {
    let home = Home::new();
    let first = installation_id(&home.places);
    assert_eq!(installation_id(&home.places), first);
    assert_eq!(fs::read_to_string(home.places.installation_id()).unwrap(), first);
    home.write("home/.gemini/installation_id", "from-gemini-cli\n");
    assert_eq!(installation_id(&home.places), "from-gemini-cli");
    home.write("home/.gemini/installation_id", "a\r\nX-Evil: b");
    assert!(!installation_id(&home.places).contains("Evil"));
}
