//! Conversion of flags to the options of a session.

use pollux_host::{PromptLimits, ReplaySource, RuleOptions, RunOptions};
use pollux_protocol::SessionStart;

use super::{Arguments, OutputFormat, RuleArguments};

impl Arguments {
    /// Returns the options of a run with these flags. The presence of a user and the schema of the
    /// answer are set by the caller, because the flags alone do not determine them.
    pub(crate) fn options(&self) -> RunOptions {
        RunOptions {
            model: self.model.clone(),
            approval_mode: self.approval_mode,
            yolo: self.yolo,
            rules: self.rules.options(),
            include_directories: self.include_directories.clone(),
            limits: PromptLimits {
                turns: self.max_turns,
                tool_calls: self.max_tool_calls,
                tokens: self.max_tokens,
                usd: self.max_cost,
                seconds: self.timeout,
            },
            answer_schema: None,
            sandbox: self.sandbox,
            screen_reader: self.screen_reader,
            debug: self.debug,
            interactive: false,
            has_editor: false,
            looks_up: false,
            output_format: self.output_format.map(OutputFormat::name),
            replay: self.replay(),
            record: self.record_responses.clone(),
        }
    }

    /// Returns the session that the flags select.
    pub(crate) fn session(&self) -> SessionStart {
        match (&self.resume, &self.session_file) {
            (Some(identifier), _) => SessionStart::Resume(identifier.clone()),
            (None, Some(path)) => SessionStart::Import(path.clone()),
            (None, None) => SessionStart::New(self.session_id.clone()),
        }
    }

    fn replay(&self) -> Option<ReplaySource> {
        let file =
            |path: &std::path::PathBuf, strict| ReplaySource::File { path: path.clone(), strict };
        let loose = self.fake_responses_non_strict.as_ref().map(|path| file(path, false));
        loose.or_else(|| self.fake_responses.as_ref().map(|path| file(path, true)))
    }

    /// Returns true if escape sequences in the model's text are printed unchanged.
    pub(crate) fn keeps_escapes(&self) -> bool {
        self.raw_output || self.accept_raw_output_risk
    }
}

impl RuleArguments {
    /// Returns the options with these flags.
    pub(crate) fn options(&self) -> RuleOptions {
        let Self { policy, admin_policy, allowed_tools, skip_trust } = self.clone();
        RuleOptions { policy, admin_policy, allowed_tools, skip_trust }
    }
}

impl OutputFormat {
    fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Json => "json",
            Self::StreamJson => "stream-json",
        }
    }
}
