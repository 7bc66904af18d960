//! `pollux demo`: the real agent loop and the real tools on a small project, with a recorded model.
//!
//! The project is written to a temporary folder that has its own home, so that no files of the user
//! are read or left behind.

use std::path::{Path, PathBuf};

use pollux_config::{Environment, names as variables};
use pollux_fs::WriteOptions;
use pollux_protocol::ApprovalMode;
use pollux_tools::Difference;
use tempfile::TempDir;

use crate::arguments::{Arguments, DemoArguments, OutputFormat};
use crate::exit::Failure;
use crate::process::Process;
use crate::run::Start;
use crate::stderr::stderr_line;

/// Recorded answers of the model, in the format of `--fake-responses`.
const MODEL: &str = include_str!("demo/model.jsonl");

/// Prompt for the model.
const PROMPT: &str = "A check of this project fails. Find out why and fix it.";

/// Files of the sample project.
const FILES: [(&str, &str); 3] = [
    ("README.md", include_str!("demo/project/README.md")),
    ("check.sh", include_str!("demo/project/check.sh")),
    ("till.sh", include_str!("demo/project/till.sh")),
];

/// A demonstration on disk. The folder is removed on drop, unless it is kept.
pub(crate) struct Demo {
    folder: TempDir,
    keep: bool,
    format: OutputFormat,
    called_as: String,
    environment: Environment,
}

impl Demo {
    /// Writes the sample project to a new temporary folder.
    pub(crate) fn prepare(arguments: &DemoArguments, process: Process) -> Result<Self, Failure> {
        let Process { called_as, environment } = process;
        let place = environment.temporary_dir();
        let folder = tempfile::Builder::new().prefix("pollux-demo-").tempdir_in(&place);
        let folder = folder.map_err(|error| broken(&place, &error))?;
        let demo = Self {
            folder,
            keep: arguments.keep,
            format: arguments.output_format.unwrap_or_default(),
            called_as,
            environment,
        };
        let options = WriteOptions { create_parents: true, ..WriteOptions::default() };
        for (name, text) in FILES {
            let file = demo.project().join(name);
            pollux_fs::write_atomic(&file, text.as_bytes(), &options)
                .map_err(|error| broken(&file, &error))?;
        }
        Ok(demo)
    }

    fn project(&self) -> PathBuf {
        self.folder.path().join("till")
    }

    /// Returns the input of the run: an ordinary headless run with its own home and a recorded
    /// model.
    pub(crate) fn start(&self) -> Start {
        let home = self.folder.path().join("home");
        let quiet = [
            variables::GEMINI_SANDBOX,
            variables::GEMINI_MODEL,
            variables::GEMINI_TELEMETRY_ENABLED,
            variables::GEMINI_SYSTEM_MD,
            variables::GEMINI_WRITE_SYSTEM_MD,
        ];
        let mut environment = self
            .environment
            .with(variables::GEMINI_CLI_HOME, &home.to_string_lossy())
            .with(variables::GEMINI_CLI_TRUST_WORKSPACE, "true");
        for name in quiet {
            environment = environment.with(name, "");
        }
        Start {
            arguments: Arguments {
                prompt: Some(PROMPT.to_owned()),
                model: Some("gemini-2.5-pro".to_owned()),
                approval_mode: Some(ApprovalMode::Yolo),
                output_format: Some(self.format),
                ..Arguments::default()
            },
            process: Process { called_as: self.called_as.clone(), environment },
            folder: self.project(),
            recording: Some(MODEL.to_owned()),
        }
    }

    /// Prints the introduction before the run.
    pub(crate) fn introduce(&self) {
        stderr_line(&format!(
            "This is Pollux at work on a sample project in {}.\nThe responses of the model are recorded; the loop, the tools and their output are real.\n\nPrompt: {PROMPT}\n",
            self.project().display()
        ));
    }

    /// Prints the changes and the next steps after the run. Returns the text for standard output;
    /// `None` in the JSON formats.
    pub(crate) fn conclude(self) -> Option<String> {
        let diff = self.diff();
        let called = &self.called_as;
        stderr_line(&format!(
            "\nTo connect a real model, get a key at https://aistudio.google.com/apikey and then:\n  export GEMINI_API_KEY=...\n  cd your-project && {called} --skip-trust -p \"explain this project\""
        ));
        if self.keep {
            stderr_line(&format!("Kept: {}", self.folder.keep().display()));
        }
        if self.format == OutputFormat::Text {
            return Some(format!("\nWhat changed:\n\n{diff}"));
        }
        stderr_line(&format!("\nWhat changed:\n\n{diff}"));
        None
    }

    fn diff(&self) -> String {
        FILES.iter().map(|(name, before)| file_diff(&self.project(), name, before)).collect()
    }
}

fn broken(path: &Path, error: &dyn std::fmt::Display) -> Failure {
    let (path, hint) = (path.display(), "Set TMPDIR to a writable folder.");
    Failure::general(format!("The demo cannot write to {path}: {error}. {hint}"))
}

fn file_diff(project: &Path, name: &str, before: &str) -> String {
    let after = pollux_fs::read_text(&project.join(name), 1 << 20).map(|file| file.text);
    let after = after.unwrap_or_default();
    match Difference::between(before, &after).hunks() {
        hunks if hunks.is_empty() => hunks,
        hunks => format!("--- a/{name}\n+++ b/{name}\n{hunks}"),
    }
}
