//! Slash commands that list hooks and switch them on and off.

use std::sync::Arc;

use async_trait::async_trait;
use pollux_protocol::{Command, CommandContext, CommandError, HookEvent, Op};

use crate::definition::Hook;
use crate::hooks::Hooks;

/// Function that saves in the settings whether the hooks with these labels are enabled. Returns the
/// reason if saving failed.
pub type SaveDisabled = Arc<dyn Fn(&[String], bool) -> Result<(), String> + Send + Sync>;

/// Returns `/hooks` and its subcommands.
pub fn commands(hooks: &Hooks, save: &SaveDisabled) -> Vec<Arc<dyn Command>> {
    let verbs = [Verb::List, Verb::Enable, Verb::Disable, Verb::EnableAll, Verb::DisableAll];
    let command = |verb| -> Arc<dyn Command> {
        Arc::new(HooksCommand { verb, hooks: hooks.clone(), save: Arc::clone(save) })
    };
    verbs.into_iter().map(command).collect()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verb {
    List,
    Enable,
    Disable,
    EnableAll,
    DisableAll,
}

struct HooksCommand {
    verb: Verb,
    hooks: Hooks,
    save: SaveDisabled,
}

#[async_trait]
impl Command for HooksCommand {
    fn name(&self) -> &'static str {
        match self.verb {
            Verb::List => "hooks",
            Verb::Enable => "hooks enable",
            Verb::Disable => "hooks disable",
            Verb::EnableAll => "hooks enable-all",
            Verb::DisableAll => "hooks disable-all",
        }
    }

    fn aliases(&self) -> &[&str] {
        match self.verb {
            Verb::List => &["hooks list", "hooks show", "hooks panel"],
            Verb::EnableAll => &["hooks enableall"],
            Verb::DisableAll => &["hooks disableall"],
            Verb::Enable | Verb::Disable => &[],
        }
    }

    fn description(&self) -> &'static str {
        match self.verb {
            Verb::List => "list the hooks",
            Verb::Enable => "switch a hook on: /hooks enable NAME",
            Verb::Disable => "switch a hook off: /hooks disable NAME",
            Verb::EnableAll => "switch all hooks on",
            Verb::DisableAll => "switch all hooks off",
        }
    }

    fn arguments(&self) -> Option<&str> {
        matches!(self.verb, Verb::Enable | Verb::Disable).then_some("NAME")
    }

    fn runs_while_working(&self) -> bool {
        self.verb == Verb::List
    }

    fn needs_user(&self) -> bool {
        true
    }

    async fn complete(&self, partial: &str) -> Vec<String> {
        match self.verb {
            Verb::Enable | Verb::Disable => self.labels(self.verb == Verb::Disable, partial),
            _ => Vec::new(),
        }
    }

    async fn run(&self, context: CommandContext) -> Result<Option<Op>, CommandError> {
        let label = context.arguments.trim();
        let text = match self.verb {
            Verb::List if label.is_empty() => list(&self.hooks),
            Verb::List => return Err(CommandError(format!("Unknown command: /hooks {label}."))),
            Verb::Enable | Verb::Disable if label.is_empty() => {
                return Err(CommandError(format!("Usage: /{} NAME", self.name())));
            }
            Verb::Enable | Verb::Disable if self.hooks.iter().all(|hook| hook.label() != label) => {
                return Err(CommandError(format!("There is no hook with the name {label}.")));
            }
            Verb::Enable => self.switch(&[label.to_owned()], true)?,
            Verb::Disable => self.switch(&[label.to_owned()], false)?,
            Verb::EnableAll => self.switch(&self.labels(false, ""), true)?,
            Verb::DisableAll => self.switch(&self.labels(true, ""), false)?,
        };
        context.say(text);
        Ok(None)
    }
}

impl HooksCommand {
    /// Returns the labels of the enabled (or disabled) hooks that start with `beginning`, without
    /// repeats.
    fn labels(&self, on: bool, beginning: &str) -> Vec<String> {
        let fitting = self.hooks.iter().filter(|hook| self.hooks.is_enabled(hook) == on);
        let mut labels: Vec<String> = fitting.map(|hook| hook.label().to_owned()).collect();
        labels.retain(|label| label.starts_with(beginning));
        labels.sort();
        labels.dedup();
        labels
    }

