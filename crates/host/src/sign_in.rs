//! Choice of a model server on this machine, for a user who is not signed in.

use std::sync::Arc;

use pollux_models::local::{self, LocalModel, LocalServer};
use pollux_protocol::{Origin, Question, QuestionChoice, QuestionOutcome, QuestionSubject};

use crate::setup::Setup;

/// Maximum number of models in the list. The user can choose other models with `--model`.
const LISTED: usize = 30;

impl Setup {
    /// Asks for a model of the servers on this machine if no service is configured, and sets it as
    /// the model of the run. Without an answer nothing changes.
    pub(crate) async fn choose_local_model(&mut self, session: &str) {
        let Some(operator) = self.input.request.operator.clone().filter(|_| self.is_undecided())
        else {
            return;
        };
        let servers = self.local_servers().await;
        let origin = Origin { session: session.into(), ..Origin::default() };
        let Some((question, names)) = question(&servers, origin) else { return };
        if let QuestionOutcome::Option(index) = operator.ask(question).await.outcome
            && let Some(name) = names.get(index)
        {
            self.model = format!("local/{name}");
        }
    }
}

/// Returns the question and the model names of its choices; `None` if there is no model.
fn question(servers: &[LocalServer], from: Origin) -> Option<(Question, Vec<String>)> {
    let mut all = local::selectable(servers);
    if all.is_empty() {
        return None;
    }
    let more = all.len().saturating_sub(LISTED);
    all.truncate(LISTED);
    let more = match more {
        0 => String::new(),
        more => format!(" There are {more} more."),
    };
    let text = format!(
        "No API key is set. These models were found on this machine.{more}\n\
         Which model do you want to use? To skip this question, use --model local/NAME"
    );
    let label = |(_, server, model): &(String, &LocalServer, &LocalModel)| {
        format!("{} ({} at {})", model.name, server.kind.name(), server.address)
    };
    let choices = QuestionChoice::options(all.iter().map(label));
    let subject = QuestionSubject::SignIn { text };
    let question = Question::new(Arc::new(from), subject, choices, None);
    Some((question, all.into_iter().map(|(name, ..)| name).collect()))
}

#[cfg(test)]
mod tests {
    use pollux_models::local::ServerKind;
    use pretty_assertions::assert_eq;

    use super::*;

    fn server(kind: ServerKind, port: u16, names: &[&str]) -> LocalServer {
        let model = |name: &&str| LocalModel { name: (*name).to_owned(), context: None };
        let address = format!("http://127.0.0.1:{port}");
        LocalServer { kind, address, models: names.iter().map(model).collect() }
    }

    #[test]
    fn a_name_that_two_servers_have_is_listed_twice() {
        let servers = [
            server(ServerKind::Ollama, 11434, &["a", "b"]),
            server(ServerKind::Vllm, 8000, &["b", "c"]),
        ];
        let (question, names) = question(&servers, Origin::default()).unwrap();
        assert_eq!(names, ["a", "b@11434", "b@8000", "c"]);
        assert_eq!(question.choices[1].label, "b (Ollama at http://127.0.0.1:11434)");
        assert_eq!(question.choices[2].label, "b (vLLM at http://127.0.0.1:8000)");
        assert_eq!(question.choices[2].outcome, QuestionOutcome::Option(2));
    }

    #[test]
    fn a_long_list_is_cut_and_says_so() {
        let names: Vec<String> = (0..40).map(|number| format!("m{number}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let servers = [server(ServerKind::Ollama, 1, &names)];
        let (question, names) = question(&servers, Origin::default()).unwrap();
        assert_eq!(names.len(), LISTED);
        let QuestionSubject::SignIn { text } = question.subject else { panic!() };
        assert!(text.contains("There are 10 more."), "{text}");
        assert!(super::question(&[], Origin::default()).is_none());
    }
}
