//! `read_file`: text by lines; images, audio and documents as media.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use async_trait::async_trait;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use pollux_fs::{Access, Error, FileKind, Fingerprint, HEAD_BYTES, RealPath};
use pollux_protocol::{
    Args, Declaration, Display, Effects, FileOperationKind, Invocation, Part, RunContext,
    SubjectArgument, Tool, ToolError, ToolErrorKind, ToolFacts, ToolKind, ToolOutput,
};
use serde::Deserialize;
use serde_json::json;

use crate::blocking::{blocking, check};
use crate::contents::{self, too_large};
use crate::context::{ToolContext, changed, failed, file_operation};
use crate::validation::{Schema, invalid, whole};
use lines::{LineRange, View, view};

pub(crate) mod lines;

/// Name of the tool for models and policies.
pub(crate) const NAME: &str = "read_file";
/// Maximum size of a vector image in bytes.
pub(crate) const MAX_SVG_BYTES: usize = 1 << 20;
/// Audio formats that models accept.
const AUDIO: [&str; 6] = ["mpeg", "wav", "aiff", "aac", "ogg", "flac"];

/// The tool `read_file`.
pub(crate) struct ReadFileTool {
    context: Arc<ToolContext>,
    schema: Schema,
}

impl ReadFileTool {
    /// Creates the tool for a session.
    pub(crate) fn new(context: Arc<ToolContext>) -> Self {
        let schema = Schema::new(json!({
            "type": "object",
            "properties": {
                "file_path": {
                    "type": "string",
                    "description": "The file: an absolute path, or a path relative to the project folder."
                },
                "start_line": {
                    "type": "integer",
                    "minimum": 1,
                    "description": "First line to read, counted from 1. Default: 1."
                },
                "end_line": {
                    "type": "integer",
                    "minimum": 1,
                    "description": "Last line to read, inclusive. Default: 2000 lines from start_line."
                }
            },
            "required": ["file_path"]
        }));
        Self { context, schema }
    }
}

#[derive(Deserialize)]
struct Params {
    file_path: String,
    #[serde(default, deserialize_with = "whole")]
    start_line: Option<u64>,
    #[serde(default, deserialize_with = "whole")]
    end_line: Option<u64>,
}

impl Tool for ReadFileTool {
    fn name(&self) -> &'static str {
        NAME
    }

    fn display_name(&self) -> &'static str {
        "ReadFile"
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Read
    }

    fn facts(&self) -> ToolFacts {
        ToolFacts { subject: Some(SubjectArgument::Path("file_path")), ..ToolFacts::default() }
    }

    fn declaration(&self) -> Declaration {
        Declaration {
            name: NAME.to_owned(),
            description: "Reads one file. Returns at most 2000 lines of text, and 2000 characters of each \
                          line; if text is omitted, the result says how to continue with start_line \
                          and end_line. Images (PNG, JPEG, GIF, WEBP, BMP), audio (MP3, WAV, AIFF, \
                          AAC, OGG, FLAC), video and PDF are returned as media. Read a file before \
                          you change it. In a large file, find the relevant lines with grep_search \
                          and read only those."
                .to_owned(),
            parameters: self.schema.document().clone(),
        }
    }

    fn prepare(&self, args: &Args) -> Result<Box<dyn Invocation>, ToolError> {
        let params: Params = self.schema.read(args)?;
        if params.file_path.trim().is_empty() {
            return Err(invalid("The 'file_path' parameter must be non-empty."));
        }
        let path = self.context.locate(&params.file_path, Access::Read)?;
        let range = LineRange::new(params.start_line, params.end_line)
            .ok_or_else(|| invalid("start_line cannot be greater than end_line"))?;
        let rules = self.context.ignore_rules(None, None);
        let named = self
            .context
            .workspace
            .get()
            .absolute(&params.file_path)
            .unwrap_or_else(|_| path.to_path_buf());
        if rules.is_ignored_at(&named, &path, false) {
            let path = path.display();
            return Err(invalid(format!(
                "File path '{path}' is ignored by configured ignore patterns."
            )));
        }
        let first_line = params.start_line;
        Ok(Box::new(ReadFile { context: Arc::clone(&self.context), path, range, first_line }))
    }
}

struct ReadFile {
    context: Arc<ToolContext>,
    path: RealPath,
    range: LineRange,
    first_line: Option<u64>,
}

#[async_trait]
impl Invocation for ReadFile {
    fn effects(&self) -> Effects {
        Effects::read(&self.path)
    }

    fn describe(&self) -> String {
        self.context.workspace.get().display_path(&self.path)
    }

    fn first_line(&self) -> Option<u64> {
        self.first_line
    }

    async fn run(&self, run: RunContext) -> ToolOutput {
        let (context, path, range) = (Arc::clone(&self.context), self.path.clone(), self.range);
        let work = move |stop: &AtomicBool| Ok(read(&context, &path, range, stop));
        blocking(&run.cancel, work).await.unwrap_or_else(ToolOutput::from)
    }
}

