//! Arguments of `extensions`.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{ArgAction, Args, Subcommand};
use pollux_config::FileScope;
use pollux_extensions::{ExtensionTemplate, TEMPLATES};

/// Install, list, update, configure and create extensions
#[derive(Debug, Clone, PartialEq, Args)]
#[command(visible_alias = "extension")]
pub(crate) struct ExtensionsArguments {
    #[command(subcommand)]
    pub(crate) verb: ExtensionsVerb,
}

/// Action of `extensions`.
#[derive(Debug, Clone, PartialEq, Subcommand)]
pub(crate) enum ExtensionsVerb {
    /// List the installed extensions
    List {
        /// The form of the list
        #[arg(
            short, long, action = ArgAction::Set,
            value_name = "FORMAT", value_parser = format(), default_value = TEXT
        )]
        output_format: bool,
        /// Verbose output on standard error
        #[arg(short, long)]
        debug: bool,
    },
    /// Install an extension from a Git repository or a folder
    Install(InstallArguments),
    /// Use the extension in a folder in place, with all later changes of it
    Link {
        /// The folder
        #[arg(value_name = "PATH")]
        path: String,
        /// Link without a question
        #[arg(long)]
        consent: bool,
        /// Verbose output on standard error
        #[arg(short, long)]
        debug: bool,
    },
    /// Remove installed or linked extensions
    Uninstall {
        /// The extensions, by name or source
        #[arg(value_name = "NAMES")]
        names: Vec<String>,
        /// All extensions
        #[arg(long)]
        all: bool,
        /// Verbose output on standard error
        #[arg(short, long)]
        debug: bool,
    },
    /// Replace extensions by the newest version of their sources
    Update {
        /// The extension
        #[arg(value_name = "NAME", conflicts_with = "all")]
        extension: Option<String>,
        /// All extensions
        #[arg(long)]
        all: bool,
        /// Verbose output on standard error
        #[arg(short, long)]
        debug: bool,
    },
    /// Enter values for the settings of extensions
    Config {
        /// The extension; otherwise all
        #[arg(value_name = "NAME")]
        extension: Option<String>,
        /// The setting, by name or variable; otherwise all
        #[arg(value_name = "SETTING")]
        setting: Option<String>,
        /// For all folders (user), or for the current one
        #[arg(long, value_name = "SCOPE", value_parser = scope(), default_value = USER)]
        scope: FileScope,
        /// Verbose output on standard error
        #[arg(short, long)]
        debug: bool,
    },
    /// Use a disabled extension again
    Enable(EnablementArguments),
    /// Do not use an extension
    Disable(EnablementArguments),
    /// Create an extension to begin with
    New {
        /// The folder, which must not exist; its name becomes that of the extension
        #[arg(value_name = "PATH")]
        path: String,
        /// The kind of the extension
        #[arg(value_name = "TEMPLATE", value_parser = template())]
        template: Option<ExtensionTemplate>,
        /// Verbose output on standard error
        #[arg(short, long)]
        debug: bool,
    },
    /// Check an extension that you write
    Validate {
        /// The folder of the extension
        #[arg(value_name = "PATH")]
        path: String,
        /// Verbose output on standard error
        #[arg(short, long)]
        debug: bool,
    },
}

/// Arguments of `extensions enable` and `extensions disable`.
#[derive(Debug, Clone, PartialEq, Args)]
pub(crate) struct EnablementArguments {
    /// The extension
    #[arg(value_name = "NAME")]
    pub(crate) extension: String,
    /// Everywhere (user), or in the current folder
    #[arg(long, value_name = "SCOPE", value_parser = scope())]
    pub(crate) scope: Option<FileScope>,
    /// Verbose output on standard error
    #[arg(short, long)]
    pub(crate) debug: bool,
}

