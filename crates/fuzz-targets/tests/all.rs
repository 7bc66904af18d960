//! The committed inputs of the fuzz targets, in `fuzz/corpus`.

#![allow(clippy::disallowed_methods, clippy::print_stdout, clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};

use pretty_assertions::assert_eq;

/// Declares a test for each target, and the list of their names.
macro_rules! targets {
    ($($name:ident),* $(,)?) => {
        const TARGETS: &[&str] = &[$(stringify!($name)),*];

        $(
            #[test]
            fn $name() {
                replay(stringify!($name), pollux_fuzz_targets::$name);
            }
        )*
    };
}

targets! {
    acp_messages,
    agent_file,
    at_path_tokens,
    chat_stream,
    citations,
    command_file,
    command_line,
    command_template,
    command_verdict,
    consent_file,
    context_imports,
    edit_matcher,
    extension_manifest,
    google_file,
    hook_output,
    html_to_markdown,
    ignore_rules,
    mcp_messages,
    mcp_requests,
    messages_stream,
    oauth_documents,
    policy_toml,
    price_table,
    program_tables,
    response_json,
    responses_stream,
    sandbox_plan,
    screen_change,
    screen_text,
    session_file,
    settings_json,
    skill_archive,
    skill_file,
    snapshot,
    sse,
    theme_file,
    tool_schema,
    trust_file,
}

#[test]
fn each_folder_of_inputs_has_a_target() {
    let folders = entries(&corpus());
    let names: Vec<_> = folders.iter().filter_map(|path| path.file_name()?.to_str()).collect();
    assert_eq!(names, TARGETS);
}

/// Runs a target on its committed inputs. The last path in the output of a failed test is the input
/// for which a property does not hold.
fn replay(name: &str, run: fn(&[u8])) {
    for path in entries(&corpus().join(name)) {
        println!("{}", path.display());
        run(&fs::read(&path).unwrap());
    }
}

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus")
}

/// Returns the paths in a folder, sorted.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}
