//! Masking of old tool results: a result of twenty turns ago is rarely needed again, but is sent
//! with every request.
//!
//! The complete result goes to a file that the model can read, and a preview with the file's path
//! replaces it. The session log keeps both. The thresholds are those of Gemini CLI (core §10).

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use pollux_protocol::{
    DISCOVERED_CONTEXT, FunctionResponse, History, Measurement, Part, Role, Shortened, Shortening,
    estimate,
};
use serde_json::{Value, json};

use crate::toolset::Toolset;

/// Tags around the rest of a masked result.
const OPENING: &str = "<tool_output_masked>";
const CLOSING: &str = "</tool_output_masked>";
/// Opening tag before the output of a command.
const UNTRUSTED: &str = "<untrusted_context>\n";
/// Number of characters from each end that a preview shows.
const SHOWN: usize = 250;
/// Number of lines from each end that are shown of a command's output.
const SHOWN_LINES: usize = 10;
/// Maximum number of characters of such a line, so that the preview is short for any line length.
const SHOWN_OF_LINE: usize = 500;

/// Thresholds for masking.
#[derive(Debug, Clone, PartialEq)]
pub struct MaskingOptions {
    /// Estimated tokens of the newest results that are never masked
    /// (`contextManagement.tools.outputMasking.protectionThresholdTokens`).
    pub protected: f64,
    /// Minimum number of tokens that are masked at once (`….minPrunableThresholdTokens`).
    pub least: f64,
    /// True if the latest results are neither masked nor counted (`….protectLatestTurn`).
    pub protect_latest: bool,
}

impl Default for MaskingOptions {
    fn default() -> Self {
        Self { protected: 50_000.0, least: 30_000.0, protect_latest: true }
    }
}

/// Finds the results to mask in one conversation.
#[derive(Debug)]
pub(crate) struct Masking {
    /// Folder for the complete results (`…/tool-outputs/session-<id>`), created when needed.
    directory: PathBuf,
    /// Maskable tokens of each entry, by its serial number. An entry never changes.
    tokens: HashMap<u64, f64>,
    /// Index and serial number of the newest entry that was processed. Everything before it is
    /// final.
    settled: Option<(usize, u64)>,
}

/// Results to mask. Their complete texts are already in files.
pub(crate) struct Masked {
    pub(crate) shortened: Vec<Shortened>,
    pub(crate) measurement: Measurement,
    /// Index of the newest entry that was processed.
    through: usize,
}

/// Masking of one result.
#[derive(Debug, PartialEq)]
struct Mask {
    shortened: Shortened,
    file: PathBuf,
    /// Complete response.
    whole: String,
    before: f64,
    after: f64,
}

/// Results to mask, oldest last.
#[derive(Debug, Default, PartialEq)]
struct Plan {
    masks: Vec<Mask>,
    prunable: f64,
}

impl Masking {
    pub(crate) fn new(directory: PathBuf) -> Self {
        Self { directory, tokens: HashMap::new(), settled: None }
    }

    /// Finds old results, and writes them to files. A result whose file cannot be written is left
    /// out. `None` while there are too few tokens to mask. Call [`Self::settle`] after the
    /// conversation has changed.
    pub(crate) async fn find(
        &mut self,
        history: &History,
        toolset: &Toolset,
        options: &MaskingOptions,
    ) -> Option<Masked> {
        let boundary = self.boundary(history, toolset, options)?;
        let plan = plan(history, toolset, self.settled_before(history), boundary, &self.directory);
        let saved = tokio::task::spawn_blocking(move || {
            let keep = |mask: &Mask| save(&mask.file, &mask.whole).is_ok();
            let masks = plan.masks.into_iter().filter(keep).collect();
            Plan { masks, ..plan }
        });
        let Plan { masks, prunable } = saved.await.ok()?;
        let sum = |tokens: fn(&Mask) -> f64| masks.iter().map(tokens).sum::<f64>() as u64;
        let measurement = Measurement::ToolOutputMasked {
            before: sum(|mask| mask.before),
            after: sum(|mask| mask.after),
            count: masks.len() as u64,
            prunable: prunable as u64,
        };
        let shortened = masks.into_iter().map(|mask| mask.shortened).collect();
        Some(Masked { shortened, measurement, through: boundary.0 })
    }

    /// Notes that the conversation contains the change.
    pub(crate) fn settle(&mut self, masked: &Masked, history: &History) {
        self.tokens.clear();
        let place = masked.through;
        self.settled = history.entries().get(place).map(|entry| (place, entry.serial()));
    }

