//! Rules of a run from the settings, the options and the policy files.

use std::path::{Path, PathBuf};

use pollux_config::{Accepted, Loaded, Places, server_lists};
use pollux_extensions::ExtensionSet;
use pollux_policy::{FoundPolicies, PolicyFile, PolicyPlaces, ToolLists};
use pollux_protocol::SessionRequest;
use serde_json::Value;

use crate::options::RunOptions;
use pollux_protocol::SessionFailure;

/// Warnings about deprecated lists, which policy files replace.
const ALLOWED_IS_OLD: &str = "[WARNING] --allowed-tools and tools.allowed are deprecated. Use rules in policy files instead: see docs/policy.md.";
const EXCLUDE_IS_OLD: &str =
    "[WARNING] tools.exclude is deprecated. Use rules in policy files instead: see docs/policy.md.";

/// Settings with names of tools.
const TOOL_LISTS: [&str; 4] =
    ["tools.core", "tools.allowed", "tools.exclude", "tools.confirmationRequired"];

/// Returns the policy files and folders that the options or the settings name: those of the user,
/// and those of the administrator.
pub(crate) fn named_files(
    options: &RunOptions,
    loaded: &Loaded,
    places: &Places,
    cwd: &Path,
) -> [Vec<PathBuf>; 2] {
    let rules = &options.rules;
    [(&rules.policy, "policyPaths"), (&rules.admin_policy, "adminPolicyPaths")].map(
        |(given, setting)| {
            let configured = texts(loaded, setting);
            let paths = if given.is_empty() { &configured } else { given };
            let whole = |path: &String| pollux_fs::absolute(cwd, &places.expand_home(path));
            paths.iter().filter(|path| !path.is_empty()).map(whole).collect()
        },
    )
}

/// Reads the policy files, adds the rules of settings and options, and reports problems.
///
/// # Errors
/// [`SessionFailure::Config`] for a broken file in a headless run: the file may have denied
/// anything.
pub(crate) fn read(
    options: &RunOptions,
    loaded: &Loaded,
    places: &Places,
    request: &SessionRequest,
    accepted: &Accepted,
    extensions: &ExtensionSet,
) -> Result<PolicyFile, SessionFailure> {
    let (cwd, notices) = (request.folder.as_path(), request.notices.as_ref());
    let lists = tool_lists(options, loaded);
    if !options.looks_up {
        let listed = [(&lists.allowed, ALLOWED_IS_OLD), (&lists.exclude, EXCLUDE_IS_OLD)];
        for (_, warning) in listed.iter().filter(|(list, _)| !list.is_empty()) {
            notices.warning(warning);
        }
        for (key, unknown) in unknown_tools(loaded) {
            notices.warning(&format!("[WARNING] {key} names no known tool: {unknown}."));
        }
    }
    let [user, admin] = named_files(options, loaded, places, cwd);
    let brought = extensions.active();
    let brought = brought.map(|extension| (extension.name().to_owned(), extension.policies()));
    let found = FoundPolicies::read(&PolicyPlaces {
        user: &user,
        default_user: &places.user_policies(),
        system: &places.system_policies(),
        admin: &admin,
        extensions: &brought.collect::<Vec<_>>(),
        project: loaded.trust.is_trusted().then_some(cwd),
        accepts: &|item| accepted.accepts(item),
    });
    for warning in &found.warnings {
        notices.warning(warning);
    }
    if options.debug {
        for path in &found.read {
            notices.info(&format!("Read policies: {}", path.display()));
        }
    }
    let mut file = found.file;
    let errors: Vec<String> = file
        .problems
        .iter()
        .filter(|problem| problem.is_error())
        .map(ToString::to_string)
        .collect();
    if !errors.is_empty() && request.operator.is_none() && !options.looks_up {
        let errors = errors.join("\n");
        return Err(SessionFailure::Config(format!(
            "{errors}\nAn unreadable policy file may contain rules that deny calls. Fix it, or choose other files with --policy."
        )));
    }
    // Commands that only show the rules report these problems in their own format.
    if !options.looks_up {
        for line in problem_notices(&file) {
            notices.warning(&line);
        }
    }
    file.rules.extend(lists.rules());
    Ok(file)
}

/// Returns messages about the problems of policy files, warnings before errors.
pub fn problem_notices(file: &PolicyFile) -> Vec<String> {
    let (errors, doubts): (Vec<_>, Vec<_>) =
        file.problems.iter().partition(|problem| problem.is_error());
    let consequence = (!errors.is_empty())
        .then(|| "Yolo mode and saved approvals have no effect until this is fixed.".to_owned());
    doubts.iter().chain(&errors).map(ToString::to_string).chain(consequence).collect()
}

/// Returns the settings with names of tools that do not exist, each with these names.
pub fn unknown_tools(loaded: &Loaded) -> Vec<(&'static str, String)> {
    let unknown = |key| {
        let unknown = pollux_policy::unknown_tools(&loaded.settings.texts(key).unwrap_or_default());
        (!unknown.is_empty()).then(|| (key, unknown.join(", ")))
    };
    TOOL_LISTS.into_iter().filter_map(unknown).collect()
}

/// Returns the lists of tools and servers from `tools.*`, `mcp.*` and the options.
pub(crate) fn tool_lists(options: &RunOptions, loaded: &Loaded) -> ToolLists {
    let texts = |key| loaded.settings.texts(key);
    let given = &options.rules.allowed_tools;
    let servers = loaded.settings.value("mcpServers").and_then(Value::as_object);
    let trusts = |(name, server): (&String, &Value)| {
        (server.get("trust") == Some(&Value::Bool(true))).then(|| name.clone())
    };
    let headless = loaded.settings.value("mcp.autoAllowInHeadless") == Some(&Value::Bool(true));
    let names = servers.into_iter().flatten();
    // No settings layer can restore a server that another layer excludes.
    let listed = server_lists(&loaded.layers);
    let given_servers = options.rules.allowed_servers.clone();
    ToolLists {
        core: texts("tools.core"),
        allowed: if given.is_empty() {
            texts("tools.allowed").unwrap_or_default()
        } else {
            given.clone()
        },
        exclude: texts("tools.exclude").unwrap_or_default(),
        confirmation_required: texts("tools.confirmationRequired").unwrap_or_default(),
        excluded_servers: if given_servers.is_some() { Vec::new() } else { listed.excluded },
        allowed_servers: given_servers.or(listed.allowed).unwrap_or_default(),
        trusted_servers: names.clone().filter_map(trusts).collect(),
        headless_servers: names.filter(|_| headless).map(|(name, _)| name.clone()).collect(),
    }
}

fn texts(loaded: &Loaded, setting: &str) -> Vec<String> {
    let values = loaded.settings.value(setting).and_then(Value::as_array);
    values.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}
