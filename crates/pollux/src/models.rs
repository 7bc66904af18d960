//! `pollux models`: the models that can be used. Starts no session and calls no model.

use pollux_host::{RunOptions, model_json, model_table};
use pollux_protocol::SessionRequest;
use pollux_protocol::plain_text::harmless;

use crate::arguments::{ModelsArguments, ModelsVerb};
use crate::exit::Failure;
use crate::inspection::set_up;
use crate::process::Process;
use crate::stderr::stderr_line;

/// Message if no model can be used.
const NONE: &str = "No key is set, and no model server responds on this machine. \
    docs/models.md names the keys of all vendors.";

/// Returns the text for standard output.
///
/// # Errors
/// For settings that cannot be read.
pub(crate) async fn answer(
    process: &Process,
    arguments: &ModelsArguments,
) -> Result<String, Failure> {
    let ModelsVerb::List { json } = arguments.verb;
    let setup = set_up(process, RunOptions::default(), SessionRequest::new(Process::folder()?))?;
    let models = setup.available_models().await;
    if json {
        return Ok(format!("{:#}\n", model_json(&models)));
    }
    if models.is_empty() {
        stderr_line(NONE);
        return Ok(String::new());
    }
    // Names of local models come from servers.
    Ok(harmless(&model_table(&models)).into_owned() + "\n")
}
