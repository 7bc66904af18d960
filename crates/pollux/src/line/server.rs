//! Who answers when nobody is signed in: the model servers on this machine, as a question.

use std::collections::HashSet;

use pollux_models::local::LocalServer;

use super::terminal::Typed;
use super::{ask, question};
use crate::exit::Failure;
use crate::setup::Setup;
use crate::signals::Signals;
use crate::stdout::Stdout;

/// Models that are listed. The others can be named by `--model`.
const LISTED: usize = 30;

/// The model that the person chooses; none when there is nothing to ask, or no answer.
///
/// # Errors
/// The person interrupts.
pub(super) async fn choose(
    setup: &Setup,
    typed: &mut Typed,
    signals: &mut Signals,
) -> Result<Option<String>, Failure> {
    if !setup.is_undecided() {
        return Ok(None);
    }
    let servers = setup.local_servers().await;
    let (models, question) = list(&servers);
    if models.is_empty() {
        return Ok(None);
    }
    let (mut out, label) = (Stdout::default(), question::label(models.len(), None, false));
    out.push(question.as_bytes());
    loop {
        let Some(line) = ask::line(&mut out, &label, typed, signals).await? else {
            return Ok(None);
        };
        match question::numbered(&line, &models) {
            Some(name) => return Ok(Some(format!("local/{name}"))),
            None => out.push(format!("{}\n", question::remark(models.len())).as_bytes()),
        }
    }
}

/// The names to choose from and the question, without its last line. A name that two servers have stands
/// for the first.
fn list(servers: &[LocalServer]) -> (Vec<&str>, String) {
    let mut seen = HashSet::new();
    let all = servers
        .iter()
        .flat_map(|server| server.models.iter().map(move |model| (server, model.name.as_str())));
    let mut all: Vec<_> = all.filter(|(_, name)| seen.insert(*name)).collect();
    let more = all.len().saturating_sub(LISTED);
    all.truncate(LISTED);
    let mut lines =
        vec!["No sign-in is configured. These models were found on this machine:".to_owned()];
    lines.extend((1..).zip(&all).map(|(number, (server, name))| {
        format!("  {number}. {name} ({} at {})", server.kind.name(), server.address)
    }));
    if more > 0 {
        lines.push(format!("  and {more} more, which --model local/NAME reaches"));
    }
    lines.push(
        "Which one is to answer? --model local/NAME chooses it without this question.\n".to_owned(),
    );
    let text = lines.join("\n");
    (all.into_iter().map(|(_, name)| name).collect(), text)
}

#[cfg(test)]
mod tests {
    use pollux_models::local::{LocalModel, ServerKind};
    use pretty_assertions::assert_eq;

    use super::*;

    fn server(kind: ServerKind, port: u16, names: &[&str]) -> LocalServer {
        let model = |name: &&str| LocalModel { name: (*name).to_owned(), context: None };
        let address = format!("http://127.0.0.1:{port}");
        LocalServer { kind, address, models: names.iter().map(model).collect() }
    }

    #[test]
    fn a_name_is_listed_once_with_the_server_that_answers_to_it() {
        let servers = [
            server(ServerKind::Ollama, 11434, &["a", "b"]),
            server(ServerKind::Vllm, 8000, &["b", "c"]),
        ];
        let (names, text) = list(&servers);
        assert_eq!(names, ["a", "b", "c"]);
        assert!(
            text.contains("\n  2. b (Ollama at http://127.0.0.1:11434)\n  3. c (vLLM at "),
            "{text}"
        );
    }

    #[test]
    fn a_long_list_is_cut_and_says_so() {
        let names: Vec<String> = (0..40).map(|number| format!("m{number}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let servers = [server(ServerKind::Ollama, 1, &names)];
        let (names, text) = list(&servers);
        assert_eq!(names.len(), LISTED);
        assert!(text.contains("  and 10 more, which --model"), "{text}");
    }
}
