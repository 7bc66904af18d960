//! Runs of single slash commands, without an agent.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use pollux_protocol::{
    ApprovalMode, Args, CancellationToken, Command, CommandCalls, CommandContext, CommandError,
    FinishedCall, Live, Op, QuestionOutcome, SessionView, Tool,
};

use crate::ScriptedOperator;

/// Output, ops and result of a command.
#[derive(Debug)]
pub struct CommandTrace {
    /// Pieces of output, in order.
    pub output: Vec<String>,
    /// Ops that the command sent.
    pub ops: Vec<Op>,
    /// Op that continues the work, if the command returned one, or the error of the command.
    pub end: Result<Option<Op>, CommandError>,
}

/// Runs a command with these arguments in the default approval mode. The operator cancels every
/// question.
pub async fn trace_command(command: &dyn Command, arguments: &str) -> CommandTrace {
    let (output, ops) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Mutex::new(Vec::new())));
    let (said, sent) = (Arc::clone(&output), Arc::clone(&ops));
    let context = CommandContext {
        id: "command".to_owned(),
        name: command.name().to_owned(),
        arguments: arguments.to_owned(),
        cancel: CancellationToken::new(),
        ops: Arc::new(move |op| sent.lock().unwrap().push(op)),
        operator: Arc::new(ScriptedOperator::answering(QuestionOutcome::Cancel)),
        calls: Arc::new(NoCalls),
        output: Arc::new(move |text| said.lock().unwrap().push(text)),
        session: SessionView {
            session: "session".into(),
            mode: ApprovalMode::Default,
            model: "model".to_owned(),
            commands: Live::default(),
        },
    };
    let end = command.run(context).await;
    let (output, ops) = (output.lock().unwrap().clone(), ops.lock().unwrap().clone());
    CommandTrace { output, ops, end }
}

/// Runs a command and returns its output, or `error: ` and the message of the error.
pub async fn run_command(command: &dyn Command, arguments: &str) -> String {
    let CommandTrace { output, end, .. } = trace_command(command, arguments).await;
    end.map_or_else(|error| format!("error: {error}"), |_| output.join("\n"))
}

/// Refuses every call.
struct NoCalls;

#[async_trait]
impl CommandCalls for NoCalls {
    async fn run(
        &self,
        _tool: Arc<dyn Tool>,
        _calls: Vec<Args>,
    ) -> Result<Vec<Arc<FinishedCall>>, CommandError> {
        Err(CommandError("This command cannot make calls.".to_owned()))
    }
}
