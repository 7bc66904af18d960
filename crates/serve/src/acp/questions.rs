//! Questions to the user, as permission requests of the protocol.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use agent_client_protocol_schema::v1::{
    CLIENT_METHOD_NAMES, PermissionOption, PermissionOptionId, PermissionOptionKind,
    RequestPermissionOutcome, RequestPermissionRequest, RequestPermissionResponse, SessionId,
    ToolCallLocation, ToolCallStatus, ToolCallUpdate, ToolCallUpdateFields, ToolKind,
};
use async_trait::async_trait;
use pollux_input::{ConsentSheet, QuestionSheet};
use pollux_protocol::plain_text::{one_line, visible};
use pollux_protocol::{
    ConsentItem, Modification, Operator, Question, QuestionChoice, QuestionOutcome, QuestionReply,
    QuestionSubject,
};

use super::connection::Connection;
use super::content;
use crate::forms::choice_id;

/// User of a client, who answers permission requests of a session.
pub(crate) struct PermissionOperator {
    pub(crate) connection: Arc<Connection>,
    pub(crate) session: SessionId,
    /// Folder of the project.
    pub(crate) folder: PathBuf,
}

/// Questions before a session runs: whether to trust the folder, and which items may take effect.
#[async_trait]
impl Operator for PermissionOperator {
    async fn ask(&self, question: Question) -> QuestionReply {
        match &question.subject {
            QuestionSubject::Consent(items) => self.ask_about_items(&question, items).await,
            _ => self.ask_about(&question, None).await,
        }
    }
}

impl PermissionOperator {
    /// Asks a question. `call` describes the call that the question is about, if it is about one.
    pub(crate) async fn ask_about(
        &self,
        question: &Question,
        call: Option<ToolCallUpdate>,
    ) -> QuestionReply {
        let subject = QuestionSheet::subject(question, &self.folder);
        let call = call.unwrap_or_else(|| described(&subject));
        let outcome = self.choose(call, question, &question.choices).await;
        question.reply(outcome)
    }

    /// Asks about each item in a request of its own, because a request shows one subject.
    async fn ask_about_items(&self, question: &Question, items: &[ConsentItem]) -> QuestionReply {
        let mut consents = Vec::with_capacity(items.len());
        for item in items {
            let subject = vec![
                format!("Allow {}, {}?", visible(&item.kind), visible(&item.name)),
                ConsentSheet::new(std::slice::from_ref(item)).text(),
            ];
            let outcome = self.choose(described(&subject), question, &question.choices).await;
            consents.push(outcome != QuestionOutcome::Cancel);
        }
        let modification = Some(Modification::Consents(consents));
        QuestionReply { modification, ..question.reply(QuestionOutcome::ProceedOnce) }
    }

    /// Lets the user choose. Everything except a choice that was offered means no.
    async fn choose(
        &self,
        call: ToolCallUpdate,
        question: &Question,
        choices: &[QuestionChoice],
    ) -> QuestionOutcome {
        let chosen = self.selected(call, options(question, choices)).await;
        let chosen = chosen.and_then(|id| {
            choices.iter().map(|choice| choice.outcome).find(|outcome| choice_id(*outcome) == *id.0)
        });
        chosen.unwrap_or(QuestionOutcome::Cancel)
    }

    /// Asks whether a prompt may include a path outside of the workspace. Ids and texts are those
    /// of Gemini CLI.
    pub(crate) async fn ask_about_path(&self, path: &Path) -> bool {
        let outcome = QuestionOutcome::ProceedOnce;
        let options = [(outcome, "Allow once"), (QuestionOutcome::Cancel, "Deny")];
        let options = options.map(|(outcome, label)| {
            PermissionOption::new(choice_id(outcome), label, option_kind(outcome))
        });
        let title = format!("Allow access to absolute path: {}", path.display());
        let fields = ToolCallUpdateFields::new()
            .kind(ToolKind::Read)
            .status(ToolCallStatus::Pending)
            .title(visible(&title))
            .locations(vec![ToolCallLocation::new(path)]);
        let call = ToolCallUpdate::new(new_id(), fields);
        let selected = self.selected(call, options.to_vec()).await;
        selected.is_some_and(|id| *id.0 == choice_id(outcome))
    }

    /// Sends a permission request; returns the option that the user has selected.
    async fn selected(
        &self,
        call: ToolCallUpdate,
        options: Vec<PermissionOption>,
    ) -> Option<PermissionOptionId> {
        let request = RequestPermissionRequest::new(self.session.clone(), call, options);
        let method = CLIENT_METHOD_NAMES.session_request_permission;
        let answer = self.connection.request::<RequestPermissionResponse>(method, request).await;
        match answer.ok()?.outcome {
            RequestPermissionOutcome::Selected(selected) => Some(selected.option_id),
            _ => None,
        }
    }
}

