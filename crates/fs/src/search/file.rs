//! Search in one file: the matching lines and the lines around them.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{
    BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkContextKind, SinkMatch,
};
use regex::bytes::{Regex, RegexBuilder};

use super::{
    FileMatches, MAX_CONTEXT, MAX_KEPT_BYTES, MAX_LINE_BYTES, MAX_PATTERN_BYTES, MatchLine,
    SearchRequest,
};
use crate::error::{Error, Result};
use crate::real::RealPath;
use crate::walk::Cancel;

/// Maximum length of a line with the context before it; a file with a longer line counts as
/// unreadable.
const MAX_BUFFER: usize = 64 * 1024 * 1024;

/// Maximum memory of one compiled expression, in bytes. The time to compile is proportional to it,
/// and a few letters (`\w{400}`) can require any amount.
const MAX_COMPILED: usize = 10 * 1024 * 1024;

/// Compiled request.
pub(super) struct FileSearch {
    matcher: RegexMatcher,
    exclude: Option<Regex>,
    limit: usize,
    before: usize,
    after: usize,
}

impl FileSearch {
    pub(super) fn new(request: &SearchRequest<'_>) -> Result<Self> {
        if request.pattern.len().max(request.exclude_pattern.map_or(0, str::len))
            > MAX_PATTERN_BYTES
        {
            return Err(Error::Pattern("the pattern is too long".into()));
        }
        let matcher = RegexMatcherBuilder::new()
            .case_insensitive(!request.case_sensitive)
            .fixed_strings(request.fixed_strings)
            .multi_line(true)
            // Lets `$` match before the carriage return of a line; used only if needed, because it
            // is slower.
            .crlf(!request.fixed_strings && request.pattern.contains('$'))
            .line_terminator(Some(b'\n'))
            .size_limit(MAX_COMPILED)
            .dfa_size_limit(MAX_COMPILED)
            .build(request.pattern)
            .map_err(|error| Error::Pattern(error.to_string()))?;
        let exclude = |pattern: &str| {
            RegexBuilder::new(pattern)
                .case_insensitive(!request.case_sensitive)
                .size_limit(MAX_COMPILED)
                .dfa_size_limit(MAX_COMPILED)
                .build()
                .map_err(|error| Error::Pattern(error.to_string()))
        };
        let context = |own: Option<usize>| match own.unwrap_or(request.context) {
            _ if request.names_only => 0,
            lines => lines.min(MAX_CONTEXT),
        };
        let per_file = if request.names_only { Some(1) } else { request.max_per_file };
        Ok(Self {
            matcher,
            exclude: request.exclude_pattern.map(exclude).transpose()?,
            limit: per_file.unwrap_or(usize::MAX).min(request.max_total).max(1),
            before: context(request.before),
            after: context(request.after),
        })
    }

    /// Creates a searcher that can be reused for many files.
    pub(super) fn searcher(&self) -> Searcher {
        SearcherBuilder::new()
            .line_number(true)
            .before_context(self.before)
            .after_context(self.after)
            .binary_detection(BinaryDetection::quit(0))
            .heap_limit(Some(MAX_BUFFER))
            .build()
    }

    /// Searches one file; a binary or unreadable file has no matches. Also returns whether
    /// `is_over` ended the search.
    pub(super) fn run(
        &self,
        searcher: &mut Searcher,
        path: &Path,
        is_over: Cancel<'_>,
    ) -> (FileMatches, bool) {
        let mut collector = Collector::new(self);
        let outcome = RealPath::assumed(path).open_listed().map(|file| {
            searcher.search_reader(&self.matcher, Guarded { file, is_over }, &mut collector)
        });
        let (readable, broken_off) = match outcome {
            Ok(Ok(())) => (true, false),
            Ok(Err(error)) if error.kind() == io::ErrorKind::TimedOut => (true, true),
            Ok(Err(_)) | Err(_) => (false, false),
        };
        if collector.binary || !readable {
            collector = Collector::new(self);
        }
        let Collector { lines, matches, .. } = collector;
        (FileMatches { path: path.into(), lines, matches }, broken_off)
    }

