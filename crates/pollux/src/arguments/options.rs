//! Conversion of flags to the options of a session.

use std::path::PathBuf;

use pollux_host::{PromptLimits, ReplaySource, RuleOptions, RunOptions};
use pollux_protocol::{SessionRequest, SessionStart};

use super::{Arguments, OutputFormat, RuleArguments};

impl Arguments {
    /// Returns the options of a run with these flags. The schema of the answer is set by
    /// the caller, because it is in a file.
    pub(crate) fn options(&self) -> RunOptions {
        RunOptions {
            yolo: self.yolo,
            rules: self.rules.options(),
            extensions: (!self.extensions.is_empty()).then(|| self.extensions.clone()),
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
            client: self.acp.then(|| "acp".to_owned()),
            has_editor: false,
            looks_up: false,
            output_format: self.output_format.map(OutputFormat::name),
            replay: self.replay(),
            record: self.record_responses.clone(),
            record_wire: self.record_wire.clone(),
        }
    }

    /// Returns the request for a session in a folder with these flags, without a user.
    pub(crate) fn request(&self, folder: PathBuf) -> SessionRequest {
        SessionRequest {
            further_folders: self.include_directories.iter().map(PathBuf::from).collect(),
            start: self.start(),
            model: self.model.clone(),
            mode: self.approval_mode,
            ..SessionRequest::new(folder)
        }
    }

    fn start(&self) -> SessionStart {
        match (&self.resume, &self.session_file) {
            (Some(identifier), _) => SessionStart::Resume(identifier.clone()),
            (None, Some(path)) => SessionStart::Import(path.clone()),
            (None, None) => SessionStart::New(self.session_id.clone()),
        }
    }

    fn replay(&self) -> Option<ReplaySource> {
        let file = |path: &PathBuf, strict| ReplaySource::File { path: path.clone(), strict };
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
        let Self { policy, admin_policy, allowed_tools, allowed_mcp_server_names, skip_trust } =
            self.clone();
        let allowed_servers =
            (!allowed_mcp_server_names.is_empty()).then_some(allowed_mcp_server_names);
        RuleOptions { policy, admin_policy, allowed_tools, allowed_servers, skip_trust }
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
