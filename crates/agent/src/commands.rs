//! Runs of slash commands.

use std::sync::Arc;

use pollux_protocol::{
    CancellationToken, Command, CommandContext, CommandError, CommandOutcome, Event, Measurement,
    Op, OpSender, Operator, PromptId, PromptOutcome, SessionView,
};
use tokio::sync::mpsc;

use crate::command_calls::ScheduledCalls;
use crate::outlet::Outlet;
use crate::services::AgentServices;

/// Run of one slash command. Its events and output carry its id.
pub(crate) struct CommandRun {
    /// `None` if no command has this name.
    pub(crate) command: Option<Arc<dyn Command>>,
    /// Name as it was typed.
    pub(crate) name: String,
    pub(crate) id: PromptId,
    pub(crate) arguments: String,
    pub(crate) cancel: CancellationToken,
    pub(crate) ops: OpSender,
    pub(crate) operator: Arc<dyn Operator>,
    /// Services for calls of the command.
    pub(crate) services: AgentServices,
    pub(crate) session: SessionView,
    /// Outlet of the session.
    pub(crate) outlet: Outlet,
}

impl CommandRun {
    /// Runs the command to its end and reports the end. Returns the operation that continues the
    /// work.
    pub(crate) async fn run(self) -> Option<Op> {
        let outlet = self.outlet.for_prompt(&self.id);
        let (cancel, ops) = (self.cancel.clone(), Arc::clone(&self.ops));
        let end = if let Some(command) = self.command.clone() {
            let end = cancel.run_until_cancelled(self.drive(command.as_ref(), &outlet)).await;
            measure(&outlet, command.name(), matches!(end, Some(Ok(_))));
            end
        } else {
            Some(Err(CommandError(self.session.commands.get().unknown(&self.name))))
        };
        let (outcome, ended) = match end {
            Some(Ok(Some(op))) if op.id().is_some() => {
                outlet.emit(Event::CommandEnded(CommandOutcome::Continues)).await;
                return Some(op);
            }
            Some(Ok(Some(op))) => {
                let switch = match &op {
                    Op::Switch(start) => Some(start.clone()),
                    _ => None,
                };
                ops(op);
                // The frontend learns it before the end of the command, after which it would send
                // the next prompt to this session.
                if let Some(start) = switch {
                    outlet.emit(Event::SwitchRequested(start)).await;
                }
                (CommandOutcome::Done, PromptOutcome::Done)
            }
            Some(Ok(None)) => (CommandOutcome::Done, PromptOutcome::Done),
            Some(Err(error)) => (CommandOutcome::Failed(error.to_string()), PromptOutcome::Done),
            None => (CommandOutcome::Done, PromptOutcome::Cancelled),
        };
        outlet.emit(Event::CommandEnded(outcome)).await;
        outlet.emit(Event::PromptEnded(ended)).await;
        None
    }

    /// Runs the command and sends its output as it arrives.
    async fn drive(
        self,
        command: &dyn Command,
        outlet: &Outlet,
    ) -> Result<Option<Op>, CommandError> {
        let (lines, mut output) = mpsc::unbounded_channel();
        let calls = ScheduledCalls {
            services: self.services,
            outlet: outlet.clone(),
            model: self.session.model.clone(),
            id: self.id.clone(),
            cancel: self.cancel.clone(),
        };
        let context = CommandContext {
            id: self.id,
            name: self.name,
            arguments: self.arguments,
            cancel: self.cancel,
            ops: self.ops,
            operator: self.operator,
            calls: Arc::new(calls),
            // The receiver lives as long as the command.
            output: Arc::new(move |text| drop(lines.send(text))),
            session: self.session,
        };
        let running = command.run(context);
        tokio::pin!(running);
        let end = loop {
            tokio::select! {
                biased;
                Some(text) = output.recv() => outlet.emit(Event::CommandOutput(text)).await,
                end = &mut running => break end,
            }
        };
        while let Ok(text) = output.try_recv() {
            outlet.emit(Event::CommandOutput(text)).await;
        }
        end
    }
}

/// Measures a command under its own name, not under the alias that was typed. A name that is no
/// command is not measured, because it may be part of a prompt.
fn measure(outlet: &Outlet, name: &str, success: bool) {
    let (command, subcommand) = match name.split_once(' ') {
        Some((command, rest)) => (command, Some(rest.to_owned())),
        None => (name, None),
    };
    let command = command.to_owned();
    outlet.measure(&Measurement::SlashCommand { command, subcommand, success });
}
