//! Built-in rules of Pollux: the files in `defaults/`.

use std::path::Path;
use std::sync::LazyLock;

use crate::file::{self, PolicyFile};
use crate::rule::Tier;

/// Names and contents of the files.
const FILES: [(&str, &str); 7] = [
    ("agents.toml", include_str!("../defaults/agents.toml")),
    ("conseca.toml", include_str!("../defaults/conseca.toml")),
    ("plan.toml", include_str!("../defaults/plan.toml")),
    ("questions.toml", include_str!("../defaults/questions.toml")),
    ("read-only.toml", include_str!("../defaults/read-only.toml")),
    ("write.toml", include_str!("../defaults/write.toml")),
    ("yolo.toml", include_str!("../defaults/yolo.toml")),
];

/// Returns the rules for a run without a user that may run commands which only read.
pub(crate) fn headless_reads() -> PolicyFile {
    let text = include_str!("../defaults/headless.toml");
    file::read(Tier::Default, Path::new("headless.toml"), text)
}

/// Returns the rules and checkers of the lowest tier. The files are parsed once.
pub(crate) fn defaults() -> PolicyFile {
    static ALL: LazyLock<PolicyFile> = LazyLock::new(|| {
        let mut all = PolicyFile::default();
        for (name, text) in FILES {
            all.extend(file::read(Tier::Default, Path::new(name), text));
        }
        all
    });
    ALL.clone()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_in_order() {
        let defaults = defaults();
        assert_eq!(defaults.problems, Vec::new());
        assert!(defaults.rules.len() > 40);
        assert_eq!(defaults.checkers.len(), 3);
        assert_eq!(headless_reads().problems, Vec::new());
        assert_eq!(headless_reads().rules.len(), 1);
    }
}