fn new_id() -> String {
    format!("question__{}", uuid::Uuid::new_v4().simple())
}

/// Returns the call of a request that is about no call of the model.
fn described(subject: &[String]) -> ToolCallUpdate {
    let title = subject.first().map(|line| one_line(line)).unwrap_or_default();
    let fields = ToolCallUpdateFields::new()
        .kind(ToolKind::Other)
        .status(ToolCallStatus::Pending)
        .title(title)
        .content(vec![content::code(&subject.join("\n"))]);
    ToolCallUpdate::new(new_id(), fields)
}

/// Returns the choices as options of the protocol. As in Gemini CLI, lasting approvals come first.
fn options(question: &Question, choices: &[QuestionChoice]) -> Vec<PermissionOption> {
    let option = |(index, choice): (usize, &QuestionChoice)| {
        let kind = match (&question.subject, choice.outcome) {
            // The default of this question is not to trust the folder.
            (QuestionSubject::Trust(_), _) if question.default == Some(index) => {
                PermissionOptionKind::RejectAlways
            }
            (QuestionSubject::Trust(_) | QuestionSubject::Consent(_), outcome)
                if outcome != QuestionOutcome::Cancel =>
            {
                PermissionOptionKind::AllowAlways
            }
            (_, outcome) => option_kind(outcome),
        };
        PermissionOption::new(choice_id(choice.outcome), visible(&choice.label), kind)
    };
    // The client has no editor for a proposal, and shows it as a diff.
    let offered = choices
        .iter()
        .enumerate()
        .filter(|(_, choice)| choice.outcome != QuestionOutcome::ModifyWithEditor);
    let mut options: Vec<PermissionOption> = offered.map(option).collect();
    options.sort_by_key(|option| option.kind != PermissionOptionKind::AllowAlways);
    options
}

fn option_kind(outcome: QuestionOutcome) -> PermissionOptionKind {
    match outcome {
        QuestionOutcome::ProceedOnce
        | QuestionOutcome::ModifyWithEditor
        | QuestionOutcome::Option(_) => PermissionOptionKind::AllowOnce,
        QuestionOutcome::ProceedAlways
        | QuestionOutcome::ProceedAlwaysAndSave
        | QuestionOutcome::ProceedAlwaysServer
        | QuestionOutcome::ProceedAlwaysTool
        | QuestionOutcome::ProceedSubcommand { .. }
        | QuestionOutcome::ProceedProgram { .. } => PermissionOptionKind::AllowAlways,
        QuestionOutcome::Cancel => PermissionOptionKind::RejectOnce,
    }
}

#[cfg(test)]
mod tests {
    use pollux_protocol::TrustRequest;
    use pretty_assertions::assert_eq;

    use super::*;

    fn shown(question: &Question) -> Vec<(String, PermissionOptionKind)> {
        let options = options(question, &question.choices);
        options.into_iter().map(|option| (option.option_id.0.to_string(), option.kind)).collect()
    }

    #[test]
    fn lasting_approvals_come_first_and_no_comes_last() {
        let choice = |outcome, label| QuestionChoice::new(outcome, label, 'x');
        let choices = vec![
            choice(QuestionOutcome::ProceedOnce, "Allow once"),
            choice(QuestionOutcome::ProceedProgram { saved: false }, "Allow `git`"),
            choice(QuestionOutcome::ModifyWithEditor, "Modify"),
            choice(QuestionOutcome::Cancel, "No"),
        ];
        let subject = QuestionSubject::Loop { details: String::new() };
        let question = Question::new(Arc::default(), subject, choices, None);
        assert_eq!(
            shown(&question),
            [
                ("proceed_always_program".to_owned(), PermissionOptionKind::AllowAlways),
                ("proceed_once".to_owned(), PermissionOptionKind::AllowOnce),
                ("cancel".to_owned(), PermissionOptionKind::RejectOnce),
            ]
        );
    }

    #[test]
    fn the_default_of_the_question_about_trust_is_the_refusal() {
        let labels = ["Trust folder (a)", "Trust parent folder (b)", "Don't trust"];
        let request =
            TrustRequest { folder: "/b/a".into(), items: Vec::new(), problems: Vec::new() };
        let choices = QuestionChoice::options(labels.map(str::to_owned));
        let subject = QuestionSubject::Trust(request);
        let question = Question::new(Arc::default(), subject, choices, Some(2));
        let kinds: Vec<_> = shown(&question).into_iter().map(|(_, kind)| kind).collect();
        assert_eq!(
            kinds,
            [
                PermissionOptionKind::AllowAlways,
                PermissionOptionKind::AllowAlways,
                PermissionOptionKind::RejectAlways,
            ]
        );
    }
}
