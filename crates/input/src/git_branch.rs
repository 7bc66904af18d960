//! The branch of a Git repository, for a row about the session.

use std::path::Path;

use pollux_protocol::plain_text::{for_terminal, one_line};

/// Maximum number of bytes that are read of a file of Git.
const LONGEST: usize = 4096;
/// Number of characters of a commit that stand for a branch.
const COMMIT: usize = 7;

/// Returns the branch that is checked out in the repository of a folder, or the beginning of the
/// commit; `None` outside of repositories. Reads two small files, and asks no program.
pub fn git_branch(folder: &Path) -> Option<String> {
    let git = folder
        .ancestors()
        .map(|folder| folder.join(".git"))
        .find(|git| pollux_fs::info(git).is_ok())?;
    let head = read(&git.join("HEAD")).or_else(|| {
        // The folder of a further work tree, or of a submodule.
        let place = read(&git)?;
        read(&git.parent()?.join(place.strip_prefix("gitdir:")?.trim()).join("HEAD"))
    })?;
    let head = head.trim();
    let name = match head.strip_prefix("ref: ") {
        Some(name) => name.strip_prefix("refs/heads/").unwrap_or(name),
        None => head.get(..COMMIT)?,
    };
    Some(one_line(&for_terminal(name))).filter(|name| !name.is_empty())
}

fn read(file: &Path) -> Option<String> {
    String::from_utf8(pollux_fs::read_head(file, LONGEST).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn the_branch_is_that_of_the_repository_around() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("shop/src");
        std::fs::create_dir_all(&folder).unwrap();
        let git = root.path().join("shop/.git");
        std::fs::create_dir(&git).unwrap();
        assert_eq!(git_branch(&folder), None);
        for (head, branch) in [
            ("ref: refs/heads/main\n", Some("main")),
            ("ref: refs/heads/fix/a-b\n", Some("fix/a-b")),
            ("ref: refs/heads/a\u{1b}[2Jb\n", Some("ab")),
            ("0123456789abcdef\n", Some("0123456")),
            ("\u{e9}\u{e9}\u{e9}\u{e9}", None),
            ("", None),
        ] {
            std::fs::write(git.join("HEAD"), head).unwrap();
            assert_eq!(git_branch(&folder).as_deref(), branch, "{head:?}");
        }
        let tree = root.path().join("tree");
        std::fs::create_dir(&tree).unwrap();
        std::fs::write(git.join("HEAD"), "ref: refs/heads/other\n").unwrap();
        std::fs::write(tree.join(".git"), "gitdir: ../shop/.git\n").unwrap();
        assert_eq!(git_branch(&tree).as_deref(), Some("other"));
    }
}