/// Arguments of `extensions install`.
#[derive(Debug, Clone, PartialEq, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each one is a flag")]
pub(crate) struct InstallArguments {
    /// The address of the repository (https://, git@, ssh://, github:), or the path
    #[arg(value_name = "SOURCE")]
    pub(crate) source: String,
    /// The branch, tag or commit
    #[arg(long = "ref", value_name = "REF")]
    pub(crate) reference: Option<String>,
    /// Let Gemini CLI update the extension when it starts; Pollux never does so by itself
    #[arg(long)]
    pub(crate) auto_update: bool,
    /// Use releases that are not final, too
    #[arg(long)]
    pub(crate) pre_release: bool,
    /// Install without a question
    #[arg(long)]
    pub(crate) consent: bool,
    /// Do not ask for the values of settings
    #[arg(long)]
    pub(crate) skip_settings: bool,
    /// Verbose output on standard error
    #[arg(short, long)]
    pub(crate) debug: bool,
}

const TEXT: &str = "text";
const JSON: &str = "json";
const USER: &str = "user";
const WORKSPACE: &str = "workspace";

/// Returns the parser of formats; the value is true for JSON.
fn format() -> impl TypedValueParser<Value = bool> {
    PossibleValuesParser::new([TEXT, JSON]).map(|name| name == JSON)
}

/// Returns the parser of scopes, in any case, as in Gemini CLI.
fn scope() -> impl TypedValueParser<Value = FileScope> {
    let names = PossibleValuesParser::new([USER, WORKSPACE]);
    names.map(|name| match name.to_lowercase().as_str() {
        WORKSPACE => FileScope::Project,
        _ => FileScope::User,
    })
}

fn template() -> impl TypedValueParser<Value = ExtensionTemplate> {
    PossibleValuesParser::new(TEMPLATES.map(|template| template.name))
        .try_map(|name| ExtensionTemplate::named(&name).ok_or("unknown template"))
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;
    use crate::arguments::{Exit, Subcommand, flags, subcommand};

    fn read_words(line: &str) -> Result<ExtensionsVerb, Exit> {
        let words = line.split_whitespace().map(str::to_owned).collect();
        let read = subcommand::parse_group("extensions", words, flags::whole("pollux"), "pollux");
        read.map(|subcommand| match subcommand {
            Subcommand::Extensions(arguments) => arguments.verb,
            other => panic!("{other:?}"),
        })
    }

    #[test]
    fn verbs_as_in_gemini_cli() {
        let name = || "a-b".to_owned();
        let debug = false;
        let switched = |scope| EnablementArguments { extension: name(), scope, debug };
        let table = [
            ("list", ExtensionsVerb::List { output_format: false, debug }),
            ("list -o json", ExtensionsVerb::List { output_format: true, debug }),
            ("enable a-b", ExtensionsVerb::Enable(switched(None))),
            (
                "enable --scope workspace a-b",
                ExtensionsVerb::Enable(switched(Some(FileScope::Project))),
            ),
            ("disable a-b", ExtensionsVerb::Disable(switched(None))),
            (
                "uninstall a b",
                ExtensionsVerb::Uninstall {
                    names: vec!["a".to_owned(), "b".to_owned()],
                    all: false,
                    debug,
                },
            ),
            ("update --all", ExtensionsVerb::Update { extension: None, all: true, debug }),
            ("link a-b", ExtensionsVerb::Link { path: name(), consent: false, debug }),
            (
                "install a-b --ref v1 --consent",
                ExtensionsVerb::Install(InstallArguments {
                    source: name(),
                    reference: Some("v1".to_owned()),
                    auto_update: false,
                    pre_release: false,
                    consent: true,
                    skip_settings: false,
                    debug,
                }),
            ),
            ("validate a-b", ExtensionsVerb::Validate { path: name(), debug }),
            ("new a-b", ExtensionsVerb::New { path: name(), template: None, debug }),
            (
                "new a-b hooks",
                ExtensionsVerb::New {
                    path: name(),
                    template: ExtensionTemplate::named("hooks"),
                    debug,
                },
            ),
        ];
        for (line, expected) in table {
            assert_eq!(read_words(line), Ok(expected), "{line}");
        }
        for line in ["", "nosuch", "enable", "new a nosuch", "disable a --scope x", "list -o x"] {
            assert_eq!(read_words(line).unwrap_err().code, 1, "{line}");
        }
    }
}