/// Reads the file and formats its content. Uses memory for the bytes of the file and for the part
/// of them that is shown.
fn read(context: &ToolContext, path: &RealPath, range: LineRange, stop: &AtomicBool) -> ToolOutput {
    if let Err(error) = context.recheck(path, Access::Read) {
        return error.into();
    }
    let bytes = match contents::read_bytes(&*context.files, path) {
        Ok(bytes) => bytes,
        Err(error) => return failure(path, &error),
    };
    if let Err(error) = check(stop) {
        return error.into();
    }
    let shown = context.workspace.get().relative(path).display().to_string();
    let kind = pollux_fs::detect(path, &bytes[..bytes.len().min(HEAD_BYTES)]);
    let mut output = match kind {
        FileKind::Text => text(&bytes, range, path, &shown),
        FileKind::Svg => svg(&bytes, &shown),
        FileKind::Image(mime) => media(&bytes, mime, "image", &shown),
        FileKind::Pdf => media(&bytes, "application/pdf", "pdf", &shown),
        FileKind::Video(mime) => media(&bytes, mime, "video", &shown),
        FileKind::Audio(mime) => audio(&bytes, mime, &shown),
        FileKind::Binary => {
            ToolOutput::quiet(format!("Cannot display content of binary file: {shown}"))
                .display(Display::Text(format!("Skipped binary file: {shown}")))
        }
    };
    if output.error.is_none() {
        context.ledger.record(path, Fingerprint::of_bytes(&bytes, None));
        let is_text = matches!(kind, FileKind::Text | FileKind::Svg);
        let lines = is_text.then(|| lines::count(&bytes));
        output.measurements.push(file_operation(NAME, FileOperationKind::Read, path, lines));
        append_context(context, path, &mut output);
    }
    output
}

fn failure(path: &Path, error: &Error) -> ToolOutput {
    let absolute = path.display();
    let (kind, message, display) = match error {
        Error::PathChanged { .. } => return changed(error).into(),
        // A path below a file does not exist either.
        Error::NotFound { .. } | Error::NotADirectory { .. } => (
            ToolErrorKind::FileNotFound,
            format!("File not found: {absolute}"),
            "File not found.".to_owned(),
        ),
        Error::IsDirectory { .. } => (
            ToolErrorKind::TargetIsDirectory,
            format!("Path is a directory, not a file: {absolute}"),
            "Path is a directory.".to_owned(),
        ),
        Error::TooLarge { size, .. } => (
            ToolErrorKind::FileTooLarge,
            too_large(path, *size),
            "File size exceeds the 20MB limit.".to_owned(),
        ),
        other => {
            let message = format!("Error reading file {absolute}: {other}");
            (ToolErrorKind::ReadContentFailure, message.clone(), message)
        }
    };
    failed(ToolError::new(kind, message), display)
}

/// Returns the shown text of a file that is read together with other files, and whether lines of it
/// are cut.
pub(crate) fn excerpt(bytes: &[u8]) -> Option<(String, bool)> {
    let view = view_of(bytes, LineRange::new(None, None)?).ok()?;
    let has_cut_lines = view.has_cut_lines();
    Some((view.into_excerpt(), has_cut_lines))
}

fn view_of(bytes: &[u8], range: LineRange) -> Result<View, usize> {
    // Almost all files are UTF-8 and need no copy.
    let plain = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    match std::str::from_utf8(plain) {
        Ok(text) => view(text, range),
        Err(_) => view(&pollux_fs::decode(bytes).0, range),
    }
}

fn text(bytes: &[u8], range: LineRange, path: &Path, shown: &str) -> ToolOutput {
    match view_of(bytes, range) {
        Ok(view) => {
            let display = view.summary(shown);
            ToolOutput::quiet(view.into_text()).display(Display::Text(display))
        }
        Err(lines) => {
            let number = if lines == 1 { "1 line".to_owned() } else { format!("{lines} lines") };
            invalid(format!("start_line is behind the end of {}: {number}.", path.display())).into()
        }
    }
}

fn svg(bytes: &[u8], shown: &str) -> ToolOutput {
    if bytes.len() > MAX_SVG_BYTES {
        return ToolOutput::text(format!(
            "Cannot display content of SVG file larger than 1MB: {shown}"
        ));
    }
    let text = pollux_fs::decode(bytes).0.replace("\r\n", "\n");
    ToolOutput::quiet(text).display(Display::Text(format!("Read SVG as text: {shown}")))
}

fn media(bytes: &[u8], mime: &str, what: &str, shown: &str) -> ToolOutput {
    let part = Part::inline(mime, BASE64_STANDARD.encode(bytes));
    ToolOutput { content: vec![part], ..ToolOutput::default() }
        .display(Display::Text(format!("Read {what} file: {shown}")))
}

/// Returns the name of an audio format that models accept; `None` for other formats.
pub(crate) fn audio_type(mime: &str) -> Option<String> {
    let bare = mime.strip_prefix("audio/").unwrap_or(mime);
    let bare = match bare.strip_prefix("x-").unwrap_or(bare) {
        "mp3" => "mpeg",
        "wave" | "vnd.wave" => "wav",
        other => other,
    };
    AUDIO.contains(&bare).then(|| format!("audio/{bare}"))
}

fn audio(bytes: &[u8], mime: &str, shown: &str) -> ToolOutput {
    if let Some(mime) = audio_type(mime) {
        return media(bytes, &mime, "audio", shown);
    }
    let message = format!(
        "Unsupported audio format {mime}: {shown}. Convert it to one of {}.",
        AUDIO.join(", ")
    );
    ToolError::new(ToolErrorKind::ReadContentFailure, message).into()
}

/// Appends the block with context to text, or adds it as another part to media.
fn append_context(context: &ToolContext, path: &Path, output: &mut ToolOutput) {
    let Some(block) = context.discovered_context(path) else { return };
    match output.content.first().and_then(Part::as_text) {
        Some(text) => output.content = vec![Part::text(format!("{text}{block}"))],
        None => output.content.push(Part::text(block)),
    }
}
