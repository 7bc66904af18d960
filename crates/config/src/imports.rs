//! `@path` imports in context files.
//!
//! Pure: the caller passes the text and a function that reads files, and gets the text with its
//! imports. Depth, number and size of imports are limited, so the cost of a hostile file stays low.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use crate::files;

#[cfg(test)]
mod tests;
mod tokens;

use tokens::import_tokens;

/// Maximum depth of imports.
pub const MAX_DEPTH: usize = 5;

/// Maximum number of imports in one context file, including those of imported files. Further tokens
/// stay as written.
pub const MAX_IMPORTS: usize = 500;

/// Maximum size of one context file with its imports, in bytes.
pub const MAX_TOTAL_BYTES: usize = 4 * 1024 * 1024;

/// Output format of imports.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ImportFormat {
    /// The imported text replaces the token.
    #[default]
    Tree,
    /// Each file is appended once, one after the other; tokens stay.
    Flat,
}

/// Reason why a file was not imported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ImportFailure {
    /// The file lies outside of the project.
    Outside,
    /// There is no such file.
    Missing,
    /// The file could not be read; contains the operating system's message.
    Unreadable(String),
}

/// Function that reads a file for an import. The path is absolute and contains no `..`, but may
/// lead through links: the function must check that the real path stays inside the project.
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
            let shown = &text[token.start + 1..token.end];
            // A full stop or a quote after the path may belong to the sentence.
            let without = shown.trim_end_matches(is_punctuation);
            let tries = [shown, without];
            let different = if without.is_empty() || without == shown { 1 } else { 2 };
            for shown in &tries[..different] {
                // Failed imports count too, so that no text can cause unlimited reads.
                self.imports += 1;
                if self.imports > MAX_IMPORTS {
                    break;
                }
                let start = output.len();
                output.push_str(&text[copied..token.start]);
                if self.import(shown, base, chain, output) {
                    copied = token.start + 1 + shown.len();
                    break;
                }
                output.truncate(start);
            }
            if self.imports > MAX_IMPORTS {
                break;
            }
        }
        output.push_str(&text[copied..]);
    }

    /// Writes one import, or the reason why it failed. Returns false if there is no such file: the
    /// text is then prose, such as `npx @scope/package`.
    fn import(
        &mut self,
        shown: &str,
        base: &Path,
        chain: &mut Vec<PathBuf>,
        output: &mut String,
    ) -> bool {
        let failed = |output: &mut String, reason: &str| {
            output.push_str(&format_comment("Import failed", &format!("{shown} - {reason}")));
            true
        };
        let Some(path) = resolve(base, shown) else {
            return failed(output, "Path traversal attempt");
        };
        if chain.contains(&path) {
            output.push_str(&format_comment("File already processed", shown));
            return true;
        }
        let content = match self.read_bounded(&path) {
            Ok(content) => content,
            Err(ImportFailure::Missing) => return false,
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
        true
    }

    fn flat(&mut self, text: &str, base: &Path) -> String {
        let mut output = String::new();
        let mut seen = HashSet::new();
        write_flat_block(&mut output, base, text);
        // The root comes first, then depth first; the imports of a file are visited from last to
        // first.
        let mut pending = flat_imports(text, base, 0);
        while let Some((path, depth)) = pending.pop() {
            if !seen.insert(path.clone()) {
                continue;
            }
            self.imports += 1;
            if self.imports > MAX_IMPORTS {
                break;
            }
            // Files that are outside or unreadable are omitted; their tokens are still in the text.
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

/// Returns true for a character that can end a sentence or a quotation after a path.
fn is_punctuation(character: char) -> bool {
    ".,;:!?)]}>'\"`…，。、；：！？）】》”’".contains(character)
}

/// Returns the files that `text` imports, with their depth, in the order of the text.
fn flat_imports(text: &str, base: &Path, depth: usize) -> Vec<(PathBuf, usize)> {
    import_tokens(text)
        .into_iter()
        .flat_map(|token| {
            let shown = &text[token.start + 1..token.end];
            let without = shown.trim_end_matches(is_punctuation);
            let other = (without != shown && !without.is_empty()).then_some(without);
            [Some(shown), other].into_iter().flatten()
        })
        .filter_map(|shown| resolve(base, shown))
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

/// Returns the absolute path that a token names, without `.` and `..`, or `None` for a URL.
fn resolve(base: &Path, shown: &str) -> Option<PathBuf> {
    let scheme = shown.split_once("://").map(|(scheme, _)| scheme);
    if matches!(scheme, Some("file" | "http" | "https")) {
        return None;
    }
    Some(files::without_dots(&base.join(shown)))
}
