//! Permitted changes of a repository's configuration by a command.
//!
//! There are many keys that name programs, and each version of Git adds more. The keys that may
//! change are therefore listed; if any other changes, the whole file returns to its bytes before
//! the command. Nothing is edited, so a difference between Git's reading and this one cannot leave
//! a part of the change.

use std::path::{Component, Path};
use std::str::Chars;

/// Keys without a subsection that may change, in lower case.
const FREE: [&str; 36] = [
    "user.name",
    "user.email",
    "user.signingkey",
    "core.repositoryformatversion",
    "core.filemode",
    "core.logallrefupdates",
    "core.ignorecase",
    "core.precomposeunicode",
    "core.symlinks",
    "core.autocrlf",
    "core.eol",
    "core.sparsecheckout",
    "core.sparsecheckoutcone",
    "core.quotepath",
    "core.longpaths",
    "core.abbrev",
    "extensions.worktreeconfig",
    "extensions.objectformat",
    "extensions.partialclone",
    "extensions.refstorage",
    "fetch.prune",
    "fetch.prunetags",
    "init.defaultbranch",
    "merge.conflictstyle",
    "merge.ff",
    "pull.ff",
    "pull.rebase",
    "push.autosetupremote",
    "push.default",
    "push.followtags",
    "rebase.autostash",
    "rebase.autosquash",
    "rerere.enabled",
    "submodule.active",
    "submodule.recurse",
    "status.showuntrackedfiles",
];

/// Sections with a subsection, and the keys in them that may change, in lower case.
const FREE_IN: [(&str, &[&str]); 3] = [
    ("remote", &["fetch", "mirror", "partialclonefilter", "promisor", "prune", "push", "tagopt"]),
    ("branch", &["description", "merge", "rebase"]),
    ("submodule", &["active", "branch", "ignore", "shallow"]),
];

/// Transports with which an address cannot start a program of its choice.
const TRANSPORTS: [&str; 6] = ["https://", "http://", "ssh://", "git://", "file://", "git+ssh://"];

/// One `key = value` of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ConfigEntry {
    section: String,
    subsection: Option<String>,
    /// Key in lower case.
    key: String,
    value: String,
}

impl ConfigEntry {
    fn name(&self) -> String {
        match &self.subsection {
            Some(subsection) => format!("{}.{subsection}.{}", self.section, self.key),
            None => format!("{}.{}", self.section, self.key),
        }
    }

    /// Returns true if the entry may change; `work_tree` is the value of `core.worktree` that Git
    /// itself writes.
    fn may_change(&self, work_tree: Option<&str>) -> bool {
        let key = self.key.as_str();
        let is_address = matches!(key, "url" | "pushurl");
        match &self.subsection {
            None if self.section == "core" && key == "bare" => self.value == "false",
            None if self.section == "core" && key == "worktree" => {
                work_tree == Some(self.value.as_str())
            }
            None => FREE.contains(&format!("{}.{key}", self.section).as_str()),
            Some(_) if matches!(self.section.as_str(), "remote" | "submodule") && is_address => {
                is_plain_address(&self.value)
            }
            Some(_) if self.section == "submodule" && key == "update" => {
                ["checkout", "merge", "none", "rebase"].contains(&self.value.as_str())
            }
            // Git takes a remote that is not configured for an address.
            Some(_) if self.section == "branch" && matches!(key, "remote" | "pushremote") => {
                is_plain_address(&self.value)
            }
            Some(_) => FREE_IN
                .iter()
                .any(|(section, keys)| *section == self.section && keys.contains(&key)),
        }
    }
}

/// Returns true for addresses that name no program. `ext::…` and other remote helpers name one,
/// and an option may do so.
fn is_plain_address(value: &str) -> bool {
    if value.starts_with('-') || value.contains("::") {
        return false;
    }
    !value.contains("://") || TRANSPORTS.iter().any(|transport| value.starts_with(transport))
}

