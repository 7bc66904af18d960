//! `pollux skills`: lists, enables, disables, installs, links and removes skills. Starts no session
//! and calls no model. As in Gemini CLI, everything but the list goes to standard error.

use std::path::{Path, PathBuf};

use futures::TryFutureExt;
use pollux_config::skills::install_folder;
use pollux_config::{ConfigError, FileScope, Places};
use pollux_extensions::skills::{FetchedSkills, Skill, SkillFolder, SkillSource};
use pollux_extensions::without_credentials;
use pollux_host::skills::SkillSwitch;
use pollux_host::{RuleOptions, RunOptions, Setup};
use pollux_protocol::SessionRequest;
use pollux_protocol::plain_text::harmless;
use serde_json::json;

use crate::arguments::{SkillsArguments, SkillsVerb, scope_name};
use crate::exit::Failure;
use crate::input::line_of_stdin;
use crate::inspection::set_up_silently;
use crate::process::Process;
use crate::signals::until_signal;
use crate::stderr::stderr_line;
use crate::stdout::print_unfinished;

/// Warning of Gemini CLI before an installation.
const WARNING: &str = "Agent skills inject specialized instructions and domain-specific knowledge into the agent's system prompt. This can change how the agent interprets your requests and interacts with your environment. Review the skill definitions at the location(s) provided below to ensure they meet your security standards.";
const QUESTION: &str = "Do you want to continue? [Y/n]: ";

/// Runs a verb. Returns the text for standard output, and the exit code.
pub(crate) async fn answer(process: &Process, arguments: &SkillsArguments) -> (String, u8) {
    // A signal removes the copies of sources, too.
    let work = Box::pin(run(process, &arguments.verb)).map_ok(|text| (text, 0));
    match until_signal(work, |code| (String::new(), code)).await {
        Ok((text, code)) => (harmless(&text).into_owned(), code),
        Err(failure) => {
            stderr_line(&failure.message);
            (String::new(), failure.exit_code(false))
        }
    }
}

async fn run(process: &Process, verb: &SkillsVerb) -> Result<String, Failure> {
    let cwd = Process::folder()?;
    let places = Places::new(&process.environment);
    let folder = |scope| {
        let root = if scope == FileScope::Project { &cwd } else { &places.home };
        SkillFolder::new(&install_folder(root))
    };
    let switch = || SkillSwitch { places: places.clone(), cwd: cwd.clone() };
    let broken = |error: ConfigError| match error {
        ConfigError::Broken(_) => Failure::config(error.to_string()),
        _ => Failure::general(error.to_string()),
    };
    match verb {
        SkillsVerb::List { json, skip_trust, debug, .. } => {
            let setup = set_up(process, &cwd, *skip_trust, *debug)?;
            return Ok(list(&setup, *json));
        }
        SkillsVerb::Enable { skill, .. } => {
            stderr_line(&switch().enable(skill).map_err(broken)?.0);
        }
        SkillsVerb::Disable { skill, scope, .. } => {
            stderr_line(&switch().disable(skill, *scope).map_err(broken)?.0);
        }
        SkillsVerb::Install { source, scope, path, consent, .. } => {
            let wanted = Wanted { source, path: path.as_deref(), consent: *consent, verb: INSTALL };
            let fetched = wanted.fetch(process, &cwd).await?;
            wanted.install(&fetched, &folder(*scope), *scope).await?;
        }
        SkillsVerb::Link { path, scope, consent, .. } => {
            let wanted = Wanted { source: path, path: None, consent: *consent, verb: LINK };
            let fetched = wanted.fetch(process, &cwd).await?;
            wanted.install(&fetched, &folder(*scope), *scope).await?;
        }
        SkillsVerb::Uninstall { skill, scope, .. } => {
            let name = scope_name(*scope);
            stderr_line(&match folder(*scope).uninstall(skill)? {
                Some(place) => format!(
                    "Successfully uninstalled skill: {skill} (scope: {name}, location: {})",
                    place.display()
                ),
                None => format!("Skill \"{skill}\" is not installed in the {name} scope."),
            });
        }
    }
    Ok(String::new())
}

/// Reads the settings as a run in this folder has them.
fn set_up(process: &Process, cwd: &Path, skip_trust: bool, debug: bool) -> Result<Setup, Failure> {
    let rules = RuleOptions { skip_trust, ..RuleOptions::default() };
    let options = RunOptions { rules, debug, ..RunOptions::default() };
    set_up_silently(process, options, SessionRequest::new(cwd.to_owned()))
}

fn list(setup: &Setup, as_json: bool) -> String {
    let found = setup.find_skills(setup.accepted());
    found.conflicts.iter().chain(&found.messages).for_each(|message| stderr_line(message));
    if as_json {
        let skill = |skill: &Skill| {
            json!({
                "name": skill.name,
                "description": skill.description,
                "location": skill.file(),
                "enabled": found.is_enabled(skill),
            })
        };
        let skills: Vec<_> = found.iter().map(skill).collect();
        return format!("{:#}\n", json!(skills));
    }
    let mut skills: Vec<&Skill> = found.iter().collect();
    if skills.is_empty() {
        return "No skills discovered.\n".to_owned();
    }
    skills.sort_by(|one, other| one.name.cmp(&other.name));
    let entry = |skill: &&Skill| {
        let state = if found.is_enabled(skill) { "Enabled" } else { "Disabled" };
        let (name, description) = (&skill.name, &skill.description);
        let file = skill.file();
        format!(
            "{name} [{state}]\n  Description: {description}\n  Location:    {}\n\n",
            file.display()
        )
    };
    format!("Discovered Agent Skills:\n\n{}", skills.iter().map(entry).collect::<String>())
}

