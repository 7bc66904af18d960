//! Line ends of a new file, if the project specifies them: `.gitattributes` (`eol=crlf`), otherwise
//! `.editorconfig` (`end_of_line = crlf`). An existing file keeps its line ends.

use std::collections::VecDeque;
use std::path::Path;

use pollux_fs::{IgnorePatterns, LineEnding, Workspace, read_text, real_path};

#[cfg(test)]
mod tests;

/// Maximum size in bytes of a file with attributes.
const LARGEST: u64 = 256 * 1024;
/// Maximum number of folders that are searched, from the file's folder up to the root of the
/// workspace.
const MOST_FOLDERS: usize = 64;
/// Maximum number of patterns that the braces of one pattern expand to.
const MOST_PATTERNS: usize = 64;

/// Returns the line ends that the project requests for the new file at `path` (absolute, links
/// resolved); `None` if the project does not specify them.
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
    // Rules nearer to the file are read later and take precedence.
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

/// Evaluates `.gitattributes` files: for each, the path relative to its folder and its text; the
/// nearest file is last.
fn of_attributes(files: &[(String, String)]) -> Option<LineEnding> {
    let (mut is_text, mut end) = (true, None);
    for (path, text) in files {
        for line in text.lines().map(str::trim) {
            // Comments, macros, quoted patterns, and patterns that git does not accept here.
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

/// Evaluates `.editorconfig` files in the same way.
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
                // Files above this file are ignored.
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

/// Returns true if a pattern matches the file by git's rules: a name in any folder, or a path from
/// here.
fn matches(pattern: &str, path: &str) -> bool {
    let pattern = IgnorePatterns::parse(pattern.as_bytes(), false, false);
    pattern.verdict(path.as_bytes(), false) == Some(true)
}

/// Expands the braces of a pattern, such as `*.{bat,cmd}`, to at most [`MOST_PATTERNS`] patterns.
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
