//! `@path` imports in context files.
//!
//! Pure: the text comes in, files are read through a port that the caller gives, the text with its
//! imports comes out. Depth, number and size are bounded, so a hostile file costs little.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use crate::files;

#[cfg(test)]
mod tests;
mod tokens;

use tokens::import_tokens;

/// How many levels of imports are followed.
pub const MAX_DEPTH: usize = 5;

/// How many tokens of one context file and its imports are followed; the rest stay as written.
pub const MAX_IMPORTS: usize = 500;

/// How many bytes one context file may grow to with its imports.
pub const MAX_TOTAL_BYTES: usize = 4 * 1024 * 1024;

/// How imports are written out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ImportFormat {
    /// In place of the token.
    #[default]
    Tree,
    /// Each file once, one after the other; tokens stay.
    Flat,
}

/// Why a file was not imported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ImportFailure {
    /// It lies outside of the project.
    Outside,
    /// It could not be read; the text is the operating system's.
    Unreadable(String),
}

/// Reads a file for an import. The path is absolute and has no `..`, but may lead through links:
/// whether the real path stays inside the project is for the reader to check.
pub type ImportReader<'a> = dyn FnMut(&Path) -> Result<String, ImportFailure> + 'a;

/// Expands the imports of `text`, the content of a file in the directory `base` (absolute).
pub fn expand(
    text: &str,
    base: &Path,
    format: ImportFormat,
    read: &mut ImportReader<'_>,
) -> String {
    let mut expansion = Expansion { read, imports: 0, bytes: 0 };
    match format {
        ImportFormat::Tree => {
            let mut output = String::with_capacity(text.len());
            let mut chain = Vec::new();
            expansion.tree(text, base, &mut chain, &mut output);
            output
        }
        ImportFormat::Flat => expansion.flat(text, base),
    }
}

struct Expansion<'a, 'b> {
    read: &'a mut ImportReader<'b>,
    imports: usize,
    bytes: usize,
}

impl Expansion<'_, '_> {
    fn tree(&mut self, text: &str, base: &Path, chain: &mut Vec<PathBuf>, output: &mut String) {
        if chain.len() >= MAX_DEPTH {
            output.push_str(text);
            return;
        }
        let mut copied = 0;
        for token in import_tokens(text) {
            // Counted also when nothing comes of it, so that no text can ask without end.
            self.imports += 1;
            if self.imports > MAX_IMPORTS {
                break;
            }
            output.push_str(&text[copied..token.start]);
            copied = token.end;
            let shown = &text[token.start + 1..token.end];
            self.import(shown, base, chain, output);
        }
        output.push_str(&text[copied..]);
    }

    /// Writes out one import, or why it is not there.
    fn import(&mut self, shown: &str, base: &Path, chain: &mut Vec<PathBuf>, output: &mut String) {
        let failed = |output: &mut String, reason: &str| {
            output.push_str(&format_comment("Import failed", &format!("{shown} - {reason}")));
        };
        let Some(path) = resolve(base, shown) else {
            return failed(output, "Path traversal attempt");
        };
        if chain.contains(&path) {
            output.push_str(&format_comment("File already processed", shown));
            return;
        }
        let content = match self.read_bounded(&path) {
            Ok(content) => content,
            Err(ImportFailure::Outside) => return failed(output, "Path traversal attempt"),
            Err(ImportFailure::Unreadable(reason)) => return failed(output, &reason),
        };
        output.push_str(&format_comment("Imported from", shown));
        output.push('\n');
        let below = path.parent().unwrap_or(base).to_owned();
        chain.push(path);
        self.tree(&content, &below, chain, output);
        chain.pop();
        output.push('\n');
        output.push_str(&format_comment("End of import from", shown));
    }

    fn flat(&mut self, text: &str, base: &Path) -> String {
        let mut output = String::new();
        let mut seen = HashSet::new();
        write_flat_block(&mut output, base, text);
        // The root first, then depth first; the imports of a file are visited last to first.
        let mut pending = flat_imports(text, base, 0);
        while let Some((path, depth)) = pending.pop() {
            if !seen.insert(path.clone()) {
                continue;
            }
            self.imports += 1;
            if self.imports > MAX_IMPORTS {
                break;
            }
            // Outside and unreadable files are left out; their tokens are still in the text.
            let Ok(content) = self.read_bounded(&path) else { continue };
            write_flat_block(&mut output, &path, &content);
            if depth < MAX_DEPTH {
                pending.extend(flat_imports(&content, path.parent().unwrap_or(base), depth));
            }
        }
        output
    }

    fn read_bounded(&mut self, path: &Path) -> Result<String, ImportFailure> {
        let content = (self.read)(path)?;
        if self.bytes + content.len() > MAX_TOTAL_BYTES {
            return Err(ImportFailure::Unreadable(format!(
                "imports larger than {MAX_TOTAL_BYTES} bytes in all"
            )));
        }
        self.bytes += content.len();
        Ok(content)
    }
}

/// The files that `text` imports, with their level, in the order of the text.
fn flat_imports(text: &str, base: &Path, depth: usize) -> Vec<(PathBuf, usize)> {
    import_tokens(text)
        .into_iter()
        .filter_map(|token| resolve(base, &text[token.start + 1..token.end]))
        .map(|path| (path, depth + 1))
        .take(MAX_IMPORTS)
        .collect()
}

fn write_flat_block(output: &mut String, path: &Path, content: &str) {
    if !output.is_empty() {
        output.push_str("\n\n");
    }
    let path = path.display();
    for text in [
        &format!("--- File: {path} ---\n"),
        content.trim(),
        &format!("\n--- End of File: {path} ---"),
    ] {
        output.push_str(text);
    }
}

fn format_comment(label: &str, rest: &str) -> String {
    format!("<!-- {label}: {rest} -->")
}

/// The absolute path that a token names, without `.` and `..`; `None` for addresses.
fn resolve(base: &Path, shown: &str) -> Option<PathBuf> {
    let scheme = shown.split_once("://").map(|(scheme, _)| scheme);
    if matches!(scheme, Some("file" | "http" | "https")) {
        return None;
    }
    Some(files::without_dots(&base.join(shown)))
}