    /// Switches the hooks for this session first, so that the switch takes effect even if the
    /// settings cannot be saved.
    fn switch(&self, labels: &[String], on: bool) -> Result<String, CommandError> {
        let word = if on { "on" } else { "off" };
        if labels.is_empty() {
            return Ok(format!("All hooks are already {word}."));
        }
        for label in labels {
            self.hooks.switch(label, on);
        }
        let reported = format!("Switched {word}: {}.", labels.join(", "));
        (self.save)(labels, on).map(|()| reported.clone()).map_err(|error| {
            CommandError(format!("{reported} This applies to this session only: {error}"))
        })
    }
}

/// Returns a list of the hooks by event, one hook per line.
fn list(hooks: &Hooks) -> String {
    let mut lines = Vec::new();
    for event in HookEvent::ALL {
        let of_event: Vec<&Hook> = hooks.iter().filter(|hook| hook.event == event).collect();
        if !of_event.is_empty() {
            lines.push(format!("{event}:"));
        }
        lines.extend(of_event.into_iter().map(|hook| line(hook, hooks.is_enabled(hook))));
    }
    if lines.is_empty() {
        return "No hooks are configured.".to_owned();
    }
    lines.join("\n")
}

fn line(hook: &Hook, enabled: bool) -> String {
    let mut notes = vec![hook.source.as_str().to_owned()];
    notes.extend(hook.matcher.as_ref().map(|matcher| format!("for {matcher}")));
    notes.extend(hook.name.as_ref().map(|_| hook.command.clone()));
    notes.extend(hook.description.clone());
    let state = if enabled { "on " } else { "off" };
    format!("  {state}  {} ({})", hook.label(), notes.join("; "))
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use pollux_config::{Layer, LayerKind};
    use pollux_scripted::run_command;
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;
    use crate::HookOptions;

    fn hooks() -> Hooks {
        let value = json!({"hooks": {
            "BeforeTool": [{"matcher": "glob", "hooks": [{"type": "command", "command": "./a", "name": "a"}]}],
            "AfterTool": [{"hooks": [{"type": "command", "command": "./b"}]}]}});
        let layers = [Layer { kind: LayerKind::User, path: "/s".into(), value }];
        Hooks::new(HookOptions {
            hooks: crate::read(&layers).hooks,
            disabled: vec!["./b".to_owned()],
            ..HookOptions::default()
        })
    }

    #[tokio::test]
    async fn hooks_are_listed_and_switched() {
        let (hooks, kept) = (hooks(), Arc::new(Mutex::new(Vec::new())));
        let keeping = Arc::clone(&kept);
        let save: SaveDisabled = Arc::new(move |labels, on| {
            keeping.lock().unwrap().push((labels.join(" "), on));
            Ok(())
        });
        let all = commands(&hooks, &save);
        let run = async |name: &str, arguments: &str| {
            let command = all.iter().find(|command| command.name() == name).unwrap();
            run_command(command.as_ref(), arguments).await
        };
        assert_eq!(
            run("hooks", "").await,
            "BeforeTool:\n  on   a (user; for glob; ./a)\nAfterTool:\n  off  ./b (user)"
        );
        assert_eq!(run("hooks enable", "./b").await, "Switched on: ./b.");
        assert_eq!(
            run("hooks disable", "nope").await,
            "error: There is no hook with the name nope."
        );
        assert_eq!(run("hooks disable-all", "").await, "Switched off: ./b, a.");
        assert_eq!(run("hooks disable-all", "").await, "All hooks are already off.");
        assert!(!hooks.has(HookEvent::BeforeTool));
        assert_eq!(run("hooks enable", "").await, "error: Usage: /hooks enable NAME");
        assert_eq!(*kept.lock().unwrap(), [("./b".to_owned(), true), ("./b a".to_owned(), false)]);
    }

    #[tokio::test]
    async fn what_is_not_kept_holds_for_the_session() {
        let hooks = hooks();
        let save: SaveDisabled = Arc::new(|_, _| Err("The file is broken.".to_owned()));
        let all = commands(&hooks, &save);
        let error = run_command(all[4].as_ref(), "").await;
        assert_eq!(
            error,
            "error: Switched off: a. This applies to this session only: The file is broken."
        );
        assert!(!hooks.has(HookEvent::BeforeTool));
    }
}
