//! System instruction of a run: its inputs, and the variables with which the user changes it.

use std::path::{Path, PathBuf};

use pollux_agent::{OfferedSkill, PromptInputs, Sandbox, Section, Subagent};
use pollux_config::context;
use pollux_config::names as variables;

use crate::setup::Setup;
use pollux_protocol::{Live, SessionFailure};

/// Maximum size, in bytes, of a custom system instruction.
const LARGEST: u64 = 1 << 20;

/// Changes to the system instruction that the environment asks for.
#[derive(Debug, Clone, Default)]
pub(crate) struct SystemPromptOverrides {
    /// Text that replaces the built-in instruction.
    custom: Option<String>,
    /// File to write the sent instruction to.
    pub(crate) copy: Option<PathBuf>,
    /// Sections to leave out.
    left_out: Vec<Section>,
}

impl Setup {
    /// Reads the changes to the system instruction from the environment.
    ///
    /// # Errors
    /// Fails if the file of a custom instruction cannot be read, or is a link that leads out of its
    /// project.
    pub(crate) fn prompt_overrides(&self) -> Result<SystemPromptOverrides, SessionFailure> {
        let environment = &self.loaded.environment;
        let custom = match self.file_of(variables::GEMINI_SYSTEM_MD)? {
            Some(path) if self.is_of_untrusted_project(&path) => {
                self.input.request.notices.warning(&format!(
                    "[WARNING] {} is not read: this folder is not trusted.",
                    path.display()
                ));
                None
            }
            Some(path) => Some(read(&path)?),
            None => None,
        };
        let is_off = |section: &Section| {
            let name = variables::GEMINI_PROMPT_.to_owned() + &section.name().to_uppercase();
            environment.get(&name).is_some_and(|value| is_no(value.trim()))
        };
        let left_out = Section::OPTIONAL.into_iter().filter(is_off).collect();
        Ok(SystemPromptOverrides {
            custom,
            copy: self.file_of(variables::GEMINI_WRITE_SYSTEM_MD)?,
            left_out,
        })
    }

    /// Returns the file that a variable names; `1` means `.gemini/system.md` of the project.
    pub(crate) fn file_of(&self, variable: &str) -> Result<Option<PathBuf>, SessionFailure> {
        let given = self.loaded.environment.get(variable).map_or("", str::trim);
        if given.is_empty() || is_no(given) {
            return Ok(None);
        }
        let is_yes = given == "1" || given.eq_ignore_ascii_case("true");
        let path = if is_yes { ".gemini/system.md" } else { given };
        let path = pollux_fs::absolute(&self.input.request.folder, &self.places.expand_home(path));
        let real = |path: &Path| pollux_fs::real_path(path).unwrap_or_else(|_| path.to_owned());
        if path.starts_with(&self.input.request.folder)
            && !real(&path).starts_with(real(&self.input.request.folder))
        {
            return Err(SessionFailure::General(format!(
                "{} is a link to a file outside of the project. Set {variable} to the file itself.",
                path.display()
            )));
        }
        Ok(Some(path))
    }

    fn is_of_untrusted_project(&self, path: &Path) -> bool {
        path.starts_with(&self.input.request.folder) && !self.loaded.trust.is_trusted()
    }

    /// Returns the inputs of the system instruction.
    pub(crate) fn prompt_inputs(
        &self,
        session_id: &str,
        overrides: &SystemPromptOverrides,
        skills: Live<Vec<OfferedSkill>>,
        subagents: Live<Vec<Subagent>>,
    ) -> PromptInputs {
        let names = context::names(&self.loaded.settings.context().file_names);
        let efficient = "tools.shell.enableShellOutputEfficiency";
        PromptInputs {
            interactive: self.is_interactive(),
            git: is_git(&self.input.request.folder),
            sandbox: self.sandbox(),
            brief_output: self.loaded.settings.boolean(efficient),
            plans_directory: self.plans_directory(session_id),
            tracker_directory: self.tracker_directory(session_id),
            temporary_directory: self.project.temporary_dir.clone(),
            global_memory: self.global_memory(),
            private_memory: self.project.memory_dir().join(context::PRIVATE_INDEX),
            context_name: names.into_iter().next().unwrap_or_default(),
            subagents,
            skills,
            left_out: overrides.left_out.clone(),
            custom: overrides.custom.as_deref().map(Into::into),
        }
    }

    fn sandbox(&self) -> Sandbox {
        match self.loaded.environment.non_empty(variables::SANDBOX) {
            None => Sandbox::None,
            Some("sandbox-exec") => Sandbox::Seatbelt,
            Some(_) => Sandbox::Container,
        }
    }
}

/// Returns true inside a Git work tree.
fn is_git(cwd: &Path) -> bool {
    cwd.ancestors().any(|folder| folder.join(".git").exists())
}

fn is_no(value: &str) -> bool {
    value == "0" || value.eq_ignore_ascii_case("false")
}

/// Returns the text of a custom system instruction. The message for a missing file is Gemini CLI's.
fn read(path: &Path) -> Result<String, SessionFailure> {
    let shown = path.display();
    match pollux_fs::read_text(path, LARGEST) {
        Ok(file) => Ok(file.text),
        Err(error) if error.is_not_found() => {
            Err(SessionFailure::General(format!("missing system prompt file '{shown}'")))
        }
        Err(error) => {
            Err(SessionFailure::General(format!("The system prompt file cannot be read: {error}")))
        }
    }
}
