//! Text drawing of a folder, for the first message of a session.

use std::collections::{BTreeMap, VecDeque};
use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::collation::{CollationKey, collation_key};
use crate::files::EntryKind;
use crate::held::FolderReader;
use crate::real::RealPath;
use crate::rules::IgnoreRules;
use crate::walk::Root;

#[cfg(test)]
mod tests;

/// Maximum number of files and folders in a drawing, as in Gemini CLI.
pub const MAX_TREE_ITEMS: usize = 200;
/// Maximum number of names read in one folder; the rest of a larger folder is ignored.
const MAX_NAMES: usize = 20_000;
/// Folders that are drawn but not opened.
const CLOSED_FOLDERS: [&str; 4] = ["node_modules", ".git", "dist", "__pycache__"];
/// Mark for entries that are left out.
const MORE: &str = "...";

/// Folder in the drawing.
#[derive(Default)]
struct Node {
    name: String,
    files: Vec<String>,
    /// Indexes of subfolders in the list of all nodes.
    folders: Vec<usize>,
    /// True if entries of the folder are left out.
    more: bool,
    /// True if no content of the folder is drawn.
    closed: bool,
}

/// Draws the content of `root` (absolute): breadth first until `max_items` files and folders are
/// drawn, the files of a folder before its folders, both sorted by
/// [`collation_key`](crate::collation_key). `...` marks entries that are left out; ignored files
/// are left out without a mark, ignored folders are not opened. Control characters in names become
/// `?`. A folder that cannot be read is drawn empty.
pub fn folder_tree(root: &Path, rules: Option<&IgnoreRules>, max_items: usize) -> String {
    let mut nodes = vec![Node { name: root.display().to_string(), ..Node::default() }];
    let mut waiting = VecDeque::from([(0, Root::new(root.to_path_buf()))]);
    let mut left = max_items;
    while let Some((at, folder)) = waiting.pop_front() {
        if left == 0 {
            nodes[at].closed = true;
            continue;
        }
        let content = Content::read(&folder, rules, left);
        let files = content.files.len().min(left);
        left -= files;
        let folders = content.folders.len().min(left);
        left -= folders;
        let node = &mut nodes[at];
        node.more = content.more || files < content.files.len() || folders < content.folders.len();
        node.files = content.files.into_values().take(files).collect();
        for (name, is_closed) in content.folders.into_values().take(folders) {
            let place = nodes.len();
            if !is_closed {
                waiting.push_back((place, folder.below(&name)));
            }
            nodes[at].folders.push(place);
            nodes.push(Node { name, closed: is_closed, ..Node::default() });
        }
    }
    draw(&nodes, max_items)
}

/// Returns the entries of a folder; none if it cannot be read.
fn entries(real: &RealPath) -> impl Iterator<Item = (OsString, EntryKind)> {
    let mut reader = FolderReader::open(real).ok();
    std::iter::from_fn(move || reader.as_mut()?.next_entry()).flatten()
}

/// First names in one folder, sorted.
#[derive(Default)]
struct Content {
    files: BTreeMap<CollationKey, String>,
    /// Folders, with true for a folder that is drawn closed.
    folders: BTreeMap<CollationKey, (String, bool)>,
    more: bool,
}

impl Content {
    /// Reads a folder, but keeps at most one name more of each kind than can be drawn.
    fn read(folder: &Root, rules: Option<&IgnoreRules>, left: usize) -> Self {
        let mut content = Self::default();
        for (index, (name, kind)) in entries(&folder.real).enumerate() {
            if index >= MAX_NAMES {
                content.more = true;
                break;
            }
            let directory = kind == EntryKind::Directory;
            let path = folder.path.join(&name);
            let ignored = rules.is_some_and(|rules| rules.ignores_entry(&path, kind));
            let name = name.to_string_lossy().into_owned();
            if directory {
                let closed = ignored || CLOSED_FOLDERS.contains(&name.as_str());
                content.folders.insert(collation_key(&name), (name, closed));
                if content.folders.len() > left + 1 {
                    content.folders.pop_last();
                }
            } else if !ignored {
                content.files.insert(collation_key(&name), name);
                if content.files.len() > left + 1 {
                    content.files.pop_last();
                }
            }
        }
        content
    }
}

