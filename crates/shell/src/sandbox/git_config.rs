//! Permitted changes of a repository's configuration by a command.
//!
//! There are many keys that name programs, and each version of Git adds more. The keys that may
//! change are therefore listed; all others are restored to their state before the command.

/// Keys without a subsection that may change, in lower case.
const FREE: [&str; 37] = [
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
    "core.worktree",
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
    ("branch", &["description", "merge", "pushremote", "rebase", "remote"]),
    ("submodule", &["active", "branch", "ignore", "shallow"]),
];

/// Transports with which an address cannot start a program of its choice.
const TRANSPORTS: [&str; 6] = ["https://", "http://", "ssh://", "git://", "file://", "git+ssh://"];

/// One `key = value` of a file, with the lines that contain it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ConfigEntry {
    /// Section and subsection as written in the file: `remote "origin"`.
    header: String,
    section: String,
    subsection: Option<String>,
    /// Key in lower case.
    key: String,
    value: String,
    /// Lines of the file, without the last line end.
    text: String,
    first_line: usize,
    last_line: usize,
}

impl ConfigEntry {
    fn name(&self) -> String {
        match &self.subsection {
            Some(subsection) => format!("{}.{subsection}.{}", self.section, self.key),
            None => format!("{}.{}", self.section, self.key),
        }
    }

    fn may_change(&self) -> bool {
        let key = self.key.as_str();
        let is_address = matches!(key, "url" | "pushurl");
        match &self.subsection {
            None if self.section == "core" && key == "bare" => self.value == "false",
            None => FREE.contains(&format!("{}.{key}", self.section).as_str()),
            Some(_) if matches!(self.section.as_str(), "remote" | "submodule") && is_address => {
                is_plain_address(&self.value)
            }
            Some(_) if self.section == "submodule" && key == "update" => {
                ["checkout", "merge", "none", "rebase"].contains(&self.value.as_str())
            }
            Some(_) => FREE_IN
                .iter()
                .any(|(section, keys)| *section == self.section && keys.contains(&key)),
        }
    }