    /// Returns the number of entries that need no further check. It is 0 after a rewind.
    fn settled_before(&self, history: &History) -> usize {
        let still = |(place, serial): &(usize, u64)| {
            history.entries().get(*place).is_some_and(|entry| entry.serial() == *serial)
        };
        self.settled.filter(still).map_or(0, |(place, _)| place)
    }

    /// Returns the index of the newest entry to mask and of its newest part. `None` while there are
    /// too few tokens to mask.
    fn boundary(
        &mut self,
        history: &History,
        toolset: &Toolset,
        options: &MaskingOptions,
    ) -> Option<(usize, usize)> {
        let entries = history.entries();
        let end = entries.len().saturating_sub(usize::from(options.protect_latest));
        let start = self.settled_before(history).min(end);
        let (mut passed, mut prunable, mut boundary) = (0.0, 0.0, None);
        for (index, entry) in entries[..end].iter().enumerate().skip(start).rev() {
            let count = || {
                let parts = maskable(entry.content(), toolset);
                parts.map(|(_, part, _)| estimate::part(part)).sum()
            };
            let tokens = *self.tokens.entry(entry.serial()).or_insert_with(count);
            if boundary.is_some() {
                prunable += tokens;
            } else if passed + tokens <= options.protected {
                passed += tokens;
            } else {
                for (place, part, _) in
                    maskable(entry.content(), toolset).collect::<Vec<_>>().into_iter().rev()
                {
                    let tokens = estimate::part(part);
                    passed += tokens;
                    if boundary.is_none() && passed > options.protected {
                        boundary = Some((index, place));
                    }
                    if boundary.is_some() {
                        prunable += tokens;
                    }
                }
            }
        }
        boundary.filter(|_| prunable >= options.least)
    }
}

/// Returns the responses in a content that may be masked, each with its index.
fn maskable<'a>(
    content: &'a pollux_protocol::Content,
    toolset: &Toolset,
) -> impl Iterator<Item = (usize, &'a Part, &'a FunctionResponse)> {
    let parts = content.parts.iter().enumerate().filter(|_| content.role == Role::User);
    parts.filter_map(|(place, part)| {
        let response = part.as_response()?;
        shortening(response, toolset).map(|_| (place, part, response))
    })
}

/// Returns the way in which a result may be shortened; `None` for a result that stays complete or
/// is already short.
fn shortening(response: &FunctionResponse, toolset: &Toolset) -> Option<Shortening> {
    let shortening = toolset.facts(&response.name).shortening;
    (shortening != Shortening::Never && !is_masked(&response.response)).then_some(shortening)
}

fn is_masked(response: &Value) -> bool {
    let output = response.get("output").and_then(Value::as_str);
    output.is_some_and(|output| output.starts_with(OPENING))
}

/// Plans the masking up to the boundary. A result that would not become smaller is left out.
fn plan(
    history: &History,
    toolset: &Toolset,
    start: usize,
    boundary: (usize, usize),
    directory: &Path,
) -> Plan {
    let mut plan = Plan::default();
    for (index, entry) in history.entries()[..=boundary.0].iter().enumerate().skip(start).rev() {
        let parts = maskable(entry.content(), toolset);
        for (place, part, response) in parts.filter(|(place, ..)| (index, *place) <= boundary) {
            let before = estimate::part(part);
            plan.prunable += before;
            let Some(mask) = short(response, toolset, directory) else { continue };
            let mut masked = part.clone();
            if let pollux_protocol::Body::Response(response) = &mut masked.body {
                response.response = mask.1.clone();
            }
            let after = estimate::part(&masked);
            if after < before {
                let (file, response, whole) = mask;
                let entry = entry.id().clone();
                let shortened = Shortened { entry, part: place, response };
                plan.masks.push(Mask { shortened, file, whole, before, after });
            }
        }
    }
    plan
}

/// Returns file, replacement and complete text for one result of any age. `None` for a result that
/// is never masked, or is already masked.
pub(crate) fn short(
    response: &FunctionResponse,
    toolset: &Toolset,
    directory: &Path,
) -> Option<(PathBuf, Value, String)> {
    shortening(response, toolset).map(|shortening| mask(response, shortening, directory))
}

/// Returns the file of a result, its replacement, and the content for the file.
fn mask(
    response: &FunctionResponse,
    shortening: Shortening,
    directory: &Path,
) -> (PathBuf, Value, String) {
    let whole = whole(&response.response);
    let file = directory.join(file_name(response, &whole));
    let output = response.response.get("output").and_then(Value::as_str);
    let preview = match (shortening, output) {
        (Shortening::CommandOutput, Some(output)) => command_preview(output),
        _ => preview(&whole),
    };
    let shown = format!(
        "{OPENING}\n{preview}\n\nOutput too large. Full output available at: {}\n{CLOSING}{}",
        file.display(),
        output.and_then(discovered).unwrap_or_default()
    );
    (file, json!({ "output": shown }), whole)
}

