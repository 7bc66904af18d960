//! Search in one file: the matching lines and the lines around them.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{
    BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkContextKind, SinkMatch,
};
use regex::bytes::{Regex, RegexBuilder};

use super::{
    FileMatches, MAX_CONTEXT, MAX_KEPT_BYTES, MAX_LINE_BYTES, MAX_PATTERN_BYTES, MatchLine,
    SearchRequest, Target,
};
use crate::error::{Error, Result};
use crate::kind::{FileKind, HEAD_BYTES, detect, is_utf8};
use crate::real::RealPath;
use crate::text::decode;
use crate::walk::Cancel;

/// Maximum length of a line with the context before it; a file with a longer line counts as
/// unreadable.
const MAX_BUFFER: usize = 64 * 1024 * 1024;

/// Maximum size of a file in another encoding than UTF-8 that is decoded for the search, in bytes;
/// in a larger one, only the characters of ASCII are found. The limit of `read_file` is the same.
const MAX_DECODED_BYTES: u64 = 20 * 1024 * 1024;

/// Number of bytes that are searched of a file that is not text.
const MAX_BINARY_BYTES: u64 = 16 * 1024 * 1024;

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
    pub(super) fn searcher(&self) -> FileSearcher {
        let searcher = SearcherBuilder::new()
            .line_number(true)
            .before_context(self.before)
            .after_context(self.after)
            .binary_detection(BinaryDetection::none())
            .heap_limit(Some(MAX_BUFFER))
            .build();
        FileSearcher { searcher, head: Vec::with_capacity(HEAD_BYTES) }
    }

    /// Searches one file. Returns `None` if it has no match or cannot be read, and whether
    /// `is_over` ended the search.
    pub(super) fn run(
        &self,
        searcher: &mut FileSearcher,
        Target { path, real }: &Target,
        is_over: Cancel<'_>,
    ) -> (Option<Searched>, bool) {
        let real = real.clone().unwrap_or_else(|| RealPath::assumed(path));
        let mut found = Found { search: self, text: None, is_in_binary: false };
        let (is_readable, is_broken_off) = match found.search(searcher, path, &real, is_over) {
            Ok(()) => (true, false),
            Err(error) if error.kind() == io::ErrorKind::TimedOut => (true, true),
            Err(_) => (false, false),
        };
        (found.into_searched(path).filter(|_| is_readable), is_broken_off)
    }

    fn is_excluded(&self, line: &[u8]) -> bool {
        self.exclude.as_ref().is_some_and(|exclude| exclude.is_match(line))
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

/// Matches of one file so far.
struct Found<'a> {
    search: &'a FileSearch,
    text: Option<Collector<'a>>,
    is_in_binary: bool,
}

impl Found<'_> {
    fn search(
        &mut self,
        FileSearcher { searcher, head }: &mut FileSearcher,
        path: &Path,
        real: &RealPath,
        is_over: Cancel<'_>,
    ) -> io::Result<()> {
        let file = real.open_listed().map_err(io::Error::other)?;
        let mut file = Guarded { file, is_over };
        head.clear();
        file.by_ref().take(HEAD_BYTES as u64).read_to_end(head)?;
        let search = self.search;
        let matcher = &search.matcher;
        if !matches!(detect(path, head), FileKind::Text | FileKind::Svg) {
            return searcher.search_reader(matcher, head.chain(file).take(MAX_BINARY_BYTES), self);
        }
        let collector = self.text.insert(Collector::new(search));
        let is_whole = head.len() < HEAD_BYTES;
        let is_plain = if is_whole { std::str::from_utf8(head).is_ok() } else { is_utf8(head) };
        let bytes = if is_plain { None } else { real.read_bytes(MAX_DECODED_BYTES).ok() };
        let Some(bytes) = bytes else {
            return searcher.search_reader(matcher, head.chain(file), collector);
        };
        let (text, _) = decode(&bytes);
        let text = Guarded { file: text.as_bytes(), is_over };
        searcher.search_reader(matcher, text, collector)
    }

    fn into_searched(self, path: &Path) -> Option<Searched> {
        let Some(Collector { lines, matches, .. }) = self.text else {
            return self.is_in_binary.then(|| Searched::Binary(path.into()));
        };
        let file = FileMatches { path: path.into(), lines, matches };
        (matches > 0).then_some(Searched::Text(file))
    }
}

/// Notes only whether a file that is not text has a match.
impl Sink for Found<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        self.is_in_binary = !self.search.is_excluded(found.bytes());
        Ok(!self.is_in_binary)
    }
}

/// Searcher with a buffer for the first bytes of a file.
pub(super) struct FileSearcher {
    searcher: Searcher,
    head: Vec<u8>,
}

/// File with a match.
pub(super) enum Searched {
    Text(FileMatches),
    /// Path of a file that is not text.
    Binary(PathBuf),
}

/// File whose reading ends at the time limit, however large the file is.
struct Guarded<'a, R> {
    file: R,
    is_over: Cancel<'a>,
}

impl<R: Read> Read for Guarded<'_, R> {
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
    /// Number of the last line that counted as a match.
    last_match: u64,
    /// Index in `lines` at which the context before the next match begins.
    lead_in: Option<usize>,
}

impl<'a> Collector<'a> {
    fn new(search: &'a FileSearch) -> Self {
        let (lines, lead_in) = (Vec::new(), None);
        Self { search, lines, matches: 0, bytes: 0, last_match: 0, lead_in }
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
        if self.search.is_excluded(found.bytes()) {
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
            if !self.search.is_excluded(context.bytes()) {
                self.push(number, context.bytes(), false);
            }
            return Ok(true);
        }
        // The searcher also reports the lines after an excluded match here.
        let last_wanted = self.last_match + self.search.after as u64;
        if self.matches > 0 && number <= last_wanted && !self.search.is_excluded(context.bytes()) {
            self.push(number, context.bytes(), false);
        }
        Ok(!self.is_full() || number < last_wanted)
    }
}
