//! `pollux sandbox`: the confinement that this system offers, and a command that runs in it.

use std::path::PathBuf;
use std::sync::Arc;

use pollux_config::Places;
use pollux_config::protected::ProtectedPlaces;
use pollux_protocol::ConfinementLevel;
use pollux_shell::sandbox::{
    GitConfiguration, NetworkAccess, RunningAudit, SandboxPlaces, SandboxSpec, SandboxSupport,
};
use pollux_shell::{
    ChildSpec, Confinement, ForegroundEnd, Program, ShellError, status_in_foreground,
};
use serde_json::{Value, json};

use crate::arguments::{SandboxArguments, SandboxVerb};
use crate::exit::Failure;
use crate::process::Process;

/// Exit code for a level that is not available: the command did not run.
const NOT_CONFINED: u8 = 125;
/// Exit code for a program that cannot be started.
const NOT_STARTED: u8 = 127;

/// Returns the text for standard output, and the exit code.
///
/// # Errors
/// For a current folder that cannot be read, and for a level that is not available.
pub(crate) async fn answer(
    process: &Process,
    arguments: &SandboxArguments,
) -> Result<(String, u8), Failure> {
    let folder = Process::folder()?;
    let places = Arc::new(places(process, folder.clone()));
    match &arguments.verb {
        SandboxVerb::Status { json } => Ok((status(&places, *json), 0)),
        SandboxVerb::Run { level, network, git_configuration, command } => {
            let Some((program, rest)) = command.split_first() else {
                return Ok((String::new(), 0));
            };
            let (path, arguments) = (PathBuf::from(program), rest.to_vec());
            let program = Program::File { path, arguments };
            let mut spec = SandboxSpec::new(*level, places);
            if *network {
                spec.network = NetworkAccess::Allowed;
            }
            if *git_configuration {
                spec.git_configuration = GitConfiguration::Writable;
            }
            let environment =
                process.environment.iter().map(|(name, value)| (name.into(), value.into()));
            let mut child = ChildSpec::new(program, folder, environment.collect());
            child.confinement = Confinement::of(spec);
            Ok((String::new(), run(&child).await))
        }
    }
}

/// Returns the places of the levels for a workspace of one folder.
fn places(process: &Process, folder: PathBuf) -> SandboxPlaces {
    let places = Places::new(&process.environment);
    let protected = ProtectedPlaces::new(&places, &process.environment);
    SandboxPlaces::standard(&protected, vec![folder], places.pollux_dir(), std::env::temp_dir())
}

/// Runs a command with the standard streams of this program.
async fn run(child: &ChildSpec) -> u8 {
    let audit = match &child.confinement {
        Confinement::Level(spec) => RunningAudit::begin(spec).0,
        Confinement::None => None,
    };
    let code = run_to_end(child).await;
    let changes = audit.map(RunningAudit::finish).unwrap_or_default();
    for change in changes {
        crate::stderr::stderr_line(&change.to_string());
    }
    code
}

async fn run_to_end(child: &ChildSpec) -> u8 {
    // The terminal sends an interrupt to both processes; the command decides how to handle it.
    let interrupt = tokio::signal::ctrl_c();
    let status = tokio::select! {
        biased;
        status = status_in_foreground(child) => status,
        () = async { interrupt.await.ok(); std::future::pending().await } => return NOT_STARTED,
    };
    match status {
        Ok(end) => code_of(end),
        Err(error) => {
            crate::stderr::stderr_line(&format!("{error}."));
            match error {
                ShellError::Confinement { .. } => NOT_CONFINED,
                _ => NOT_STARTED,
            }
        }
    }
}

fn code_of(end: ForegroundEnd) -> u8 {
    let code = end.code.or_else(|| end.signal.map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX)
}

fn status(places: &SandboxPlaces, as_json: bool) -> String {
    let support = SandboxSupport::probe();
    let levels = ConfinementLevel::ALL
        .map(|level| (level, support.unavailable_reason(level), support.limits(level)));
    let mechanisms = support.mechanisms();
    if as_json {
        let levels: Vec<Value> = levels
            .iter()
            .map(|(level, lack, limits)| {
                json!({
                    "level": level.as_str(),
                    "holds": lack.is_none(),
                    "reason": lack,
                    "limits": limits,
                })
            })
            .collect();
        let reported = json!({
            "mechanisms": {
                "landlock": mechanisms.landlock,
                "seccomp": mechanisms.seccomp,
                "mountNamespace": mechanisms.mount_namespace,
                "userNamespace": mechanisms.user_namespace,
                "mountAttributes": mechanisms.mount_attributes,
                "root": mechanisms.root,
            },
            "levels": levels,
            "writable": places.caches,
            "state": places.state,
        });
        return format!("{reported:#}\n");
    }
    let yes = |is: bool| if is { "yes" } else { "no" };
    let landlock = match mechanisms.landlock {
        0 => "no".to_owned(),
        version => format!("yes, version {version}"),
    };
    let mut lines = vec![
        "Mechanisms:".to_owned(),
        format!("  Landlock: {landlock}"),
        format!("  Filters of system calls (seccomp): {}", yes(mechanisms.seccomp)),
        format!("  Mount namespace without a user namespace: {}", yes(mechanisms.mount_namespace)),
        format!("  User namespace: {}", yes(mechanisms.user_namespace)),
        format!("  Root: {}", yes(mechanisms.root)),
        "Levels:".to_owned(),
    ];
    for (level, lack, limits) in levels {
        let reason = lack.map(|lack| format!(": {lack}")).unwrap_or_default();
        lines.push(format!("  {}: {}{reason}", level.as_str(), yes(lack.is_none())));
        lines.extend(limits.into_iter().map(|limit| format!("    {limit}")));
    }
    lines.push("Writable at workspace-write, in addition to the workspace:".to_owned());
    lines.extend(places.caches.iter().map(|folder| format!("  {}", folder.display())));
    lines.join("\n") + "\n"
}
