//! `pollux`: settings that do not exist in Gemini CLI.

use super::kind::SettingKind;
use super::records;
use super::setting::{Setting, boolean, choice, integer, object, texts, unset};

// Rows on one line are easier to read than the formatter's layout.
#[rustfmt::skip]
pub(super) static TABLE: &[Setting] = &[
    unset("pollux.auth.googleClientId", SettingKind::Text, "Id of your OAuth client at Google, with which `pollux auth login` signs in and renews the token. `POLLUX_GOOGLE_OAUTH_CLIENT_ID` takes precedence.").restart().not_project(),
    unset("pollux.auth.googleClientSecret", SettingKind::Text, "Secret of this client.").restart().not_project(),
    unset("pollux.auth.tokenCommand", SettingKind::Text, "Command whose output is the token for a gateway: any vendor at an address that you have set. It runs in the folder of your settings before the first request, every five minutes, and when the gateway refuses the token.").restart().not_project(),
    unset("pollux.budget.day.seconds", SettingKind::Number, "Maximum working time of all processes per day (from midnight to midnight), in seconds.").restart(),
    unset("pollux.budget.day.tokens", SettingKind::Number, "Maximum number of tokens in requests and answers of all processes per day (from midnight to midnight).").restart(),
    unset("pollux.budget.day.toolCalls", SettingKind::Number, "Maximum number of tool calls of all processes per day (from midnight to midnight).").restart(),
    unset("pollux.budget.day.turns", SettingKind::Number, "Maximum number of requests to models by all processes per day (from midnight to midnight), including side calls and retries.").restart(),
    unset("pollux.budget.day.usd", SettingKind::Number, "Maximum cost of all processes per day (from midnight to midnight), in dollars, by the prices in `prices.json`.").restart(),
    unset("pollux.budget.prompt.seconds", SettingKind::Number, "Maximum working time of one prompt, in seconds.").restart().flag("--timeout"),
    unset("pollux.budget.prompt.tokens", SettingKind::Number, "Maximum number of tokens in requests and answers of one prompt.").restart().flag("--max-tokens"),
    unset("pollux.budget.prompt.toolCalls", SettingKind::Number, "Maximum number of tool calls of one prompt.").restart().flag("--max-tool-calls"),
    unset("pollux.budget.prompt.turns", SettingKind::Number, "Maximum number of requests to models for one prompt, including side calls and retries.").restart().flag("--max-turns"),
    unset("pollux.budget.prompt.usd", SettingKind::Number, "Maximum cost of one prompt, in dollars, by the prices in `prices.json`.").restart().flag("--max-cost"),
    unset("pollux.budget.session.seconds", SettingKind::Number, "Maximum working time of the session, in seconds.").restart(),
    unset("pollux.budget.session.tokens", SettingKind::Number, "Maximum number of tokens in requests and answers of the session.").restart(),
    unset("pollux.budget.session.toolCalls", SettingKind::Number, "Maximum number of tool calls of the session.").restart(),
    unset("pollux.budget.session.turns", SettingKind::Number, "Maximum number of requests to models in the session, including side calls and retries.").restart(),
    unset("pollux.budget.session.usd", SettingKind::Number, "Maximum cost of the session, in dollars, by the prices in `prices.json`.").restart(),
    integer("pollux.compression.timeout", 300, "Time limit for summarising a conversation, or a part of one, in seconds."),
    texts("pollux.fallback.chain", &[], "Models that may replace one that is not available, the best first, also of other vendors. Without a list: the models that Gemini CLI uses.").restart().not_project(),
    choice("pollux.fallback.mode", &["ask", "never", "chain"], "ask", "Use of another model when the quota is used up, the service is overloaded or the model does not exist: `ask` the user (without a user, nothing is replaced), `never`, or the next of the `chain` without a question.").restart().not_project(),
    unset("pollux.mcp.clientMetadataUrl", SettingKind::Text, "Address (https) of a Client ID Metadata Document. Pollux uses it as its client id when it signs in to a server that supports such documents, instead of registering itself.").restart(),
    integer("pollux.mcp.headlessWait", 60, "Time that the first request of a headless run waits for MCP servers that are still starting, in seconds; zero for no wait. A shorter `timeout` of the server itself is respected."),
    integer("pollux.outputSchema.repairs", 3, "Maximum number of repeated requests when an answer does not satisfy `--output-schema`; at most 20.").within(0, 20),
    object("pollux.safetyCheckers", &SettingKind::Record(&records::CHECKER), "Programs that policy files can use as safety checkers of type `external`, by name.").restart().shallow().not_project(),
    boolean("pollux.continueUnfinished", false, "Lets the model continue when its answer is clearly unfinished: truncated, or ending with an announced step."),
    boolean("pollux.policy.headlessReads", true, "Lets a headless run in a trusted folder run commands that only read, confined, without a rule."),
    boolean("pollux.policy.originalDenials", false, "Rules that deny a command only find it where Gemini CLI does; constructs that may hide a command need no approval."),
    integer("pollux.retry.maxWait", 900, "Maximum time that one request to a model waits for further attempts, in seconds, all waits together.").restart(),
    object("pollux.roles", &SettingKind::Text, "Models for the tasks `compressor`, `router`, `judge`, `editFixer` and `subagent`, by task: a name, or `vendor/name`.").restart().not_project(),
    boolean("pollux.routing.classifier", false, "Lets a small model rate each prompt for `auto`, so that easy prompts go to a faster model.").restart(),
    boolean("pollux.sandbox.autoInspect", false, "Runs command lines without approval at the level `inspect`, where they cannot change anything, except those that a deny or ask rule may apply to."),
    texts("pollux.sandbox.secrets", &[], "Further files and folders that confined commands cannot read.").union(),
    choice("pollux.sandbox.yolo", &["protect", "none"], "protect", "Confinement of commands in yolo mode."),
    integer("pollux.shell.timeout", 600, "Time limit for a command, in seconds, even if it still produces output; zero for no limit."),
    integer("pollux.stdinTimeout", 30, "Time limit for the first byte of standard input in a run with a prompt, in seconds; zero for no limit."),
    choice("pollux.terminal", &["auto", "screen", "line"], "auto", "Conversation at a terminal: `screen` keeps the input below the text, `line` prints line after line. `auto` is `screen` where the terminal supports it. A dumb terminal and a screen reader always get lines.").restart(),
    boolean("pollux.terminalProgress", true, "Shows in the window, on terminals that can, that Pollux works (OSC 9;4)."),
    unset("pollux.tls.clientCertificate", SettingKind::Text, "File with your certificate in PEM format, for model services that ask for one (mutual TLS). A relative path begins at the folder of your settings.").restart().not_project(),
    unset("pollux.tls.clientKey", SettingKind::Text, "File with the key of `pollux.tls.clientCertificate`, if it is another one.").restart().not_project(),
    boolean("pollux.tools.saveMemory", false, "Offers the tool that saves facts in the user's context file.").restart(),
    texts("pollux.web.privateHosts", &[], "Private hosts that `web_fetch` may access, in the syntax of `NO_PROXY`.").restart(),
];
