//! Effects of a call, declared once.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// Declared effects of a call: the one value that policy, confirmation, scheduling, sandboxing,
/// pre-images and telemetry read. No component guesses effects.
///
/// All paths are absolute. The value is also written to session logs: a field that is missing there
/// counts as empty or false, so that logs of older versions stay readable.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Effects {
    /// True if the call may touch anything, in addition to the declared effects. Undo, path checks
    /// and defaults treat such a call as touching everything. A rule, a trusted server or an
    /// approval that allows the call still allows it, and the call may still run in parallel with
    /// others.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unknown: bool,
    /// Files that the call reads.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reads: Vec<PathBuf>,
    /// Folders that the call lists or searches, including everything below them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub searches: Vec<PathBuf>,
    /// Files and folders that the call creates or changes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub writes: Vec<PathBuf>,
    /// Files and folders that the call removes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub deletes: Vec<PathBuf>,
    /// Command line that the call passes to a shell. Only an analysis finds out which files it
    /// touches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Folder in which `command` runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folder: Option<PathBuf>,
    /// True if the call itself uses the network.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub network: bool,
    /// Hosts that the call connects to; empty if they are not known before the call runs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
    /// True if the call must not run in parallel with others: it waits for all earlier calls, and
    /// all later calls wait for it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub alone: bool,
}

impl Effects {
    /// Effects of a call that may touch anything.
    pub fn unknown() -> Self {
        Self { unknown: true, ..Self::default() }
    }

    /// Effects of a call that only reads the file `path`.
    pub fn read(path: impl Into<PathBuf>) -> Self {
        Self { reads: vec![path.into()], ..Self::default() }
    }

    /// Effects of a call that only searches these folders.
    pub fn search(folders: impl IntoIterator<Item = impl Into<PathBuf>>) -> Self {
        Self { searches: folders.into_iter().map(Into::into).collect(), ..Self::default() }
    }

    /// Effects of a call that changes the file `path` and must not run in parallel with others.
    pub fn write(path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        Self { reads: vec![path.clone()], writes: vec![path], alone: true, ..Self::default() }
    }

    /// Effects of a call that passes `line` to a shell in `folder`.
    pub fn command(line: impl Into<String>, folder: impl Into<PathBuf>) -> Self {
        Self { command: Some(line.into()), folder: Some(folder.into()), ..Self::default() }
    }

    /// Effects of a call that connects to these hosts; an empty list means that the hosts are not
    /// known yet.
    pub fn network(hosts: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let mut hosts: Vec<String> = hosts.into_iter().map(Into::into).collect();
        hosts.sort_unstable();
        hosts.dedup();
        Self { network: true, hosts, ..Self::default() }
    }

    /// Returns the same effects, plus possibly any other effect.
    #[must_use]
    pub fn or_unknown(self) -> Self {
        Self { unknown: true, ..self }
    }

    /// Adds the effects of a call that replaces this one.
    pub fn absorb(&mut self, other: Self) {
        let Self {
            unknown,
            reads,
            searches,
            writes,
            deletes,
            command,
            folder,
            network,
            hosts,
            alone,
        } = other;
        for (paths, more) in [
            (&mut self.reads, reads),
            (&mut self.searches, searches),
            (&mut self.writes, writes),
            (&mut self.deletes, deletes),
        ] {
            let new = more.into_iter().filter(|path| !paths.contains(path)).collect::<Vec<_>>();
            paths.extend(new);
        }
        if command.is_some() {
            (self.command, self.folder) = (command, folder);
        }
        self.hosts.extend(hosts);
        self.unknown |= unknown;
        self.network |= network;
        self.alone |= alone;
    }

    /// Returns the declared paths that the call creates, changes or removes.
    pub fn changes(&self) -> impl Iterator<Item = &Path> {
        self.writes.iter().chain(&self.deletes).map(PathBuf::as_path)
    }

    /// Returns every declared path once, changed paths first. A frontend may show these paths.
    pub fn locations(&self) -> Vec<PathBuf> {
        self.declared().into_iter().map(Path::to_path_buf).collect()
    }

    /// Returns the paths that the call is limited to, changed paths first. Empty for unknown
    /// effects, because the declared paths are then no guarantee.
    pub fn confined_to(&self) -> Vec<&Path> {
        if self.unknown { Vec::new() } else { self.declared() }
    }

    fn declared(&self) -> Vec<&Path> {
        let looked_at = self.reads.iter().chain(&self.searches).map(PathBuf::as_path);
        let mut declared: Vec<&Path> = Vec::new();
        for path in self.changes().chain(looked_at) {
            if !declared.contains(&path) {
                declared.push(path);
            }
        }
        declared
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn effects_of_older_logs_are_readable() {
        let old = json!({"reads": ["/p/a"], "writes": ["/p/a"], "command": "ls", "network": true});
        let effects: Effects = serde_json::from_value(old).unwrap();
        let expected = Effects {
            reads: vec!["/p/a".into()],
            writes: vec!["/p/a".into()],
            command: Some("ls".to_owned()),
            network: true,
            ..Effects::default()
        };
        assert_eq!(effects, expected);
        assert_eq!(serde_json::from_value::<Effects>(json!({})).unwrap(), Effects::default());
        let unknown = Effects::write("/p/a").or_unknown();
        let written = serde_json::to_value(&unknown).unwrap();
        assert_eq!(serde_json::from_value::<Effects>(written).unwrap(), unknown);
    }

    #[test]
    fn what_is_declared_beside_unknown_effects_vouches_for_nothing() {
        let effects = Effects { searches: vec!["/p".into()], ..Effects::write("/p/a") };
        let paths = [Path::new("/p/a"), Path::new("/p")];
        assert_eq!(effects.locations(), paths);
        assert_eq!(effects.confined_to(), paths);
        let unknown = effects.or_unknown();
        assert_eq!(unknown.locations(), paths);
        assert!(unknown.confined_to().is_empty());
    }

    #[test]
    fn a_call_in_the_place_of_another_adds_to_its_effects() {
        let mut effects = Effects::write("/p/a");
        effects.absorb(Effects { reads: vec!["/p/a".into()], ..Effects::command("ls", "/p") });
        effects.absorb(Effects::network(["h"]).or_unknown());
        let expected = Effects {
            unknown: true,
            command: Some("ls".to_owned()),
            folder: Some("/p".into()),
            network: true,
            hosts: vec!["h".to_owned()],
            ..Effects::write("/p/a")
        };
        assert_eq!(effects, expected);
    }

    #[test]
    fn hosts_stand_there_once() {
        assert_eq!(Effects::network(["b", "a", "b"]).hosts, ["a", "b"]);
    }
}