    /// Removes a file's lines after its `limit`th match and that match's context.
    pub(super) fn cut(&self, mut file: FileMatches, limit: usize) -> FileMatches {
        if file.matches <= limit {
            return file;
        }
        let matches = file.lines.iter().enumerate().filter(|(_, line)| line.is_match);
        let mut last = matches.skip(limit.saturating_sub(1));
        let (Some((at, line)), next) = (last.next(), last.next()) else { return file };
        let until = line.number + self.after as u64;
        let end = next.map_or(file.lines.len(), |(index, _)| index);
        let context =
            file.lines[at + 1..end].iter().take_while(|line| line.number <= until).count();
        file.lines.truncate(at + 1 + context);
        file.matches = limit;
        file
    }
}

/// File whose reading ends at the time limit, however large the file is.
struct Guarded<'a> {
    file: File,
    is_over: Cancel<'a>,
}

impl Read for Guarded<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if (self.is_over)() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.file.read(buffer)
    }
}

/// Receiver of lines from the searcher.
struct Collector<'a> {
    search: &'a FileSearch,
    lines: Vec<MatchLine>,
    matches: usize,
    bytes: usize,
    binary: bool,
    /// Number of the last line that counted as a match.
    last_match: u64,
    /// Index in `lines` at which the context before the next match begins.
    lead_in: Option<usize>,
}

impl<'a> Collector<'a> {
    fn new(search: &'a FileSearch) -> Self {
        let (lines, lead_in) = (Vec::new(), None);
        Self { search, lines, matches: 0, bytes: 0, binary: false, last_match: 0, lead_in }
    }

    fn is_excluded(&self, line: &[u8]) -> bool {
        self.search.exclude.as_ref().is_some_and(|exclude| exclude.is_match(line))
    }

    fn is_full(&self) -> bool {
        self.matches >= self.search.limit || self.bytes >= MAX_KEPT_BYTES
    }

    fn push(&mut self, number: u64, bytes: &[u8], is_match: bool) {
        let text = line_text(bytes);
        self.bytes += text.len();
        self.lines.push(MatchLine { number, text, is_match });
    }
}

/// Returns the text of a line without its line ending, cut between characters.
fn line_text(bytes: &[u8]) -> String {
    let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
    let mut text = String::from_utf8_lossy(&bytes[..bytes.len().min(MAX_LINE_BYTES)]).into_owned();
    if bytes.len() > MAX_LINE_BYTES {
        // A character cut in half was decoded as a replacement character.
        text.truncate(text.trim_end_matches(char::REPLACEMENT_CHARACTER).len());
    }
    text
}

impl Sink for Collector<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        let lead_in = self.lead_in.take();
        if self.is_excluded(found.bytes()) {
            if let Some(start) = lead_in {
                self.lines.truncate(start);
            }
            return Ok(true);
        }
        if self.is_full() {
            return Ok(false);
        }
        let number = found.line_number().unwrap_or_default();
        self.push(number, found.bytes(), true);
        self.matches += 1;
        self.last_match = number;
        Ok(!self.is_full() || self.search.after > 0)
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        let number = context.line_number().unwrap_or_default();
        if *context.kind() == SinkContextKind::Before {
            if self.is_full() {
                return Ok(false);
            }
            self.lead_in.get_or_insert(self.lines.len());
            if !self.is_excluded(context.bytes()) {
                self.push(number, context.bytes(), false);
            }
            return Ok(true);
        }
        // The searcher also reports the lines after an excluded match here.
        let last_wanted = self.last_match + self.search.after as u64;
        if self.matches > 0 && number <= last_wanted && !self.is_excluded(context.bytes()) {
            self.push(number, context.bytes(), false);
        }
        Ok(!self.is_full() || number < last_wanted)
    }

    fn binary_data(&mut self, _: &Searcher, _: u64) -> io::Result<bool> {
        self.binary = true;
        Ok(false)
    }
}