    fn is_same(&self, other: &Self) -> bool {
        self.name() == other.name() && self.value == other.value
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

/// Returns the text of a configuration with only the permitted changes, and the names of the keys
/// that were reverted; `None` if all changes are permitted.
pub(super) fn reverted(before: &str, after: &str) -> Option<(String, Vec<String>)> {
    if before == after {
        return None;
    }
    let (Some(old), Some(new)) = (entries(before), entries(after)) else {
        // An unreadable file is restored to its state before the command.
        return Some((before.to_owned(), vec!["(the file cannot be read)".to_owned()]));
    };
    let fixed = |entry: &&ConfigEntry| !entry.may_change();
    let mut missing: Vec<&ConfigEntry> = old.iter().filter(fixed).collect();
    let mut added: Vec<&ConfigEntry> = Vec::new();
    for entry in new.iter().filter(fixed) {
        match missing.iter().position(|known| known.is_same(entry)) {
            Some(index) => drop(missing.remove(index)),
            None => added.push(entry),
        }
    }
    if missing.is_empty() && added.is_empty() {
        return None;
    }
    let is_removed = |line: usize| {
        added.iter().any(|entry| (entry.first_line..=entry.last_line).contains(&line))
    };
    let lines = after.lines().enumerate().filter(|(line, _)| !is_removed(*line));
    let mut lines: Vec<&str> = lines.map(|(_, line)| line).collect();
    let headers: Vec<String> = missing.iter().map(|entry| format!("[{}]", entry.header)).collect();
    for (entry, header) in missing.iter().zip(&headers) {
        lines.extend([header, entry.text.as_str()]);
    }
    let text = lines.join("\n") + "\n";
    let mut names: Vec<String> = missing.iter().chain(&added).map(|entry| entry.name()).collect();
    names.sort();
    names.dedup();
    Some((text, names))
}

/// Reads a file in the format that Git writes; `None` for any other format.
fn entries(text: &str) -> Option<Vec<ConfigEntry>> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    let mut header: Option<(String, String, Option<String>)> = None;
    let mut index = 0;
    while index < lines.len() {
        let first_line = index;
        let line = lines[index].trim();
        index += 1;
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        if let Some(rest) = line.strip_prefix('[') {
            let inner = rest.strip_suffix(']')?;
            let (section, subsection) = section(inner)?;
            header = Some((inner.to_owned(), section, subsection));
            continue;
        }
        let mut whole = line.to_owned();
        while whole.ends_with('\\') && !whole.ends_with("\\\\") {
            whole.pop();
            whole.push_str(lines.get(index)?);
            index += 1;
        }
        let (header, section, subsection) = header.clone()?;
        let (key, value) = match whole.split_once('=') {
            Some((key, value)) => (key.trim(), value_of(value)?),
            None => (whole.trim(), "true".to_owned()),
        };
        let is_key = |character: char| character.is_ascii_alphanumeric() || character == '-';
        if key.is_empty() || !key.chars().all(is_key) {
            return None;
        }
        found.push(ConfigEntry {
            header,
            section,
            subsection,
            key: key.to_ascii_lowercase(),
            value,
            text: lines[first_line..index].join("\n"),
            first_line,
            last_line: index - 1,
        });
    }
    Some(found)
}

/// Returns the name of a section and its subsection, from the text between the brackets.
fn section(inner: &str) -> Option<(String, Option<String>)> {
    let is_name = |name: &str| {
        !name.is_empty()
            && name.chars().all(|one| one.is_ascii_alphanumeric() || "-.".contains(one))
    };
    if let Some((name, rest)) = inner.split_once(' ') {
        let quoted = rest.trim().strip_prefix('"')?.strip_suffix('"')?;
        let is_plain = !quoted.replace("\\\\", "").replace("\\\"", "").contains(['"', '\\']);
        let subsection = quoted.replace("\\\"", "\"").replace("\\\\", "\\");
        return (is_name(name) && is_plain).then(|| (name.to_ascii_lowercase(), Some(subsection)));
    }
    if !is_name(inner) {
        return None;
    }
    let lower = inner.to_ascii_lowercase();
    Some(match lower.split_once('.') {
        Some((section, subsection)) => (section.to_owned(), Some(subsection.to_owned())),
        None => (lower, None),
    })
}

/// Returns a value without quotes and comment. Escapes are kept, because no value that may change
/// needs them.
fn value_of(text: &str) -> Option<String> {
    let mut value = String::new();
    let mut is_quoted = false;
    let mut characters = text.trim().chars();
    while let Some(character) = characters.next() {
        match character {
            '"' => is_quoted = !is_quoted,
            '\\' => {
                value.push('\\');
                value.push(characters.next()?);
            }
            '#' | ';' if !is_quoted => break,
            _ => value.push(character),
        }
    }
    (!is_quoted).then(|| value.trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    const BEFORE: &str = "[core]\n\tbare = false\n\tpager = less\n[alias]\n\tst = status\n";

    #[test]
    fn ordinary_changes_stay() {
        for added in [
            "[remote \"origin\"]\n\turl = https://host/x.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n",
            "[remote \"origin\"]\n\turl = ../other\n",
            "[remote \"origin\"]\n\turl = git@host:x.git\n",
            "[branch \"a.b\"]\n\tremote = origin\n\tmerge = refs/heads/a.b\n",
            "[user]\n\tname = A ; B\n\tEMAIL = a@b\n",
            "# only a comment\n",
            "[submodule \"x\"]\n\turl = /srv/x\n\tactive = true\n\tupdate = rebase\n",
        ] {
            assert_eq!(reverted(BEFORE, &format!("{BEFORE}{added}")), None, "{added}");
        }
    }

    #[test]
    fn keys_that_could_name_a_program_are_taken_back() {
        for (added, name) in [
            ("[core]\n\tfsmonitor = ./x\n", "core.fsmonitor"),
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
            ("[credential]\n\thelper = !x\n", "credential.helper"),
            ("[core]\n\tfsmonitor = a\\\nb\n", "core.fsmonitor"),
            ("[core]\n\tbare = true\n", "core.bare"),
        ] {
            let (text, names) = reverted(BEFORE, &format!("{BEFORE}{added}")).unwrap();
            assert_eq!(names, [name], "{added}");
            assert_eq!(reverted(BEFORE, &text), None, "{text}");
        }
    }

    #[test]
    fn removed_keys_return_and_what_cannot_be_read_is_as_before() {
        let (text, names) =
            reverted(BEFORE, "[core]\n\tbare = false\n[user]\n\tname = A\n").unwrap();
        assert_eq!(names, ["alias.st", "core.pager"]);
        assert!(text.contains("name = A") && text.contains("st = status"), "{text}");
        for broken in [
            "[core] fsmonitor = x\n",
            "fsmonitor = x\n",
            "[core\n",
            "[core]\n\ta = \"\n",
            "\u{feff}[core]\n",
        ] {
            let (text, _) = reverted(
                BEFORE,
                &format!("{BEFORE}{broken}").replace("[alias]\n\tst = status\nfs", "fs"),
            )
            .unwrap_or_default();
            assert!(text == BEFORE || !text.contains("= x"), "{broken}: {text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(text: String) {
            reverted("", &text);
        }
    }
}
