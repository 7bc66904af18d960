//! `/model`: the model of the next requests.

use async_trait::async_trait;
use pollux_config::FileScope;
use pollux_models::ModelsOptions;
use pollux_models::catalog::model_names;
use pollux_protocol::{
    Command, CommandContext, CommandError, Op, QuestionChoice, QuestionOutcome, QuestionSubject,
    spelling,
};

use super::{continuations, settings};
use crate::model_table::model_table;
use crate::settings_files::SettingsFiles;
use crate::setup::Setup;

const USAGE: &str =
    "Usage: /model NAME, /model list, /model manage, or /model set NAME [--persist]";

/// `/model`, with the names that the settings define.
pub(super) struct Model {
    /// Files in which a model is saved.
    pub(super) files: SettingsFiles,
    /// Names of model configurations in the settings.
    pub(super) configured: Vec<String>,
    /// Options of the models of the session.
    pub(super) options: ModelsOptions,
}

impl Model {
    /// Returns a remark about a name that is not known; `None` for a known one.
    ///
    /// # Errors
    /// The message about a model that cannot be requested, as `--model` reports it.
    fn check(&self, name: &str) -> Result<Option<String>, CommandError> {
        let known = pollux_models::check_name(&self.options, name);
        if known.map_err(|error| CommandError(error.message))? {
            return Ok(None);
        }
        let names: Vec<String> = model_names().chain(self.configured.iter().cloned()).collect();
        let meant = spelling::nearest(name, names.iter().map(String::as_str));
        let meant = meant.map(|meant| format!(" Did you mean {meant}?")).unwrap_or_default();
        Ok(Some(format!("{name} is not in the list of known models.{meant}")))
    }

    /// Saves a model as that of new sessions. Returns the description of the change.
    async fn save(&self, name: &str) -> Result<String, CommandError> {
        let (files, name) = (self.files.clone(), name.to_owned());
        let saved = tokio::task::spawn_blocking(move || {
            files.set("model.name", &name, FileScope::User).map_err(|error| error.to_string())
        });
        let saved = saved.await.map_err(|error| CommandError(error.to_string()))?;
        let change = saved.map_err(CommandError)?;
        Ok(std::iter::once(change.text).chain(change.notes).collect::<Vec<_>>().join("\n"))
    }

    /// Asks for one of the known models.
    async fn choose(&self, context: &CommandContext) -> Option<String> {
        let names: Vec<String> = model_names().chain(self.configured.iter().cloned()).collect();
        let text = format!("Select Model\nThe next requests go to {}.", context.session.model);
        let choices = QuestionChoice::options(names.iter().cloned());
        let reply = context.ask(QuestionSubject::Request { text }, choices, None).await;
        match reply.outcome {
            QuestionOutcome::Option(index) => names.into_iter().nth(index),
            _ => None,
        }
    }
}

impl Model {
    /// Creates the command of a session.
    pub(super) fn new(setup: &Setup) -> Self {
        let settings = &setup.loaded.settings;
        let keys = ["modelConfigs.aliases", "modelConfigs.customAliases"];
        let objects = keys.into_iter().filter_map(|key| settings.value(key)?.as_object());
        Self {
            files: settings::files(setup),
            configured: objects.flat_map(|object| object.keys().cloned()).collect(),
            options: setup.models_options(),
        }
    }
}

