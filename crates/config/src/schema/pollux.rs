//! `pollux`: settings that do not exist in Gemini CLI.

use super::kind::SettingKind;
use super::records;
use super::setting::{Setting, boolean, choice, integer, object, texts, unset};

// Rows on one line are easier to read than the formatter's layout.
#[rustfmt::skip]
pub(super) static TABLE: &[Setting] = &[
    unset("pollux.budget.day.seconds", SettingKind::Number, "Seconds of work that a day, from midnight to midnight, may take in all processes together.").restart(),
    unset("pollux.budget.day.tokens", SettingKind::Number, "Tokens of requests and answers that a day, from midnight to midnight, may take in all processes together.").restart(),
    unset("pollux.budget.day.toolCalls", SettingKind::Number, "Calls of tools that a day, from midnight to midnight, may take in all processes together.").restart(),
    unset("pollux.budget.day.turns", SettingKind::Number, "Requests to models, those beside the conversation and repeated ones included that a day, from midnight to midnight, may take in all processes together.").restart(),
    unset("pollux.budget.day.usd", SettingKind::Number, "Dollars, by the prices in `prices.json` that a day, from midnight to midnight, may take in all processes together.").restart(),
    unset("pollux.budget.prompt.seconds", SettingKind::Number, "Seconds of work that one prompt may take.").restart().flag("--timeout"),
    unset("pollux.budget.prompt.tokens", SettingKind::Number, "Tokens of requests and answers that one prompt may take.").restart().flag("--max-tokens"),
    unset("pollux.budget.prompt.toolCalls", SettingKind::Number, "Calls of tools that one prompt may take.").restart().flag("--max-tool-calls"),
    unset("pollux.budget.prompt.turns", SettingKind::Number, "Requests to models, those beside the conversation and repeated ones included that one prompt may take.").restart().flag("--max-turns"),
    unset("pollux.budget.prompt.usd", SettingKind::Number, "Dollars, by the prices in `prices.json` that one prompt may take.").restart().flag("--max-cost"),
    unset("pollux.budget.session.seconds", SettingKind::Number, "Seconds of work that the session may take.").restart(),
    unset("pollux.budget.session.tokens", SettingKind::Number, "Tokens of requests and answers that the session may take.").restart(),
    unset("pollux.budget.session.toolCalls", SettingKind::Number, "Calls of tools that the session may take.").restart(),
    unset("pollux.budget.session.turns", SettingKind::Number, "Requests to models, those beside the conversation and repeated ones included that the session may take.").restart(),
    unset("pollux.budget.session.usd", SettingKind::Number, "Dollars, by the prices in `prices.json` that the session may take.").restart(),
    integer("pollux.compression.timeout", 300, "Seconds that a model may take to summarise a conversation, or a part of one."),
    integer("pollux.outputSchema.repairs", 3, "How often an answer that does not satisfy `--output-schema` is asked for again; at most 20."),
    object("pollux.safetyCheckers", &SettingKind::Record(&records::CHECKER), "Programs that policy files name as safety checkers of type `external`, by name.").restart().shallow().not_project(),
    boolean("pollux.continueUnfinished", false, "Lets the model go on when its answer is plainly unfinished: cut off, or ending with a step that it announces."),
    boolean("pollux.policy.originalDenials", false, "Rules that deny a command find it only where Gemini CLI does; constructs that may hide one are not asked about."),
    boolean("pollux.sandbox.autoInspect", false, "Runs command lines without a question at the level `inspect`, where they can change nothing, except those that a deny or ask rule may concern."),
    texts("pollux.sandbox.secrets", &[], "Further files and folders that confined commands cannot read.").union(),
    choice("pollux.sandbox.yolo", &["protect", "none"], "protect", "Confinement of commands in yolo mode."),
    integer("pollux.shell.timeout", 600, "Seconds after which a command is ended, whatever it prints; zero for never."),
    boolean("pollux.tools.saveMemory", false, "Offers the tool that keeps facts in the person's context file.").restart(),
    texts("pollux.web.privateHosts", &[], "Hosts that `web_fetch` may reach though they are private, as in `NO_PROXY`.").restart(),
];
