//! Arguments of `skills`.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use pollux_config::FileScope;

/// List, install and remove agent skills, which teach the model certain tasks
#[derive(Debug, Clone, PartialEq, Args)]
#[command(visible_alias = "skill")]
pub(crate) struct SkillsArguments {
    #[command(subcommand)]
    pub(crate) verb: SkillsVerb,
}

/// Action of `skills`.
#[derive(Debug, Clone, PartialEq, Subcommand)]
pub(crate) enum SkillsVerb {
    /// List the skills of this folder and of the user
    List {
        /// Also built-in skills: Pollux has none
        #[arg(long)]
        all: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
        /// Trust the current folder for this run
        #[arg(long)]
        skip_trust: bool,
        /// Verbose output on standard error
        #[arg(short, long)]
        debug: bool,
    },
    /// Offer a disabled skill to the model again
    Enable {
        /// The skill
        #[arg(value_name = "NAME")]
        skill: String,
        /// Verbose output on standard error
        #[arg(short, long)]
        debug: bool,
    },
    /// Do not offer a skill to the model
    Disable {
        /// The skill
        #[arg(value_name = "NAME")]
        skill: String,
        /// The settings file
        #[arg(short, long, value_name = "SCOPE", value_parser = scope(), default_value = WORKSPACE)]
        scope: FileScope,
        /// Verbose output on standard error
        #[arg(short, long)]
        debug: bool,
    },
    /// Install skills from a Git repository, an archive (.skill) or a folder
    Install {
        /// The address of the repository (https://, http://, git@), or the path
        #[arg(value_name = "SOURCE")]
        source: String,
        /// For the user, or for the project in this folder
        #[arg(long, value_name = "SCOPE", value_parser = scope(), default_value = USER)]
        scope: FileScope,
        /// The folder in the source with the skills
        #[arg(long, value_name = "FOLDER")]
        path: Option<String>,
        /// Install without a question
        #[arg(long)]
        consent: bool,
        /// Verbose output on standard error
        #[arg(short, long)]
        debug: bool,
    },
    /// Use the skills of a folder in place, with all later changes of them
    Link {
        /// The folder
        #[arg(value_name = "PATH")]
        path: String,
        /// For the user, or for the project in this folder
        #[arg(long, value_name = "SCOPE", value_parser = scope(), default_value = USER)]
        scope: FileScope,
        /// Link without a question
        #[arg(long)]
        consent: bool,
        /// Verbose output on standard error
        #[arg(short, long)]
        debug: bool,
    },
    /// Remove an installed or linked skill
    Uninstall {
        /// The skill
        #[arg(value_name = "NAME")]
        skill: String,
        /// Of the user, or of the project in this folder
        #[arg(long, value_name = "SCOPE", value_parser = scope(), default_value = USER)]
        scope: FileScope,
        /// Verbose output on standard error
        #[arg(short, long)]
        debug: bool,
    },
}

const USER: &str = "user";
const WORKSPACE: &str = "workspace";

fn scope() -> impl TypedValueParser<Value = FileScope> {
    PossibleValuesParser::new([USER, WORKSPACE]).map(|name| match name.as_str() {
        USER => FileScope::User,
        _ => FileScope::Project,
    })
}

/// Returns the name of a scope in these arguments and in messages.
pub(crate) fn scope_name(scope: FileScope) -> &'static str {
    match scope {
        FileScope::Project => WORKSPACE,
        scope => scope.as_str(),
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;
    use crate::arguments::{Exit, Subcommand, flags, subcommand};

    fn read_words(line: &str) -> Result<SkillsVerb, Exit> {
        let words = line.split_whitespace().map(str::to_owned).collect();
        let read = subcommand::parse_group("skills", words, flags::whole("pollux"), "pollux");
        read.map(|subcommand| match subcommand {
            Subcommand::Skills(arguments) => arguments.verb,
            other => panic!("{other:?}"),
        })
    }

    #[test]
    fn verbs_and_flags() {
        let (debug, consent) = (false, false);
        let name = || "a b".replace(' ', "-");
        for (line, verb) in [
            ("list", SkillsVerb::List { all: false, json: false, skip_trust: false, debug }),
            ("list --all", SkillsVerb::List { all: true, json: false, skip_trust: false, debug }),
            ("enable a-b", SkillsVerb::Enable { skill: name(), debug }),
            (
                "disable a-b",
                SkillsVerb::Disable { skill: name(), scope: FileScope::Project, debug },
            ),
            (
                "disable a-b -s user",
                SkillsVerb::Disable { skill: name(), scope: FileScope::User, debug },
            ),
            (
                "install x --path sub --consent --scope workspace",
                SkillsVerb::Install {
                    source: "x".to_owned(),
                    scope: FileScope::Project,
                    path: Some("sub".to_owned()),
                    consent: true,
                    debug,
                },
            ),
            (
                "link x",
                SkillsVerb::Link { path: "x".to_owned(), scope: FileScope::User, consent, debug },
            ),
            (
                "uninstall a-b",
                SkillsVerb::Uninstall { skill: name(), scope: FileScope::User, debug },
            ),
        ] {
            assert_eq!(read_words(line), Ok(verb), "{line}");
        }
        for (line, message) in [
            ("", "You need at least one command before continuing."),
            ("dance", "You need at least one command before continuing."),
            ("install", "skills install takes SOURCE."),
            ("enable a --scope user", "Unknown argument: scope"),
            (
                "link x --scope system",
                "Invalid values:\n  Argument: scope, Given: \"system\", Choices: \"user\", \"workspace\"",
            ),
        ] {
            let error = read_words(line).unwrap_err().stderr;
            assert!(error.starts_with(message), "{line}: {error}");
        }
    }
}