#[async_trait]
impl Command for Model {
    fn name(&self) -> &'static str {
        "model"
    }

    fn description(&self) -> &'static str {
        "show the model, or use another one"
    }

    fn arguments(&self) -> Option<&str> {
        Some("[NAME|list|manage|set NAME [--persist]]")
    }

    async fn complete(&self, partial: &str) -> Vec<String> {
        if let Some(name) = partial.strip_prefix("set ") {
            let fitting = model_names().filter(|known| known.starts_with(name));
            return fitting.map(|known| format!("set {known}")).collect();
        }
        let verbs = ["list", "manage", "set"].map(str::to_owned);
        continuations(partial, model_names().chain(verbs))
    }

    fn runs_while_working(&self) -> bool {
        true
    }

    fn needs_user(&self) -> bool {
        true
    }

    async fn run(&self, context: CommandContext) -> Result<Option<Op>, CommandError> {
        let words: Vec<&str> = context.arguments.split_whitespace().collect();
        let (name, is_saved) = match words[..] {
            [] => {
                context.say(format!(
                    "Model: {}\nTo use another: /model NAME. The Tab key and /model list list names.",
                    context.session.model
                ));
                return Ok(None);
            }
            ["list"] => {
                context.say(model_table(&pollux_models::list(&self.options).await));
                return Ok(None);
            }
            ["manage"] => match self.choose(&context).await {
                Some(name) => (name, false),
                None => return Ok(None),
            },
            ["set", name, "--persist"] | ["set", "--persist", name] => (name.to_owned(), true),
            ["set", name] | [name] if !name.starts_with('-') && name != "set" => {
                (name.to_owned(), false)
            }
            _ => return Err(CommandError(USAGE.to_owned())),
        };
        if let Some(remark) = self.check(&name)? {
            context.say(remark);
        }
        if is_saved {
            context.say(self.save(&name).await?);
        }
        context.send(Op::SetModel(name));
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use pollux_config::{Environment, Places};
    use pollux_scripted::trace_command;
    use pretty_assertions::assert_eq;

    use super::*;

    fn model(variables: &[(&str, &str)]) -> Model {
        let environment = Environment::from_pairs([("HOME", "/nosuch")]);
        let places = Places::new(&environment);
        let files = SettingsFiles { environment, places, cwd: "/nosuch".into(), skip_trust: false };
        let options = ModelsOptions {
            settings: pollux_config::Settings::defaults(),
            environment: Environment::from_pairs(
                [("POLLUX_LOCAL_PORTS", "")].iter().chain(variables).copied(),
            ),
            user_settings: "/nosuch".into(),
            cwd: "/nosuch".into(),
            http: None,
            trace: None,
            replay: None,
            record: None,
            record_wire: None,
            prices: None,
            startup_model: "auto".to_owned(),
            client: "cli".to_owned(),
        };
        Model { files, configured: Vec::new(), options }
    }

    const GEMINI: (&str, &str) = ("GEMINI_API_KEY", "k");
    const OPENAI: (&str, &str) = ("OPENAI_API_KEY", "k");
    const ANTHROPIC: (&str, &str) = ("ANTHROPIC_API_KEY", "k");

    #[tokio::test]
    async fn a_model_is_checked_as_far_as_names_are_known() {
        let unlisted = |name: &str| vec![format!("{name} is not in the list of known models.")];
        let all = [GEMINI, OPENAI, ANTHROPIC];
        for (variables, name, expected) in [
            (&[GEMINI][..], "flash", Some(vec![])),
            (&[GEMINI], "web-search", Some(vec![])),
            (&[GEMINI], "gemini-9", Some(unlisted("gemini-9"))),
            (&[GEMINI], "nosuch", Some(unlisted("nosuch"))),
            (&[GEMINI], "openai/gpt-5", None),
            (&[GEMINI], "local/qwen3", Some(vec![])),
            (&all, "gpt-5", Some(vec![])),
            (&all, "openai/gpt-5", Some(vec![])),
            (&all, "claude-opus-5-5", Some(vec![])),
            (&all, "sonnet", Some(vec![])),
            (&all, "gemini-2.5-pro", Some(vec![])),
            (&[OPENAI], "deployment", Some(unlisted("deployment"))),
            (&[], "flash", None),
            (&[GEMINI], "set flash", Some(vec![])),
            (&[GEMINI], "set", None),
            (&[GEMINI], "--persist", None),
            (&[GEMINI], "set --persist", None),
            (&[GEMINI], "set flash twice", None),
        ] {
            let trace = trace_command(&model(variables), name).await;
            let said = trace.end.is_ok().then_some(trace.output);
            assert_eq!(said, expected, "{name}");
            assert_eq!(trace.ops.len(), usize::from(expected.is_some()), "{name}");
        }
        let typo = trace_command(&model(&[GEMINI]), "flahs").await;
        assert!(typo.output[0].contains("Did you mean flash?"), "{:?}", typo.output);
        let error = trace_command(&model(&[GEMINI]), "openai/gpt-5").await.end.unwrap_err();
        assert!(error.to_string().contains("OPENAI_API_KEY is not set"), "{error}");
    }

    #[tokio::test]
    async fn the_models_are_listed_with_what_is_known_of_them() {
        let trace = trace_command(&model(&[GEMINI]), "list").await;
        assert!(trace.end.is_ok() && trace.ops.is_empty());
        let list = trace.output.join("\n");
        assert!(list.starts_with("NAME ") && list.contains("\ngemini-2.5-pro "), "{list}");
        assert!(!list.contains("openai/"), "there is no key for it: {list}");
    }

    #[tokio::test]
    async fn without_a_name_the_present_model_is_shown() {
        let trace = trace_command(&model(&[GEMINI]), "").await;
        assert!(trace.end.is_ok() && trace.ops.is_empty());
        assert_eq!(trace.output.len(), 1);
    }
}
