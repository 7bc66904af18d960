//! Layout of a settings file, and formatting of new text in the same layout.

use jsonc_parser::ast::Object;
use jsonc_parser::common::Ranged;
use serde_json::Value;

use super::quoted;

/// Layout of a file.
pub(super) struct Layout<'t> {
    /// Text of the file, without a byte order mark.
    pub(super) text: &'t str,
    /// Indentation of one level.
    pub(super) unit: &'t str,
    /// Line ending.
    pub(super) line_end: &'static str,
}

impl<'t> Layout<'t> {
    /// Detects the layout from the first property of the root and from the first line ending.
    pub(super) fn of(text: &'t str, root: &Object<'_>) -> Self {
        let line_end = match text.find('\n') {
            Some(at) if text[..at].ends_with('\r') => "\r\n",
            _ => "\n",
        };
        let layout = Self { text, unit: "  ", line_end };
        let first = root.properties.first().map(Ranged::start);
        let first = first.filter(|start| layout.begins_line(*start));
        let unit = first.and_then(|start| {
            let outer = layout.indentation(root.start());
            layout.indentation(start).strip_prefix(outer).filter(|unit| !unit.is_empty())
        });
        Self { unit: unit.unwrap_or(layout.unit), ..layout }
    }

    /// Returns true if only blanks precede `at` on its line and the line is not the first one.
    pub(super) fn begins_line(&self, at: usize) -> bool {
        let line = self.text[..at].rfind('\n');
        line.is_some_and(|line| self.text[line + 1..at].bytes().all(is_blank))
    }

    /// Returns the blanks at the start of the line that contains `at`.
    pub(super) fn indentation(&self, at: usize) -> &'t str {
        let line = self.text[..at].rfind('\n').map_or(0, |end| end + 1);
        let before = &self.text[line..at];
        let end = before.bytes().position(|byte| !is_blank(byte)).unwrap_or(before.len());
        &before[..end]
    }

    /// Returns the end of the comments that follow `at` on its line, before `close`, or `at` if
    /// there are none.
    pub(super) fn end_of_remarks(&self, at: usize, close: usize) -> usize {
        let (mut end, mut next) = (at, at);
        while let Some(byte) = self.text.as_bytes()[..close].get(next) {
            match byte {
                b' ' | b'\t' => next += 1,
                b'/' => {
                    next = end_of_comment(self.text, next);
                    end = next;
                    if self.text[..end].ends_with('\n')
                        || self.text[end..].starts_with(['\r', '\n'])
                    {
                        break;
                    }
                }
                _ => break,
            }
        }
        end
    }

    /// Formats a property on its own line, with the preceding line ending.
    pub(super) fn line(&self, indentation: &str, name: &str, value: &Value) -> String {
        let value = self.spread(value, indentation);
        format!("{}{indentation}{}: {value}", self.line_end, quoted(name))
    }

    /// Formats a value on as many lines as it needs, starting on a line with this indentation.
    pub(super) fn spread(&self, value: &Value, indentation: &str) -> String {
        let inner = format!("{indentation}{}", self.unit);
        let between = format!(",{}{inner}", self.line_end);
        let (open, items, close) = match value {
            Value::Array(items) if !items.is_empty() => {
                let items: Vec<_> = items.iter().map(|item| self.spread(item, &inner)).collect();
                ('[', items, ']')
            }
            Value::Object(map) if !map.is_empty() => {
                let property = |(name, value): (&String, &Value)| {
                    format!("{}: {}", quoted(name), self.spread(value, &inner))
                };
                ('{', map.iter().map(property).collect(), '}')
            }
            other => return other.to_string(),
        };
        let end = self.line_end;
        format!("{open}{end}{inner}{}{end}{indentation}{close}", items.join(&between))
    }

    /// Formats a value on one line.
    pub(super) fn compact(value: &Value) -> String {
        match value {
            Value::Array(items) => {
                let items: Vec<_> = items.iter().map(Self::compact).collect();
                format!("[{}]", items.join(", "))
            }
            Value::Object(map) => {
                let property = |(name, value): (&String, &Value)| {
                    format!("{}: {}", quoted(name), Self::compact(value))
                };
                let properties: Vec<_> = map.iter().map(property).collect();
                format!("{{{}}}", properties.join(", "))
            }
            other => other.to_string(),
        }
    }
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// Returns the end of the comment that begins at `start`. A line comment ends before its line
/// ending.
pub(super) fn end_of_comment(text: &str, start: usize) -> usize {
    let rest = &text[start..];
    if let Some(inside) = rest.strip_prefix("/*") {
        return inside.find("*/").map_or(text.len(), |end| start + end + 4);
    }
    let end = rest
        .find('\n')
        .map_or(rest.len(), |end| if rest[..end].ends_with('\r') { end - 1 } else { end });
    start + end
}
