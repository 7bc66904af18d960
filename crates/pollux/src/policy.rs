//! The rules of a run: from the settings, the flags and the policy files.

use std::path::{Path, PathBuf};

use pollux_config::{Accepted, Loaded, Places, server_lists};
use pollux_policy::{Facts, FoundPolicies, Policy, PolicyFile, PolicyPlaces, Subject, ToolLists};
use pollux_shell::{Dialect, Shell};
use serde_json::Value;

use crate::arguments::Arguments;
use crate::exit::Failure;
use crate::headless::stderr_line;
use crate::line::Lasting;
use crate::setup::{Setup, expand_home};

mod checkers;
pub(crate) mod explain;

/// Gemini CLI's words about lists that policy files replace.
const ALLOWED_IS_OLD: &str = "Warning: --allowed-tools cli argument and tools.allowed in settings.json are deprecated and will be removed in 1.0: Migrate to Policy Engine: https://geminicli.com/docs/core/policy-engine/";
const EXCLUDE_IS_OLD: &str = "Warning: tools.exclude in settings.json is deprecated and will be removed in 1.0. Migrate to Policy Engine: https://geminicli.com/docs/core/policy-engine/";

/// Reads what the files, the settings and the flags say, and tells what is wrong with it.
///
/// # Errors
/// Without a person, when a file is broken: nobody knows what it would have denied.
pub(crate) fn read(
    arguments: &Arguments,
    loaded: &Loaded,
    places: &Places,
    cwd: &Path,
    accepted: &Accepted,
    interactive: bool,
) -> Result<PolicyFile, Failure> {
    let lists = tool_lists(arguments, loaded);
    if !arguments.looks_up {
        let told = [(&lists.allowed, ALLOWED_IS_OLD), (&lists.exclude, EXCLUDE_IS_OLD)];
        for (_, words) in told.iter().filter(|(list, _)| !list.is_empty()) {
            stderr_line(words);
        }
    }
    let paths = |given: &[String], setting: &str| -> Vec<PathBuf> {
        let configured = texts(loaded, setting);
        let paths = if given.is_empty() { &configured } else { given };
        let whole = |path: &String| pollux_fs::absolute(cwd, &expand_home(path, &places.home));
        paths.iter().filter(|path| !path.is_empty()).map(whole).collect()
    };
    let mut user = paths(&arguments.rules.policy, "policyPaths");
    if user.is_empty() {
        user.push(places.user_policies());
    }
    let found = FoundPolicies::read(&PolicyPlaces {
        user: &user,
        system: &places.system_policies(),
        admin: &paths(&arguments.rules.admin_policy, "adminPolicyPaths"),
        project: loaded.trust.is_trusted().then_some(cwd),
        accepts: &|item| accepted.accepts(item),
    });
    for warning in &found.warnings {
        stderr_line(warning);
    }
    let mut file = found.file;
    let (errors, doubts): (Vec<_>, Vec<_>) =
        file.problems.iter().partition(|problem| problem.is_error());
    for problem in doubts {
        stderr_line(&problem.to_string());
    }
    let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
    if !errors.is_empty() && !interactive && !arguments.looks_up {
        let told = errors.join("\n");
        return Err(Failure::config(format!(
            "{told}\nA policy file that cannot be read may have denied anything: mend it, or choose others with --policy."
        )));
    }
    if !errors.is_empty() {
        for error in &errors {
            stderr_line(error);
        }
        stderr_line("Until this is mended yolo mode and saved approvals do not count.");
    }
    file.rules.extend(lists.rules());
    Ok(file)
}

/// What `tools.*`, `mcp.*` and the flags say.
pub(crate) fn tool_lists(arguments: &Arguments, loaded: &Loaded) -> ToolLists {
    let tools = &loaded.settings.tools;
    let given = &arguments.rules.allowed_tools;
    let servers = loaded.settings.value("mcpServers").and_then(Value::as_object);
    let trusts = |(name, server): (&String, &Value)| {
        (server.get("trust") == Some(&Value::Bool(true))).then(|| name.clone())
    };
    let headless = loaded.settings.value("mcp.autoAllowInHeadless") == Some(&Value::Bool(true));
    let names = servers.into_iter().flatten();
    // No layer gives back what another takes away.
    let listed = server_lists(&loaded.layers);
    ToolLists {
        core: tools.core.clone(),
        allowed: if given.is_empty() { tools.allowed.clone() } else { given.clone() },
        exclude: tools.exclude.clone(),
        confirmation_required: tools.confirmation_required.clone(),
        excluded_servers: listed.excluded,
        allowed_servers: listed.allowed.unwrap_or_default(),
        trusted_servers: names.clone().filter_map(trusts).collect(),
        headless_servers: names.filter(|_| headless).map(|(name, _)| name.clone()).collect(),
    }
}

fn texts(loaded: &Loaded, setting: &str) -> Vec<String> {
    let values = loaded.settings.value(setting).and_then(Value::as_array);
    values.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

impl Setup {
    /// True for a tool that the rules do not take away.
    pub(crate) fn offers(&self, tool: &str) -> bool {
        self.policy("").declares(Subject::named(tool), self.mode)
    }

    /// The rules of this run.
    pub(crate) fn policy(&self, session_id: &str) -> Policy {
        Policy::new(self.facts(session_id), self.rules.clone())
    }

    /// The lasting permissions that a person may give.
    pub(crate) fn lasting_permissions(&self) -> Lasting {
        let facts = self.facts("");
        let kept = self.loaded.settings.value("security.enablePermanentToolApproval");
        Lasting {
            session: facts.trusted && !facts.without_approvals,
            saved: kept == Some(&Value::Bool(true)) && !facts.is_suspended,
            preselected: self.loaded.settings.boolean("security.autoAddToPolicyByDefault"),
        }
    }

    fn facts(&self, session_id: &str) -> Facts {
        let environment = self.loaded.environment.iter().map(|(name, _)| name.to_owned());
        let security = &self.loaded.settings.security;
        let always = self.loaded.settings.value("security.disableAlwaysAllow");
        Facts {
            interactive: self.interactive,
            trusted: self.loaded.trust.is_trusted(),
            folder: self.cwd.clone(),
            workspace: self.folders.clone(),
            plans_directory: self.plans_directory(session_id),
            dialect: Shell::current().map_or(Dialect::Posix, |shell| shell.dialect),
            environment: environment.collect(),
            approvals_file: self.places.user_policies().join(pollux_policy::APPROVALS_FILE),
            without_approvals: security.secure_mode_enabled || always == Some(&Value::Bool(true)),
            is_suspended: self.rules.problems.iter().any(pollux_policy::Problem::is_error),
        }
    }
}
