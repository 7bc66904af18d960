//! Landlock: files, TCP, signals and other processes (landlock(7)).

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use ::landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible as _, PathBeneath,
    PathFd, Ruleset, RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _, Scope,
};
use pollux_protocol::ConfinementLevel;

use crate::sandbox::{NetworkAccess, SandboxPlan, SignalReach};

/// Devices that every program may write.
const DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/tty", "/dev/ptmx"];
/// First version in which renaming between folders can be granted.
const REFER_GRANTED: i32 = 2;
/// First version that can keep signals inside.
pub(super) const SIGNALS_SCOPED: i32 = 6;
/// Other devices that can be read at `inspect`. Disks are not included, because they hold all
/// secrets.
const READABLE_DEVICES: [&str; 3] = ["/dev/random", "/dev/urandom", "/dev/shm"];

/// Restricts this process. `version` is the kernel's version of Landlock.
pub(super) fn restrict(plan: &SandboxPlan, version: i32) -> Result<(), String> {
    let abi = match version {
        ..=0 => return Err("the kernel has no Landlock".to_owned()),
        1 => ABI::V1,
        2 => ABI::V2,
        3 => ABI::V3,
        4 => ABI::V4,
        5 => ABI::V5,
        _ => ABI::V6,
    };
    let failed = |error: ::landlock::RulesetError| format!("Landlock: {error}");
    let has_network =
        plan.level == ConfinementLevel::WorkspaceWrite && plan.network == NetworkAccess::Allowed;
    let mut ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(abi))
        .map_err(failed)?;
    if abi >= ABI::V4 && !has_network {
        ruleset = ruleset.handle_access(AccessNet::from_all(abi)).map_err(failed)?;
    }
    let scope = match (plan.level, plan.signals) {
        (ConfinementLevel::Inspect, _) => Scope::from_all(abi),
        (_, SignalReach::OwnCommand) => Scope::from_all(abi) & Scope::Signal,
        (_, SignalReach::Others) => BitFlags::EMPTY,
    };
    if !scope.is_empty() {
        ruleset = ruleset.scope(scope).map_err(failed)?;
    }
    let mut rules = Rules { created: ruleset.create().map_err(failed)?, abi };
    match plan.level {
        ConfinementLevel::Inspect => rules.inspect(plan)?,
        _ => rules.workspace_write(plan)?,
    }
    rules.created.restrict_self().map_err(failed)?;
    Ok(())
}

/// Keeps root at `protect` from processes outside of the level: root could otherwise trace a
/// process with fewer capabilities. Restricts no file. Needs a capability, because set-user-id
/// programs must continue to work.
pub(super) fn separate(plan: &SandboxPlan, version: i32) -> Result<(), String> {
    if version < REFER_GRANTED {
        return Ok(());
    }
    let failed = |error: ::landlock::RulesetError| format!("Landlock: {error}");
    let access = AccessFs::Refer | AccessFs::MakeBlock;
    let root = PathFd::new("/").map_err(|error| format!("Landlock: {error}"))?;
    Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(access)
        .and_then(|ruleset| {
            if scopes_signals(plan, version) { ruleset.scope(Scope::Signal) } else { Ok(ruleset) }
        })
        .and_then(Ruleset::create)
        .and_then(|created| created.add_rule(PathBeneath::new(root, access)))
        .and_then(|created| created.no_new_privs(false).restrict_self())
        .map(drop)
        .map_err(failed)
}

/// Keeps signals of this process inside its level, and restricts nothing else.
pub(super) fn keep_signals(plan: &SandboxPlan, version: i32) -> Result<(), String> {
    if !scopes_signals(plan, version) {
        return Ok(());
    }
    Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .scope(Scope::Signal)
        .and_then(Ruleset::create)
        .and_then(RulesetCreated::restrict_self)
        .map(drop)
        .map_err(|error| format!("Landlock: {error}"))
}

fn scopes_signals(plan: &SandboxPlan, version: i32) -> bool {
    version >= SIGNALS_SCOPED && plan.signals == SignalReach::OwnCommand
}

struct Rules {
    created: RulesetCreated,
    abi: ABI,
}

impl Rules {
    fn inspect(&mut self, plan: &SandboxPlan) -> Result<(), String> {
        let devices = PathBuf::from("/dev");
        self.read(&plan.readable, plan.hidden.iter().chain([&devices]))?;
        self.devices()?;
        for device in READABLE_DEVICES {
            self.allow(Path::new(device), read(), device == "/dev/shm")?;
        }
        if let Some(folder) = &plan.temporary {
            self.all_in(folder)?;
        }
        self.job_list(plan)
    }