/// Returns the names of the keys for which a changed configuration must be replaced by the old one;
/// empty if all changes are permitted. `None` stands for a file that cannot be read or understood,
/// so the old configuration must return as well.
/// `path` is the path of the configuration.
pub(super) fn forbidden(path: &Path, before: &[u8], after: &[u8]) -> Option<Vec<String>> {
    if before == after {
        return Some(Vec::new());
    }
    let (old, new) = (entries(before)?, entries(after)?);
    let work_tree = work_tree_of_submodule(path);
    let fixed = |entries: Vec<ConfigEntry>| -> Vec<ConfigEntry> {
        let is_fixed = |entry: &ConfigEntry| !entry.may_change(work_tree.as_deref());
        entries.into_iter().filter(is_fixed).collect()
    };
    let (mut missing, mut added) = (fixed(old), Vec::new());
    for entry in fixed(new) {
        match missing.iter().position(|known| *known == entry) {
            Some(index) => drop(missing.remove(index)),
            None => added.push(entry),
        }
    }
    let mut names: Vec<String> = missing.iter().chain(&added).map(ConfigEntry::name).collect();
    names.sort();
    names.dedup();
    Some(names)
}

/// Returns the work tree of a submodule as Git writes it, if the configuration is that of a
/// submodule at the path that is also its name: `../../../lib` for `.git/modules/lib/config`. Any
/// other work tree could let the next checkout write start-up files.
fn work_tree_of_submodule(path: &Path) -> Option<String> {
    let parts: Option<Vec<&str>> = path
        .parent()?
        .components()
        .filter(|part| matches!(part, Component::Normal(_)))
        .map(|part| part.as_os_str().to_str())
        .collect();
    let parts = parts?;
    let git = parts.iter().rposition(|part| *part == ".git")?;
    let inside = &parts[git + 1..];
    let names: Vec<&str> = inside.iter().copied().filter(|part| *part != "modules").collect();
    let is_plain = |name: &&str| !name.starts_with('.');
    let is_submodule = inside.first() == Some(&"modules") && path.file_name()? == "config";
    (is_submodule && !names.is_empty() && names.iter().all(is_plain))
        .then(|| "../".repeat(inside.len() + 1) + &names.join("/"))
}

/// Reads a file as Git does (`config.c`); `None` for what Git rejects, and for rare forms.
fn entries(bytes: &[u8]) -> Option<Vec<ConfigEntry>> {
    let text = std::str::from_utf8(bytes).ok()?.replace("\r\n", "\n");
    // Git treats other control characters and white space as parts of words.
    let is_rare = |character: char| {
        !matches!(character, '\n' | '\t' | ' ')
            && (character.is_control() || character.is_whitespace() || character == '\u{feff}')
    };
    if text.contains(is_rare) {
        return None;
    }
    let mut found = Vec::new();
    let mut header: Option<(String, Option<String>)> = None;
    let mut rest = text.chars();
    while let Some(character) = rest.next() {
        match character {
            ' ' | '\t' | '\n' => {}
            '#' | ';' => drop(rest.by_ref().find(|character| *character == '\n')),
            '[' => header = Some(section(&mut rest)?),
            first if first.is_ascii_alphabetic() => {
                let (section, subsection) = header.clone()?;
                let (key, value) = key_and_value(first, &mut rest)?;
                found.push(ConfigEntry { section, subsection, key, value });
            }
            _ => return None,
        }
    }
    Some(found)
}

/// Reads the name of a section and its subsection, to the closing bracket.
fn section(rest: &mut Chars<'_>) -> Option<(String, Option<String>)> {
    let mut name = String::new();
    loop {
        match rest.next()? {
            ']' => break,
            ' ' | '\t' => return Some((name, Some(subsection(rest)?))),
            character if character.is_ascii_alphanumeric() || "-.".contains(character) => {
                name.push(character.to_ascii_lowercase());
            }
            _ => return None,
        }
    }
    Some(match name.split_once('.') {
        Some((section, subsection)) => (section.to_owned(), Some(subsection.to_owned())),
        None => (name, None),
    })
}

