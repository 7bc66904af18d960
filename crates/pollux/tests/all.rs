//! Tests of the built program from outside: a scripted model server, a temporary home, the real
//! binary.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "not part of the product")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
#![cfg(unix)]

mod suite {
    mod acp;
    mod acp_client;
    mod acp_content;
    mod acp_robustness;
    mod acp_sessions;
    mod auth;
    mod auto_memory;
    mod background;
    mod budget;
    mod chat_completions;
    mod checkers;
    mod command_line;
    mod compression;
    mod compression_at_the_terminal;
    mod config;
    mod confirmations;
    mod conseca;
    mod consent;
    mod consent_at_the_terminal;
    mod consent_on_the_screen;
    mod conversation;
    mod custom_commands;
    mod demo;
    mod dialects;
    mod discovered;
    mod docs;
    mod doctor;
    #[cfg(target_os = "linux")]
    mod environment_files;
    mod exit_codes;
    mod extensions;
    mod extensions_install;
    mod extensions_together;
    mod formats;
    mod gateway;
    mod hooks;
    mod hooks_model;
    mod hooks_verbs;
    mod input;
    mod interactive_shell;
    mod interrupts;
    mod line;
    mod line_approvals;
    mod line_builtin;
    mod line_commands;
    mod line_interrupts;
    mod line_keys;
    mod line_looks;
    mod line_plans;
    mod line_progress;
    mod r#loop;
    mod loop_guard;
    mod masking;
    mod mcp;
    mod mcp_auth;
    mod mcp_command;
    mod mcp_offers;
    mod mcp_serve;
    mod mcp_server;
    mod memory;
    mod messages_api;
    mod models;
    mod network;
    mod next_speaker;
    mod overflow;
    mod policy;
    mod prompt;
    mod protected_files;
    mod quota;
    mod responses;
    mod restore;
    mod resume;
    #[cfg(target_os = "linux")]
    mod sandbox;
    #[cfg(target_os = "linux")]
    mod sandbox_audit;
    mod sandbox_killed;
    mod sandbox_reading;
    #[cfg(target_os = "linux")]
    mod sandbox_systems;
    mod screen;
    #[cfg(target_os = "linux")]
    mod screen_alternate;
    mod screen_code;
    mod screen_dialogs;
    mod screen_links;
    mod screen_lists;
    mod screen_pasting;
    mod screen_questions;
    mod screens;
    mod sessions;
    mod shell;
    mod sign_in;
    mod skills;
    mod stage;
    mod stored_conversations;
    mod stream;
    mod structured;
    mod subagents;
    mod tasks;
    mod telemetry;
    mod terminal;
    mod tools;
    mod trust;
    mod typed_ahead;
    mod web;
    mod work_questions;
}
