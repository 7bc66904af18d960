//! The summary of a conversation: for any output of a model, the user messages and the action
//! ledger are read back unchanged. The input is the model's answer, prompts of the user and a plan.

use pollux_agent::Toolset;
use pollux_agent::compression::{
    ActionLedger, ActionSource, CompressionSnapshot, Kept, Todos, UserMessages,
};
use pollux_fs::Workspace;
use pollux_protocol::{Content, Part};

pub(crate) fn run(input: (&str, Vec<&str>, Option<&str>)) {
    let (answer, prompts, plan) = input;
    let Some(snapshot) = CompressionSnapshot::read(answer) else { return };
    let said: Vec<Content> =
        prompts.iter().map(|prompt| Content::user(vec![Part::text(*prompt)])).collect();
    let said = UserMessages::in_contents(&said);
    let plan = plan.map(|plan| ("plan.md".to_owned(), plan.to_owned()));
    let message = snapshot.render(&Kept { said: said.clone(), plan, ..Kept::default() });
    let again = [Content::user(vec![Part::text(message)])];
    assert_eq!(UserMessages::in_contents(&again), said);
    let workspace = Workspace::new("/p".into(), "/t".into());
    let source = ActionSource { effects_of: &|_| None, workspace: &workspace };
    assert_eq!(ActionLedger::in_contents(&again, &source), ActionLedger::default());
    assert_eq!(Todos::in_contents(&again, &Toolset::default()), Todos::default());
}