fn draw(nodes: &[Node], max_items: usize) -> String {
    let mut text = format!("Showing up to {max_items} items (files + folders).");
    if nodes.iter().any(|node| node.more || node.closed) {
        let why = "... marks items that are ignored or exceed this limit.";
        text.push(' ');
        text.push_str(why);
    }
    let slash = std::path::MAIN_SEPARATOR;
    let root = printable(&nodes[0].name);
    let end = if root.ends_with(slash) { "" } else { std::path::MAIN_SEPARATOR_STR };
    text.push_str("\n\n");
    text.push_str(&root);
    text.push_str(end);
    text.push('\n');
    draw_node(nodes, 0, &mut text);
    text
}

/// Draws without recursion, because a repository may contain folders of any depth.
fn draw_node(nodes: &[Node], root: usize, text: &mut String) {
    // Items to be drawn, in reverse order: a line with its indentation, and the folder that it
    // opens.
    let mut pending: Vec<(String, bool, String, Option<usize>)> = Vec::new();
    let mut open = Some((root, String::new()));
    loop {
        if let Some((at, indent)) = open.take() {
            let node = &nodes[at];
            let files = node.files.iter().map(|name| (printable(name), None));
            let folders = node.folders.iter().map(|place| {
                let folder = &nodes[*place];
                let mark = if folder.closed { MORE } else { "" };
                let name = printable(&folder.name);
                (format!("{name}{}{mark}", std::path::MAIN_SEPARATOR), Some(*place))
            });
            let more = node.more.then(|| (MORE.to_owned(), None));
            let lines: Vec<_> = files.chain(folders).chain(more).collect();
            let last = lines.len().saturating_sub(1);
            let lines = lines.into_iter().enumerate();
            pending.extend(
                lines
                    .rev()
                    .map(|(index, (line, place))| (indent.clone(), index == last, line, place)),
            );
        }
        let Some((indent, is_last, line, place)) = pending.pop() else { return };
        let (branch, below) =
            if is_last { ("└───", "    ") } else { ("├───", "│   ") };
        // Writing to a string cannot fail.
        writeln!(text, "{indent}{branch}{line}").ok();
        open = place.map(|place| (place, indent + below));
    }
}

/// Replaces control characters, so that a file name cannot add lines to the drawing.
fn printable(name: &str) -> String {
    name.replace(char::is_control, "?")
}

/// Searches `root`, breadth first in at most `max_folders` folders, for files whose path ends in
/// `suffix` (relative, at least one component). Stops at the second file, because the result is
/// then ambiguous.
pub fn find_by_suffix(
    root: &Root,
    suffix: &Path,
    rules: Option<&IgnoreRules>,
    max_folders: usize,
) -> Vec<PathBuf> {
    let mut waiting = VecDeque::from([root.clone()]);
    let mut found = Vec::new();
    for _ in 0..max_folders {
        let Some(folder) = waiting.pop_front() else { break };
        for (name, kind) in entries(&folder.real).take(MAX_NAMES) {
            let wanted = match kind {
                EntryKind::Directory => name != "node_modules" && waiting.len() < max_folders,
                EntryKind::File => suffix.file_name() == Some(&name),
                EntryKind::Symlink | EntryKind::Special => false,
            };
            let path = folder.path.join(&name);
            if !wanted || rules.is_some_and(|rules| rules.ignores_entry(&path, kind)) {
                continue;
            }
            if kind == EntryKind::Directory {
                waiting.push_back(folder.below(&name));
            } else if path.ends_with(suffix) {
                found.push(path);
                if found.len() > 1 {
                    return found;
                }
            }
        }
    }
    found
}