/// Reads a quoted subsection, to the closing bracket.
fn subsection(rest: &mut Chars<'_>) -> Option<String> {
    rest.find(|character| !matches!(character, ' ' | '\t')).filter(|quote| *quote == '"')?;
    let mut name = String::new();
    loop {
        match rest.next()? {
            '"' => return (rest.next()? == ']').then_some(name),
            '\n' => return None,
            '\\' => name.push(rest.next().filter(|character| *character != '\n')?),
            character => name.push(character),
        }
    }
}

/// Reads a key that begins with `first`, and its value, to the end of the line.
fn key_and_value(first: char, rest: &mut Chars<'_>) -> Option<(String, String)> {
    let mut key = String::from(first);
    let mut next = rest.next();
    while let Some(character) = next.filter(|one| one.is_ascii_alphanumeric() || *one == '-') {
        key.push(character);
        next = rest.next();
    }
    key.make_ascii_lowercase();
    while matches!(next, Some(' ' | '\t')) {
        next = rest.next();
    }
    match next {
        None | Some('\n') => Some((key, "true".to_owned())),
        Some('=') => Some((key, value(rest)?)),
        Some(_) => None,
    }
}

/// Reads a value without quotes, escapes and comment, to the end of the line.
fn value(rest: &mut Chars<'_>) -> Option<String> {
    let (mut value, mut is_quoted) = (String::new(), false);
    // Length without white space at the end that is not quoted.
    let mut length = 0;
    while let Some(character) = rest.next() {
        match character {
            '\n' => break,
            ' ' | '\t' if !is_quoted => {
                if !value.is_empty() {
                    value.push(character);
                }
                continue;
            }
            // A comment ends with the line, also after a backslash.
            '#' | ';' if !is_quoted => {
                rest.find(|character| *character == '\n');
                break;
            }
            '"' => is_quoted = !is_quoted,
            '\\' => match rest.next()? {
                '\n' => continue,
                't' => value.push('\t'),
                'b' => value.push('\u{8}'),
                'n' => value.push('\n'),
                escaped @ ('\\' | '"') => value.push(escaped),
                _ => return None,
            },
            character => value.push(character),
        }
        length = value.len();
    }
    value.truncate(length);
    (!is_quoted).then_some(value)
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    const CONFIG: &str = "/p/.git/config";
    const BEFORE: &str = "[core]\n\tbare = false\n\tpager = less\n[alias]\n\tst = status\n";

    fn after(added: &str) -> Option<Vec<String>> {
        forbidden(Path::new(CONFIG), BEFORE.as_bytes(), format!("{BEFORE}{added}").as_bytes())
    }

    #[test]
    fn ordinary_changes_stay() {
        for added in [
            "[remote \"origin\"]\n\turl = https://host/x.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n",
            "[remote \"origin\"]\n\turl = ../other\n",
            "[remote \"origin\"]\n\turl = git@host:x.git\n",
            "[branch \"a.b\"]\n\tremote = origin\n\tmerge = refs/heads/a.b\n",
            "[user]\n\tname = A ; B\n\tEMAIL = a@b\n",
            "[user]\n\tname = \"A \\\"B\\\" \\\\ \"\n",
            "# only a comment \\\n",
            "[submodule \"x\"]\n\turl = /srv/x\n\tactive = true\n\tupdate = rebase\n",
            "[core] filemode = true\n",
            "[core]\r\n\tfilemode = true\r\n",
        ] {
            assert_eq!(after(added), Some(Vec::new()), "{added}");
        }
    }

    #[test]
    fn keys_that_could_name_a_program_are_found() {
        for (added, name) in [
            ("[core]\n\tfsmonitor = ./x\n", "core.fsmonitor"),
            ("[core] fsmonitor = ./x\n", "core.fsmonitor"),
            ("[core]\n\thooksPath = ./x\n", "core.hookspath"),
            ("[CORE]\n\tsshCommand = x\n", "core.sshcommand"),
            ("[diff \"x\"]\n\ttextconv = x\n", "diff.x.textconv"),
            ("[filter \"x\"]\n\tclean = x\n", "filter.x.clean"),
            ("[filter.x]\n\tclean = x\n", "filter.x.clean"),
            ("[include]\n\tpath = x\n", "include.path"),
            ("[includeIf \"gitdir:/\"]\n\tpath = x\n", "includeif.gitdir:/.path"),
            ("[remote \"o\"]\n\turl = ext::sh -c x\n", "remote.o.url"),
            ("[remote \"o\"]\n\turl = --upload-pack=x\n", "remote.o.url"),
            ("[remote \"o\"]\n\tuploadpack = x\n", "remote.o.uploadpack"),
            ("[submodule \"x\"]\n\tupdate = !x\n", "submodule.x.update"),
            ("[branch \"m\"]\n\tremote = ext::sh -c x\n", "branch.m.remote"),
            ("[branch \"m\"]\n\tpushRemote = --exec=x\n", "branch.m.pushremote"),
            ("[remote]\n\tpushDefault = ext::x\n", "remote.pushdefault"),
            ("[credential]\n\thelper = !x\n", "credential.helper"),
            ("[core]\n\tfsmonitor = a\\\nb\n", "core.fsmonitor"),
            ("[core]\n\tfilemode = true # \\\n\tfsmonitor = x\n", "core.fsmonitor"),
            ("[core]\n\tfilemode = true;\\\n\tfsmonitor = x\n", "core.fsmonitor"),
            ("# \\\n[core]\n\tfsmonitor = x\n", "core.fsmonitor"),
            ("[user]\n\tname = \"a # \"b # \\\n[core]\n\tfsmonitor = x\n", "core.fsmonitor"),
            ("[user]\n\tname = a\\\\\n[core]\n\tfsmonitor = x\n", "core.fsmonitor"),
            ("[core]\n\tfsmonitor\n", "core.fsmonitor"),
            ("[core]\n\tbare = true\n", "core.bare"),
            // The next checkout would write start-up files.
            ("[core]\n\tworktree = /home/me\n", "core.worktree"),
        ] {
            assert_eq!(after(added), Some(vec![name.to_owned()]), "{added}");
        }
        let removed = forbidden(Path::new(CONFIG), BEFORE.as_bytes(), b"[core]\n\tbare = false\n");
        assert_eq!(removed.unwrap(), ["alias.st", "core.pager"]);
    }

    #[test]
    fn a_submodule_may_get_its_own_work_tree() {
        for (file, value, is_permitted) in [
            ("/p/.git/modules/sub/config", "../../../sub", true),
            ("/p/.git/modules/libs/x/config", "../../../../libs/x", true),
            ("/p/.git/modules/a/modules/b/config", "../../../../../a/b", true),
            ("/p/.git/modules/sub/config", "../../../other", false),
            ("/p/.git/modules/sub/config", "../../../../sub", false),
            ("/p/.git/modules/sub/config", "/p/sub", false),
            ("/p/.git/modules/.ssh/config", "../../../.ssh", false),
            ("/p/.git/modules/config", "../..", false),
            ("/p/.git/config", "../sub", false),
            ("/p/.git/worktrees/sub/config", "../../../sub", false),
        ] {
            let text = format!("[core]\n\tworktree = {value}\n");
            let found = forbidden(Path::new(file), b"", text.as_bytes()).unwrap();
            assert_eq!(found.is_empty(), is_permitted, "{file}: {value}");
        }
    }

    #[test]
    fn what_git_may_read_differently_is_not_understood() {
        for added in [
            "[core\n",
            "[core]\n\ta = \"\n",
            "\u{feff}[core]\n",
            "[core]\r\tfilemode = true\n",
            "\u{b}# x\n",
            "\u{a0}[core]\n",
            "[core]\n\tfilemode = \\x\n",
            "[core]\n\tfilemode = a\\",
            "[core]\n\t1 = x\n",
            "[co re]\n",
            "[a \"b]\n",
            "[a \"b\" ]\n",
        ] {
            assert_eq!(after(added), None, "{added}");
        }
        let unreadable = b"[core]\n\tfilemode = \xff\n";
        assert_eq!(forbidden(Path::new(CONFIG), BEFORE.as_bytes(), unreadable), None);
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_read_without_a_panic(bytes: Vec<u8>) {
            forbidden(Path::new(CONFIG), b"", &bytes);
        }
    }
}