/// Words of a verb in messages.
#[derive(Clone, Copy)]
struct Words {
    /// Verb in the form that begins a message: `Installing`.
    acting: &'static str,
    /// Noun that begins the name of the destination.
    noun: &'static str,
    /// Noun in the message of a refusal.
    refused: &'static str,
}

const INSTALL: Words = Words { acting: "Installing", noun: "Install", refused: "installation" };
const LINK: Words = Words { acting: "Linking", noun: "Link", refused: "linking" };

/// Installation or link that the user asks for.
struct Wanted<'a> {
    source: &'a str,
    path: Option<&'a str>,
    consent: bool,
    verb: Words,
}

impl Wanted<'_> {
    fn is_link(&self) -> bool {
        self.verb.noun == LINK.noun
    }

    /// Fetches the source and finds its skills, and reports this.
    async fn fetch(&self, process: &Process, cwd: &Path) -> Result<FetchedSkills, Failure> {
        let shown = without_credentials(self.source);
        let source = if self.is_link() {
            SkillSource::Folder(absolute(process, cwd, self.source))
        } else {
            match SkillSource::read(self.source, cwd) {
                SkillSource::Folder(_) => SkillSource::Folder(absolute(process, cwd, self.source)),
                other => other,
            }
        };
        match &source {
            SkillSource::Git(_) => stderr_line(&format!("Cloning skill from {shown}...")),
            SkillSource::Archive(_) => stderr_line(&format!("Extracting skill from {shown}...")),
            SkillSource::Folder(_) => {}
        }
        let fetched = source.fetch(process.environment.for_children()).await?;
        let root = fetched.root(self.path.map(Path::new))?;
        stderr_line(&format!("Searching for skills in {}...", root.display()));
        let name = match self.path {
            _ if self.is_link() => format!("\"{}\"", root.display()),
            Some(path) => format!("{shown} at path \"{path}\""),
            None => shown,
        };
        Ok(fetched.skills(root, &name)?)
    }

    /// Installs or links the skills, after the user has agreed.
    async fn install(
        &self,
        fetched: &FetchedSkills,
        to: &SkillFolder,
        scope: FileScope,
    ) -> Result<(), Failure> {
        let details = self.details(&fetched.skills, to);
        if self.consent {
            stderr_line(&format!("You have consented to the following:\n{details}"));
        } else {
            stderr_line(&details);
            if !confirmed().await {
                let refused = self.verb.refused;
                return Err(Failure::general(format!("Skill {refused} cancelled by user.")));
            }
        }
        for skill in fetched.skills.iter().filter(|skill| to.has(skill)) {
            let place = if self.is_link() { " at destination" } else { "" };
            stderr_line(&format!("Skill \"{}\" already exists{place}. Overwriting...", skill.name));
        }
        for skill in &fetched.skills {
            if self.is_link() {
                to.link(skill)?;
                continue;
            }
            let installed = to.install(skill)?;
            stderr_line(&format!(
                "Successfully installed skill: {} (scope: {}, location: {})",
                installed.name,
                scope_name(scope),
                installed.location.display()
            ));
        }
        if self.is_link() {
            stderr_line("\nSuccessfully linked skills.");
        }
        Ok(())
    }

    /// Returns everything that the user agrees to.
    fn details(&self, skills: &[Skill], to: &SkillFolder) -> String {
        let Words { acting, noun, .. } = self.verb;
        let shown = without_credentials(self.source);
        let skill = |skill: &Skill| {
            format!(
                "  * {}: {}\n    (Source: {}) ({} items in directory)\n\n",
                skill.name,
                skill.description,
                skill.file().display(),
                pollux_fs::list_directory(&skill.folder).map_or(0, |entries| entries.len())
            )
        };
        format!(
            "{acting} agent skill(s) from \"{shown}\".\n\nThe following agent skill(s) will be {}:\n\n{}{noun} Destination: {}\n\n{WARNING}",
            acting.to_lowercase(),
            skills.iter().map(skill).collect::<String>(),
            to.path().display(),
        )
    }
}

fn absolute(process: &Process, cwd: &Path, given: &str) -> PathBuf {
    let places = Places::new(&process.environment);
    pollux_fs::absolute(cwd, &places.expand_home(given))
}

/// Asks the user at the terminal. Without an answer the result is false.
async fn confirmed() -> bool {
    print_unfinished(QUESTION);
    let answer = line_of_stdin().await.map(|line| line.trim().to_lowercase());
    answer.is_some_and(|answer| matches!(answer.as_str(), "" | "y" | "yes"))
}
