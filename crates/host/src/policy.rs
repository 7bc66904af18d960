//! Policy of a session: its rules, the facts for their decisions, and the approvals that a user may
//! give.

use std::path::{Path, PathBuf};

use pollux_agent::ApprovalChoices;
use pollux_config::protected::ProtectedPlaces;
use pollux_config::{context, names as variables};
use pollux_fs::EntryKind;
use pollux_policy::{ConfinementFacts, Facts, Policy, Subject};
use pollux_protocol::ConfinementLevel;
use pollux_shell::{Dialect, Shell};
use pollux_tools::SandboxInputs;
use serde_json::Value;

use crate::rules;
use crate::setup::Setup;

mod checkers;

impl Setup {
    /// Returns true if the rules leave a tool available.
    pub(crate) fn offers(&self, tool: &str) -> bool {
        self.policy("").declares(Subject::named(tool), self.mode)
    }

    /// Returns the policy of this run.
    pub fn policy(&self, session_id: &str) -> Policy {
        Policy::new(self.facts(session_id), self.rules.clone())
    }

    /// Returns the choices besides yes and no for a call that needs approval.
    pub(crate) fn approval_choices(&self) -> ApprovalChoices {
        let facts = self.facts("");
        let kept = self.loaded.settings.value("security.enablePermanentToolApproval");
        ApprovalChoices {
            session: facts.trusted && !facts.without_approvals,
            saved: kept == Some(&Value::Bool(true)) && !facts.is_suspended,
            saved_by_default: self.loaded.settings.boolean("security.autoAddToPolicyByDefault"),
            editor: self.input.options.has_editor,
            continues_after_no: self.input.request.continues_after_no,
        }
    }

    fn facts(&self, session_id: &str) -> Facts {
        let environment = self.loaded.environment.iter().map(|(name, _)| name.to_owned());
        let always = self.loaded.settings.value("security.disableAlwaysAllow");
        Facts {
            interactive: self.is_interactive(),
            trusted: self.loaded.trust.is_trusted(),
            workspace: self.workspace.clone(),
            plans_directory: self.plans_directory(session_id),
            protected: self.protected_places(),
            dialect: Shell::current().map_or(Dialect::Posix, |shell| shell.dialect),
            environment: environment.collect(),
            confinement: self.confinement_facts(),
            home: self.input.environment.home(),
            original_denials: self.loaded.settings.boolean("pollux.policy.originalDenials"),
            headless_reads: self.loaded.settings.boolean("pollux.policy.headlessReads"),
            approvals_file: self.places.user_policies().join(pollux_policy::APPROVALS_FILE),
            without_approvals: self.loaded.settings.boolean("admin.secureModeEnabled")
                || always == Some(&Value::Bool(true)),
            is_suspended: self.rules.problems.iter().any(pollux_policy::Problem::is_error),
        }
    }

    fn confinement_facts(&self) -> ConfinementFacts {
        let settings = &self.loaded.settings;
        let allowed = if settings.boolean("security.toolSandboxing") {
            ConfinementLevel::WorkspaceWrite
        } else {
            ConfinementLevel::Protect
        };
        let yolo = match settings.text("pollux.sandbox.yolo").and_then(ConfinementLevel::named) {
            Some(ConfinementLevel::None) => ConfinementLevel::None,
            _ => allowed,
        };
        let auto_inspect = settings.boolean("pollux.sandbox.autoInspect");
        ConfinementFacts { support: None, allowed, yolo, auto_inspect }
    }

    /// Returns the inputs of the confinement of commands.
    pub(crate) fn sandbox_inputs(&self) -> SandboxInputs {
        let secrets = self.loaded.settings.texts("pollux.sandbox.secrets").unwrap_or_default();
        SandboxInputs {
            protected: self.protected_places(),
            state: self.places.pollux_dir(),
            secrets: secrets.into_iter().map(|path| self.input.request.folder.join(path)).collect(),
        }
    }

    fn protected_places(&self) -> ProtectedPlaces {
        let mut protected = ProtectedPlaces::new(&self.places, &self.input.environment);
        protected.temporary.clone_from(&self.project.temporary_dir);
        protected.context_names = context::names(&self.loaded.settings.context().file_names);
        protected.files.extend(self.named_files());
        protected
    }

    /// Returns the policy files, and the file of the system prompt, that the options, the settings
    /// or the environment name.
    fn named_files(&self) -> impl Iterator<Item = PathBuf> {
        let policies = rules::named_files(
            &self.input.options,
            &self.loaded,
            &self.places,
            &self.input.request.folder,
        );
        let prompt = self.file_of(variables::GEMINI_SYSTEM_MD).ok().flatten();
        // A device is no file of the user, and a folder around the workspace stays writable.
        let is_device =
            |path: &Path| pollux_fs::info(path).is_ok_and(|info| info.kind == EntryKind::Special);
        let folders = self.folders();
        let is_around = move |path: &Path| folders.iter().any(|folder| folder.starts_with(path));
        let files = policies.into_iter().flatten().chain(prompt);
        files.filter(move |path| !is_device(path) && !is_around(path))
    }
}
