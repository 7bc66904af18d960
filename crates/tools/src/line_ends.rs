//! How the lines of a new file end, where the project says so: `.gitattributes` (`eol=crlf`), else `.editorconfig`
//! (`end_of_line = crlf`). A file that exists keeps what it has.

use std::collections::VecDeque;
use std::path::Path;

use pollux_fs::{IgnorePatterns, LineEnding, Workspace, read_text, real_path};

#[cfg(test)]
mod tests;

/// A larger file is no list of attributes.
const LARGEST: u64 = 256 * 1024;
/// Folders that are asked, from the file's own up to the root of the workspace.
const MOST_FOLDERS: usize = 64;
/// Ways in which the braces of one pattern are read.
const MOST_PATTERNS: usize = 64;

/// What the project wants of the new file at `path` (absolute, links resolved); none where it says nothing.
pub(crate) fn wanted(workspace: &Workspace, path: &Path) -> Option<LineEnding> {
    let roots = workspace.roots().filter_map(|root| real_path(root).ok());
    let root =
        roots.filter(|root| path.starts_with(root)).max_by_key(|root| root.as_os_str().len())?;
    let mut folders: VecDeque<&Path> = path
        .ancestors()
        .skip(1)
        .take_while(|folder| folder.starts_with(&root))
        .take(MOST_FOLDERS)
        .collect();
    // What stands nearer to the file is read later, and wins.
    folders.make_contiguous().reverse();
    let read = |name: &str| -> Vec<(String, String)> {
        let of = |folder: &&Path| {
            let relative = path.strip_prefix(folder).ok()?.to_str()?.replace('\\', "/");
            Some((relative, read_text(&folder.join(name), LARGEST).ok()?.text))
        };
        folders.iter().filter_map(of).collect()
    };
    of_attributes(&read(".gitattributes")).or_else(|| of_editor(&read(".editorconfig")))
}

/// What `.gitattributes` say: each the path from its folder, and its text; the nearest last.
fn of_attributes(files: &[(String, String)]) -> Option<LineEnding> {
    let (mut is_text, mut end) = (true, None);
    for (path, text) in files {
        for line in text.lines().map(str::trim) {
            // Macros, quoted patterns and patterns that git does not take here.
            if line.starts_with(['#', '!', '"', '[']) {
                continue;
            }
            let mut words = line.split_whitespace();
            if !words.next().is_some_and(|pattern| matches(pattern, path)) {
                continue;
            }
            for word in words {
                match word {
                    "eol=crlf" => end = Some(LineEnding::CrLf),
                    "eol=lf" => end = Some(LineEnding::Lf),
                    "-eol" | "!eol" => end = None,
                    "text" | "text=auto" | "!text" => is_text = true,
                    "-text" | "binary" => is_text = false,
                    _ => {}
                }
            }
        }
    }
    end.filter(|_| is_text)
}

/// What `.editorconfig` say, likewise.
fn of_editor(files: &[(String, String)]) -> Option<LineEnding> {
    let mut end = None;
    for (path, text) in files {
        let (mut section, mut applies) = (false, false);
        for line in text.lines().map(str::trim) {
            if let Some(pattern) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
                section = true;
                applies = alternatives(pattern).iter().any(|pattern| matches(pattern, path));
                continue;
            }
            let Some((key, value)) = line.split_once('=') else { continue };
            let (key, value) = (key.trim().to_lowercase(), value.trim().to_lowercase());
            match (key.as_str(), value.as_str()) {
                // What stands above this file does not count.
                ("root", "true") if !section => end = None,
                ("end_of_line", "crlf") if applies => end = Some(LineEnding::CrLf),
                ("end_of_line", "lf") if applies => end = Some(LineEnding::Lf),
                ("end_of_line", "unset") if applies => end = None,
                _ => {}
            }
        }
    }
    end
}

/// Whether a pattern means the file, in git's way: a name in any folder, or a path from here.
fn matches(pattern: &str, path: &str) -> bool {
    let pattern = IgnorePatterns::parse(pattern.as_bytes(), false, false);
    pattern.verdict(path.as_bytes(), false) == Some(true)
}

/// The patterns that one with braces stands for: `*.{bat,cmd}`. Few enough, whatever it says.
fn alternatives(pattern: &str) -> Vec<String> {
    let (mut open, mut done) = (VecDeque::from([pattern.to_owned()]), Vec::new());
    while let Some(pattern) = open.pop_front() {
        let inner = pattern.rfind('{').and_then(|start| {
            let end = start + pattern[start..].find('}')?;
            pattern[start..end].contains(',').then_some((start, end))
        });
        match inner {
            _ if open.len() + done.len() >= MOST_PATTERNS => break,
            Some((start, end)) => open.extend(
                pattern[start + 1..end]
                    .split(',')
                    .map(|one| format!("{}{one}{}", &pattern[..start], &pattern[end + 1..])),
            ),
            None => done.push(pattern),
        }
    }
    done
}
