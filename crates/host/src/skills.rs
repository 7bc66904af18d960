//! Skills of a session: which ones are offered, as a tool of the model and as slash commands.
//!
//! At the start only the front matter of files is read. A skill of the project that has other files
//! than its text is offered only if the user has agreed to it, and activated only with exactly the
//! content that the user has agreed to.

use std::path::Path;
use std::sync::Arc;

use pollux_agent::{OfferedSkill, Outlet, Toolset};
use pollux_config::consent::kinds;
use pollux_config::skills::{skill_item, skill_item_name, skill_items};
use pollux_config::{Accepted, Settings};
use pollux_extensions::skills::{
    ActivatedSkill, Skill, SkillCheck, SkillOwner, SkillPlaces, SkillSet, activate_skill,
};
use pollux_protocol::{
    CommandContext, CommandError, CommandSet, CommandSource, Event, Live, PromptCommand, Severity,
    Tool,
};

use crate::consent::SessionConsent;
use crate::setup::Setup;

mod skill_command;
mod switch;

use skill_command::SkillCommand;
pub use switch::{SkillSwitch, SwitchedSkill};

/// Maximum number of messages about skills that are left out.
const MAX_MESSAGES: usize = 20;
/// Setting with the names of the skills that are not offered.
const DISABLED: &str = "skills.disabled";

/// Skills of a session.
pub(crate) struct Skills {
    setup: Arc<Setup>,
    consent: Arc<SessionConsent>,
    /// All skills as last found.
    found: Live<SkillSet>,
    /// The enabled skills, for the system instruction.
    offered: Live<Vec<OfferedSkill>>,
}

impl Setup {
    /// Returns true if the settings and the administrator allow skills.
    pub fn has_skills(&self) -> bool {
        let settings = &self.loaded.settings;
        settings.boolean("skills.enabled") && settings.boolean("admin.skills.enabled")
    }

    /// Finds the skills that the settings leave enabled, and the disabled ones. Of the project's
    /// skills with files only those in `accepted` are found. Blocks the thread.
    pub fn find_skills(&self, accepted: &Accepted) -> SkillSet {
        if !self.has_skills() {
            return SkillSet::default();
        }
        let folder = self.input.request.folder.as_path();
        let refuse = |skill: &Path| {
            let name = skill_item_name(folder, skill)?;
            (!accepted.names(kinds::SKILL, &name)).then(|| {
                format!(
                    "The skill {name} of this folder is not offered, because you have not allowed it. /permissions shows your answers."
                )
            })
        };
        let is_trusted = self.loaded.trust.is_trusted();
        let set = SkillSet::find(SkillPlaces {
            extensions: &self.extensions,
            home: &self.places.home,
            project: (is_trusted && folder != self.places.home).then_some(folder),
            refuse: &refuse,
        });
        set.without(&disabled(&self.loaded.settings))
    }

    /// Returns the tool that activates these skills, if there are any and the settings leave it
    /// enabled.
    pub(crate) fn skill_tool(&self, skills: &SkillSet, check: SkillCheck) -> Option<Arc<dyn Tool>> {
        let tool = activate_skill(&Arc::new(skills.clone()), check)?;
        let lists = self.tool_lists();
        lists.keeps(tool.name()).then_some(tool)
    }
}

/// Returns the enabled skills for the system instruction.
pub(crate) fn offered_skills(skills: &SkillSet) -> Vec<OfferedSkill> {
    let offered = |skill: &Skill| OfferedSkill {
        name: skill.name.clone(),
        description: skill.description.clone(),
        location: skill.file(),
    };
    skills.enabled().map(offered).collect()
}

fn disabled(settings: &Settings) -> Vec<String> {
    settings.texts(DISABLED).unwrap_or_default()
}

impl Skills {
    /// Finds the skills of a session. Blocks the thread.
    pub(crate) fn new(setup: &Arc<Setup>, consent: &Arc<SessionConsent>) -> Self {
        let found = setup.find_skills(&consent.accepted());
        Self {
            setup: Arc::clone(setup),
            consent: Arc::clone(consent),
            offered: Live::new(offered_skills(&found)),
            found: Live::new(found),
        }
    }

    /// Returns the skills as they were last found.
    pub(crate) fn found(&self) -> Arc<SkillSet> {
        self.found.get()
    }

    /// Returns the enabled skills, for the system instruction.
    pub(crate) fn offered(&self) -> Live<Vec<OfferedSkill>> {
        self.offered.clone()
    }

    /// Returns the tool that activates the skills; `None` without skills.
    pub(crate) fn tool(self: &Arc<Self>) -> Option<Arc<dyn Tool>> {
        let this = Arc::clone(self);
        self.setup.skill_tool(&self.found(), Arc::new(move |skill: &Skill| this.check(skill)))
    }

    /// Adds the skills to a set of slash commands.
    pub(crate) fn add_to(self: &Arc<Self>, commands: &mut CommandSet) {
        let found = self.found();
        let command = |skill: &Skill| {
            Arc::new(SkillCommand::new(skill.clone(), self)) as Arc<dyn PromptCommand>
        };
        let list = found.enabled().map(command).collect();
        commands.replace_source(CommandSource::Skill, list, Vec::new());
    }