/// Returns the context files at the end of a result. They apply to all later work and are sent only
/// once, so they must stay.
fn discovered(output: &str) -> Option<String> {
    let [opening, closing] = DISCOVERED_CONTEXT;
    let (_, block) = output.rsplit_once(opening)?;
    let (reported, _) = block.split_once(closing)?;
    Some(format!("\n\n{opening}{reported}{closing}"))
}

/// Returns the content for the file: plain text if the response has a single text, otherwise
/// indented JSON. A model reads files by lines, and text inside JSON would be one long line.
fn whole(response: &Value) -> String {
    let mut fields = response.as_object().into_iter().flatten();
    match (fields.next(), fields.next()) {
        (Some((_, Value::String(words))), None) => words.clone(),
        _ => serde_json::to_string_pretty(response).unwrap_or_default(),
    }
}

/// Returns `<tool>_<call id>_<mark>.txt`. The mark is a hash of the text, so a resumed conversation
/// finds its files again.
fn file_name(response: &FunctionResponse, whole: &str) -> String {
    use std::hash::{DefaultHasher, Hash as _, Hasher as _};
    let safe = |text: &str| -> String {
        let keep = |letter: char| match letter {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '-' => letter.to_ascii_lowercase(),
            _ => '_',
        };
        text.chars().take(100).map(keep).collect()
    };
    let mut hasher = DefaultHasher::new();
    whole.hash(&mut hasher);
    let mark = hasher.finish() as u32;
    format!("{}_{}_{mark:08x}.txt", safe(&response.name), safe(&response.id))
}

/// Returns the beginning and the end of a text.
fn preview(text: &str) -> String {
    match middle(text, 2 * SHOWN) {
        Some((head, tail)) => format!("{head}\n... [TRUNCATED] ...\n{tail}"),
        None => text.to_owned(),
    }
}

/// Returns beginning and end of a text with more than `limit` characters.
fn middle(text: &str, limit: usize) -> Option<(&str, &str)> {
    text.char_indices().nth(limit)?;
    let head = text.char_indices().nth(limit / 2)?.0;
    let tail = text.char_indices().nth_back(limit / 2 - 1)?.0;
    Some((&text[..head], &text[tail..]))
}

/// Returns the beginning and the end of a command's output, with the additional data (exit code,
/// signal, processes).
fn command_preview(output: &str) -> String {
    const SECTIONS: [&str; 5] =
        ["Error: ", "Exit Code: ", "Signal: ", "Background PIDs: ", "Process Group PGID: "];
    let (opening, output) = match output.strip_prefix(UNTRUSTED) {
        Some(rest) => (UNTRUSTED, rest),
        None => ("", output),
    };
    let lines: Vec<&str> = output.lines().collect();
    // The sections are at the end. Similar lines that the command itself printed come before them.
    let is_section = |line: &&str| {
        SECTIONS.iter().any(|name| line.starts_with(name))
            || line.starts_with("</untrusted_context>")
    };
    let sections = lines.iter().rev().take_while(|line| is_section(line)).count();
    let (printed, reported) = lines.split_at(lines.len() - sections);
    let short = |line: &&str| match middle(line, SHOWN_OF_LINE) {
        Some((head, tail)) => format!("{head} ... {tail}"),
        None => (*line).to_owned(),
    };
    let mut shown: Vec<String> = if printed.len() > 2 * SHOWN_LINES {
        let (head, rest) = printed.split_at(SHOWN_LINES);
        let (omitted, tail) = rest.split_at(rest.len() - SHOWN_LINES);
        let gap = format!("... [{} lines omitted] ...", omitted.len());
        head.iter().map(short).chain([gap]).chain(tail.iter().map(short)).collect()
    } else {
        printed.iter().map(short).collect()
    };
    shown.extend(reported.iter().map(short));
    format!("{opening}{}", shown.join("\n"))
}

/// Writes the complete result, unless the file already exists with that size.
pub(crate) fn save(file: &Path, whole: &str) -> Result<(), pollux_fs::Error> {
    let there = pollux_fs::link_info(file);
    if there.is_ok_and(|info| info.size == whole.len() as u64) {
        return Ok(());
    }
    pollux_fs::Spool::create(file)?.write(whole.as_bytes())
}

#[cfg(test)]
#[path = "masking/tests.rs"]
mod tests;
