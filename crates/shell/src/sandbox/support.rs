//! Mechanisms of confinement that the kernel offers to this process, and the levels that they
//! support.

use pollux_protocol::ConfinementLevel;

/// Mechanisms that the kernel offers to this process.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SandboxMechanisms {
    /// Version of Landlock; 0 without Landlock.
    pub landlock: i32,
    /// True if system calls can be filtered.
    pub seccomp: bool,
    /// True if this process may create a mount namespace without a user namespace.
    pub mount_namespace: bool,
    /// True if this process may create a user namespace with a mount namespace in it.
    pub user_namespace: bool,
    /// True if attributes of mounts can be set for a whole tree (`mount_setattr`, Linux 5.12).
    pub mount_attributes: bool,
    /// True if this crate has a list of system calls for the processor.
    pub processor: bool,
    /// True if this process runs as root.
    pub root: bool,
    /// True if there is a program that confines children, see
    /// [`confined_child`](super::confined_child).
    pub helper: bool,
}

/// Levels of confinement that are available.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SandboxSupport(SandboxMechanisms);

impl SandboxSupport {
    /// Detects the mechanisms, once per process. Starts short-lived child processes.
    pub fn probe() -> Self {
        static PROBED: std::sync::OnceLock<SandboxSupport> = std::sync::OnceLock::new();
        *PROBED.get_or_init(|| Self(super::linux::probe()))
    }

    /// Creates the support that these mechanisms give.
    pub fn from_mechanisms(mechanisms: SandboxMechanisms) -> Self {
        Self(mechanisms)
    }

    /// Returns the mechanisms that the kernel offers.
    pub fn mechanisms(&self) -> SandboxMechanisms {
        self.0
    }

    /// Returns the reason for which a level is not available; `None` if it is available.
    pub fn unavailable_reason(&self, level: ConfinementLevel) -> Option<&'static str> {
        let SandboxMechanisms { landlock, seccomp, mount_attributes, processor, .. } = self.0;
        let has_namespace = self.0.mount_namespace || self.0.user_namespace;
        let needs_landlock =
            matches!(level, ConfinementLevel::Inspect | ConfinementLevel::WorkspaceWrite);
        let needs_mounts =
            matches!(level, ConfinementLevel::Protect | ConfinementLevel::WorkspaceWrite);
        if level == ConfinementLevel::None {
            None
        } else if !cfg!(target_os = "linux") {
            Some("Pollux confines commands on Linux only.")
        } else if !self.0.helper {
            Some("This program does not confine the commands that it starts.")
        } else if !processor {
            Some("Pollux has no list of system calls for this processor.")
        } else if !seccomp {
            Some("The kernel does not allow this process to filter system calls (seccomp).")
        } else if needs_landlock && landlock < 1 {
            Some("The kernel has no Landlock, or it is not enabled.")
        } else if needs_mounts && !mount_attributes {
            Some("The kernel cannot make a tree of mounts read-only (requires Linux 5.12).")
        } else if needs_mounts && !has_namespace {
            Some(
                "The kernel does not allow this process to create its own mounts (mount namespace).",
            )
        } else {
            None
        }
    }

    /// Returns the limits of an available level, compared with a current kernel. The result is
    /// empty for a level that is not available.
    pub fn limits(&self, level: ConfinementLevel) -> Vec<&'static str> {
        let mut limits = Vec::new();
        if level == ConfinementLevel::None || self.unavailable_reason(level).is_some() {
            return limits;
        }
        if level == ConfinementLevel::Inspect && self.0.landlock < 6 {
            limits.push(
                "Signals to any process of the same user are possible, but only with tgkill (requires Landlock 6 to prevent).",
            );
        }
        if level == ConfinementLevel::Protect && self.0.root && self.0.landlock < 2 {
            limits.push(
                "Processes of root with fewer capabilities can be traced, their memory included (Landlock 2).",
            );
        }
        if level != ConfinementLevel::Inspect && !self.0.mount_namespace {
            limits.push(
                "Files of other users appear to belong to the user nobody, and sudo and su do not work (user namespace).",
            );
        }
        limits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn a_level_holds_only_with_all_its_mechanisms() {
        let all = SandboxMechanisms {
            landlock: 7,
            seccomp: true,
            mount_namespace: true,
            user_namespace: true,
            mount_attributes: true,
            processor: true,
            root: true,
            helper: true,
        };
        let held = |mechanisms| {
            let support = SandboxSupport::from_mechanisms(mechanisms);
            ConfinementLevel::ALL.map(|level| support.unavailable_reason(level).is_none())
        };
        assert_eq!(held(all), [true; 4]);
        let lacks = [
            (SandboxMechanisms { landlock: 0, ..all }, [false, false, true, true]),
            (SandboxMechanisms { seccomp: false, ..all }, [false, false, false, true]),
            (SandboxMechanisms { mount_namespace: false, ..all }, [true; 4]),
            (SandboxMechanisms { user_namespace: false, ..all }, [true; 4]),
            (
                SandboxMechanisms { mount_namespace: false, user_namespace: false, ..all },
                [true, false, false, true],
            ),
            (SandboxMechanisms { mount_attributes: false, ..all }, [true, false, false, true]),
            (SandboxMechanisms { processor: false, ..all }, [false, false, false, true]),
            (SandboxMechanisms { helper: false, ..all }, [false, false, false, true]),
        ];
        for (mechanisms, expected) in lacks {
            assert_eq!(held(mechanisms), expected, "{mechanisms:?}");
            let support = SandboxSupport::from_mechanisms(mechanisms);
            for level in ConfinementLevel::ALL
                .into_iter()
                .filter(|level| support.unavailable_reason(*level).is_some())
            {
                assert!(support.limits(level).is_empty(), "{mechanisms:?}");
            }
        }
        let user = SandboxMechanisms { mount_namespace: false, landlock: 5, ..all };
        let limits = ConfinementLevel::ALL
            .map(|level| SandboxSupport::from_mechanisms(user).limits(level).len());
        assert_eq!(limits, [1, 1, 1, 0]);
        let without_landlock =
            SandboxSupport::from_mechanisms(SandboxMechanisms { landlock: 0, ..all });
        assert_eq!(without_landlock.limits(ConfinementLevel::Protect).len(), 1);
        // An old kernel lacks the namespace because it lacks the attributes.
        let old = SandboxMechanisms {
            mount_namespace: false,
            user_namespace: false,
            mount_attributes: false,
            ..all
        };
        let lack =
            SandboxSupport::from_mechanisms(old).unavailable_reason(ConfinementLevel::Protect);
        assert!(lack.unwrap().contains("5.12"), "{lack:?}");
    }
}
