//! Consent items for a folder's hooks: a description of each hook for the user, and the check that
//! a hook has not changed since the user agreed to it.

use std::path::Path;

use pollux_config::Accepted;
use pollux_config::consent::{CommandFiles, item, kinds};
use pollux_protocol::ConsentItem;
use pollux_shell::{Dialect, Shell, command_line};
use serde_json::json;

use crate::definition::{Hook, HookSource};

/// Returns one item for each hook in the folder's settings, in the order of the settings.
pub fn consent_items(hooks: &[Hook], cwd: &Path) -> Vec<ConsentItem> {
    let own = hooks.iter().filter(|hook| hook.source == HookSource::Project);
    own.map(|hook| item_of(hook, cwd)).collect()
}

/// Variables that hold the path of the project in the command of a hook.
const PROJECT: [&str; 3] = ["GEMINI_PROJECT_DIR", "CLAUDE_PROJECT_DIR", "GEMINI_CWD"];

/// Returns the item of a hook. Its content is the whole definition of the hook, and the project
/// files that its command line names.
fn item_of(hook: &Hook, cwd: &Path) -> ConsentItem {
    let files = files_of(hook, cwd);
    let content = json!({
        "event": hook.event.as_str(),
        "matcher": hook.matcher,
        "sequential": hook.sequential,
        "command": hook.command,
        "timeout": hook.timeout.as_millis() as u64,
        "environment": hook.environment,
        "files": files.content,
    });
    files.complete(item(kinds::HOOK, hook.label(), detail(hook), content.to_string().as_bytes()))
}

/// Returns the project files that a hook names in its command line and its variables.
fn files_of(hook: &Hook, cwd: &Path) -> CommandFiles {
    // A hook runs in the project's folder.
    let command = PROJECT.iter().fold(hook.command.clone(), |command, name| {
        command.replace(&format!("${{{name}}}"), ".").replace(&format!("${name}"), ".")
    });
    let dialect = Shell::current().map_or(Dialect::Posix, |shell| shell.dialect);
    let words = command_line::constant_words(&command, dialect);
    // In a command line that cannot be parsed, quotes may occur in the middle of a path.
    let plain = command.replace(['"', '\''], "");
    let variables = hook.environment.iter().map(|(_, value)| value.as_str());
    let texts: Vec<&str> =
        [command.as_str(), plain.as_str()].into_iter().chain(variables).collect();
    CommandFiles::find(&texts, words.as_deref(), cwd, cwd)
}

fn detail(hook: &Hook) -> String {
    let matcher = match &hook.matcher {
        Some(matcher) => format!(" ({matcher})"),
        None => String::new(),
    };
    let variables: Vec<String> =
        hook.environment.iter().map(|(name, value)| format!("{name}={value} ")).collect();
    format!("at {}{matcher} runs: {}{}", hook.event, variables.concat(), hook.command)
}

/// Returns the hooks that may run. A hook that the user agreed to individually stores the hash of
/// that consent item.
pub(crate) fn allowed(hooks: Vec<Hook>, accepted: &Accepted, cwd: &Path) -> Vec<Hook> {
    let judge = |mut hook: Hook| {
        if hook.source != HookSource::Project || *accepted == Accepted::everything() {
            return Some(hook);
        }
        let item = item_of(&hook, cwd);
        let agreed = accepted.accepts(&item);
        hook.pin = Some(item.hash);
        agreed.then_some(hook)
    };
    hooks.into_iter().filter_map(judge).collect()
}

/// Returns true if a hook has changed since the user agreed to it.
pub(crate) fn has_changed(hook: &Hook, cwd: &Path) -> bool {
    hook.pin.as_ref().is_some_and(|pin| *pin != item_of(hook, cwd).hash)
}

#[cfg(test)]
mod tests {
    use pollux_config::{Layer, LayerKind};
    use pretty_assertions::assert_eq;
    use serde_json::Value;

    use super::*;

    fn hooks(kind: LayerKind, command: &str) -> Vec<Hook> {
        let hook: Value = json!({"type": "command", "command": command});
        let value = json!({"hooks": {"BeforeTool": [{"matcher": "glob", "hooks": [hook]}]}});
        crate::read(&[Layer { kind, path: "/s".into(), value }]).hooks
    }

    #[test]
    fn an_item_tells_what_would_run() {
        let items = consent_items(&hooks(LayerKind::Workspace, "./h.sh"), Path::new("/p"));
        assert_eq!(items.len(), 1);
        assert_eq!((items[0].kind.as_str(), items[0].name.as_str()), ("hook", "./h.sh"));
        let lines: Vec<&str> = items[0].detail.lines().collect();
        assert_eq!(
            lines,
            ["at BeforeTool (glob) runs: ./h.sh", "No project file is pinned with it."]
        );
        assert!(consent_items(&hooks(LayerKind::User, "./h.sh"), Path::new("/p")).is_empty());
    }

    #[test]
    fn a_byte_of_a_script_is_another_hook() {
        let folder = tempfile::tempdir().unwrap();
        let cwd = folder.path();
        std::fs::create_dir(cwd.join("hooks")).unwrap();
        let script = cwd.join("hooks/h.py");
        for command in [
            "python3 hooks/h.py",
            "\"$GEMINI_PROJECT_DIR/hooks/h.py\" --x",
            "\"$GEMINI_PROJECT_DIR\"/hooks/h.py --x",
            "true && ./hooks/h.py|cat",
            "python3 ${CLAUDE_PROJECT_DIR}/hooks/h.py",
        ] {
            std::fs::write(&script, "a").unwrap();
            let given = hooks(LayerKind::Workspace, command);
            let accepted = Accepted::only(&consent_items(&given, cwd));
            let agreed = allowed(given.clone(), &accepted, cwd);
            assert_eq!(agreed.len(), 1);
            assert!(!has_changed(&agreed[0], cwd));
            std::fs::write(&script, "b").unwrap();
            assert!(has_changed(&agreed[0], cwd), "{command}");
            assert!(allowed(given, &accepted, cwd).is_empty());
        }
    }

    #[test]
    fn only_a_person_agrees_to_a_command_that_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a b.sh"), "").unwrap();
        let item = |command: &str| {
            let hooks = hooks(LayerKind::Workspace, command);
            let item = consent_items(&hooks, folder.path()).remove(0);
            (item.needs_user, item.detail.contains("pinned with it: a b.sh"))
        };
        for command in [
            "sh 'a b.sh'",
            "\"$GEMINI_PROJECT_DIR/a b.sh\"",
            "\"${CLAUDE_PROJECT_DIR}\"/'a b.sh' --x",
            "cd \"$GEMINI_CWD\" && sh a\\ b.sh > log 2>&1",
            "env sh -c \"'./a b.sh'\"",
        ] {
            assert_eq!(item(command), (false, true), "{command}");
        }
        for command in ["sh \"$SCRIPT\"", "sh $(ls)", "sh ./*.sh", "cat 'a b.sh' | sh", "xargs sh"]
        {
            assert!(item(command).0, "{command}");
        }
    }

    #[test]
    fn who_may_run() {
        let table = [
            (LayerKind::User, Accepted::nothing(), true),
            (LayerKind::System, Accepted::nothing(), true),
            (LayerKind::Workspace, Accepted::nothing(), false),
            (LayerKind::Workspace, Accepted::everything(), true),
        ];
        for (kind, accepted, expected) in table {
            let runs = !allowed(hooks(kind, "x"), &accepted, Path::new("/p")).is_empty();
            assert_eq!(runs, expected, "{kind:?} {accepted:?}");
        }
    }
}