    fn workspace_write(&mut self, plan: &SandboxPlan) -> Result<(), String> {
        self.allow(Path::new("/"), read(), true)?;
        self.devices()?;
        // Terminals that the command creates itself.
        self.allow(Path::new("/dev/pts"), write(self.abi), true)?;
        for path in &plan.writable {
            if path.is_dir() {
                self.all_in(path)?;
            } else {
                self.allow(path, write(self.abi), false)?;
            }
        }
        self.job_list(plan)
    }

    /// Grants reading of these files and folders except the hidden paths: in the folders that lead
    /// to a hidden path, each entry is granted separately. Names in folders can always be listed.
    fn read<'a>(
        &mut self,
        readable: &[PathBuf],
        hidden: impl Iterator<Item = &'a PathBuf>,
    ) -> Result<(), String> {
        // For a link, its target is hidden; the link itself leads to no other secret.
        let hidden: BTreeSet<PathBuf> =
            hidden.filter_map(|path| path.canonicalize().ok()).collect();
        self.allow(Path::new("/"), AccessFs::ReadDir.into(), true)?;
        let along: BTreeSet<&Path> =
            hidden.iter().flat_map(|path| path.ancestors().skip(1)).collect();
        let is_hidden = |path: &Path| path.ancestors().any(|above| hidden.contains(above));
        for path in readable.iter().filter(|path| !is_hidden(path)) {
            if !along.contains(path.as_path()) {
                self.allow(path, read(), path.is_dir())?;
            }
        }
        let is_readable = |folder: &Path| readable.iter().any(|path| folder.starts_with(path));
        for folder in along.iter().filter(|folder| is_readable(folder) && !is_hidden(folder)) {
            let Ok(entries) = folder.read_dir() else { continue };
            for entry in entries.flatten() {
                let path = entry.path();
                let Ok(kind) = entry.file_type() else { continue };
                let is_free = !hidden.contains(&path) && !along.contains(path.as_path());
                if is_free && !kind.is_symlink() {
                    self.allow(&path, read(), kind.is_dir())?;
                }
            }
        }
        Ok(())
    }

    fn devices(&mut self) -> Result<(), String> {
        for device in DEVICES {
            self.allow(Path::new(device), write(self.abi), false)?;
        }
        for terminal in terminals() {
            self.allow(&terminal, write(self.abi), false)?;
        }
        Ok(())
    }

    fn job_list(&mut self, plan: &SandboxPlan) -> Result<(), String> {
        plan.job_list.iter().try_for_each(|file| {
            self.allow(file, write(self.abi) & !BitFlags::from(AccessFs::IoctlDev), false)
        })
    }

    /// Grants everything in a folder except devices.
    fn all_in(&mut self, folder: &Path) -> Result<(), String> {
        let devices = AccessFs::MakeChar | AccessFs::MakeBlock | AccessFs::IoctlDev;
        self.allow(folder, AccessFs::from_all(self.abi) & !devices, true)
    }

    /// Grants access to a file or folder. Does nothing if the file or folder is gone.
    fn allow(
        &mut self,
        path: &Path,
        access: BitFlags<AccessFs>,
        is_folder: bool,
    ) -> Result<(), String> {
        let Ok(opened) = PathFd::new(path) else { return Ok(()) };
        let access = if is_folder { access } else { access & AccessFs::from_file(self.abi) };
        (&mut self.created)
            .add_rule(PathBeneath::new(opened, access))
            .map(drop)
            .map_err(|error| format!("Landlock, {}: {error}", path.display()))
    }
}

fn read() -> BitFlags<AccessFs> {
    AccessFs::Execute | AccessFs::ReadFile | AccessFs::ReadDir
}

fn write(abi: ABI) -> BitFlags<AccessFs> {
    let access = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::Truncate | AccessFs::IoctlDev;
    access & AccessFs::from_all(abi)
}

/// Returns the terminals among the standard streams.
fn terminals() -> BTreeSet<PathBuf> {
    let streams = ["/proc/self/fd/0", "/proc/self/fd/1", "/proc/self/fd/2"];
    let is_terminal = |path: &PathBuf| {
        path.starts_with("/dev/pts") || path.as_os_str().as_encoded_bytes().starts_with(b"/dev/tty")
    };
    streams.iter().filter_map(|path| Path::new(path).read_link().ok()).filter(is_terminal).collect()
}