    /// Reports skills that replace others, and to the user of the session those that are left out.
    /// Then follows the settings until the session ends.
    pub(crate) fn follow(
        self: &Arc<Self>,
        settings: &Live<Settings>,
        toolset: Live<Toolset>,
        commands: Live<CommandSet>,
        outlet: &Outlet,
    ) -> impl Future<Output = ()> + Send + use<> {
        let (this, outlet) = (Arc::clone(self), outlet.clone());
        let mut watch = settings.watch();
        async move {
            for text in limited(messages(&this.found(), this.setup.is_interactive())) {
                outlet.emit(Event::Notice { severity: Severity::Warning, text }).await;
            }
            // The events end when nobody can send any.
            drop(outlet);
            loop {
                let settings = watch.changed().await;
                this.obey(&settings, &toolset, &commands);
            }
        }
    }

    /// Enables and disables skills as the settings say.
    pub(crate) fn obey(
        self: &Arc<Self>,
        settings: &Settings,
        toolset: &Live<Toolset>,
        commands: &Live<CommandSet>,
    ) {
        let set = SkillSet::clone(&self.found()).without(&disabled(settings));
        self.offer(set, toolset, commands);
    }

    /// Searches again, and offers what is found. Returns messages for the user.
    ///
    /// # Errors
    /// The message about a search that did not end.
    pub(crate) async fn refresh(
        self: &Arc<Self>,
        toolset: &Live<Toolset>,
        commands: &Live<CommandSet>,
    ) -> Result<Vec<String>, CommandError> {
        let this = Arc::clone(self);
        let search = move || {
            let disabled: Vec<String> = this.found().disabled().map(str::to_owned).collect();
            this.setup.find_skills(&this.consent.accepted()).without(&disabled)
        };
        let found = tokio::task::spawn_blocking(search).await;
        let found = found.map_err(|error| CommandError(error.to_string()))?;
        let messages = limited(messages(&found, true));
        self.offer(found, toolset, commands);
        Ok(messages)
    }

    /// Replaces the skills everywhere, unless they are the same.
    fn offer(
        self: &Arc<Self>,
        found: SkillSet,
        toolset: &Live<Toolset>,
        commands: &Live<CommandSet>,
    ) {
        if *self.found() == found {
            return;
        }
        let before = self.tool();
        self.offered.set(offered_skills(&found));
        self.found.set(found);
        toolset.update(|set| match (self.tool(), before) {
            (Some(tool), _) => set.insert(tool),
            (None, Some(before)) => {
                set.remove(before.name());
            }
            (None, None) => {}
        });
        commands.update(|set| self.add_to(set));
    }

    /// Asks the user about skills of the project that are new or have changed.
    ///
    /// # Errors
    /// The message about an answer that cannot be stored.
    pub(crate) async fn ask_about_new(
        self: &Arc<Self>,
        context: &CommandContext,
    ) -> Result<(), String> {
        if !self.setup.has_skills() || !self.consent.is_by_item() {
            return Ok(());
        }
        let (consent, folder) =
            (Arc::clone(&self.consent), self.setup.input.request.folder.clone());
        let open = tokio::task::spawn_blocking(move || consent.open(skill_items(&folder).0)).await;
        let open = open.map_err(|error| error.to_string())?;
        if !open.is_empty() {
            self.consent.ask_about(open, context).await?;
        }
        Ok(())
    }

    /// Returns the text of a skill as it is now. Blocks the thread.
    ///
    /// # Errors
    /// The message about a skill that cannot be used, or that has changed.
    fn activate(&self, skill: &Skill) -> Result<ActivatedSkill, String> {
        self.check(skill)?;
        skill.activate().map_err(|error| error.to_string())
    }

    /// Refuses a skill of the project whose files are not those that the user has agreed to.
    fn check(&self, skill: &Skill) -> Result<(), String> {
        if skill.owner != SkillOwner::Project || self.consent.accepted().is_everything() {
            return Ok(());
        }
        match skill_item(&self.setup.input.request.folder, &skill.folder)? {
            Some(item) if !self.consent.accepted().accepts(&item) => Err(format!(
                "The files of the skill \"{}\" have changed since the user allowed them, so it was not activated. /skills reload asks the user about them; after a refusal, /permissions ask is needed before it.",
                skill.name
            )),
            _ => Ok(()),
        }
    }
}

/// Returns the messages about skills that replace others, and if `tells_all` about those that are
/// left out.
fn messages(found: &SkillSet, tells_all: bool) -> Vec<String> {
    let left_out = found.messages.iter().filter(|_| tells_all);
    found.conflicts.iter().chain(left_out).cloned().collect()
}

/// Returns the first messages, and how many more there are.
fn limited(mut messages: Vec<String>) -> Vec<String> {
    let more = messages.len().saturating_sub(MAX_MESSAGES);
    messages.truncate(MAX_MESSAGES);
    messages.extend((more > 0).then(|| format!("{more} more messages about skills.")));
    messages
}
