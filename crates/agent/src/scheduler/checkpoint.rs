//! Checkpoints around a group of calls.

use pollux_protocol::{JournalError, PendingCall, ToolError, ToolErrorKind};

use super::{Batch, Ready, STOPPED, Scheduler};

impl Scheduler<'_> {
    /// Makes a checkpoint. Returns the calls of the group if they may run. Otherwise, each call is
    /// finished with the reason.
    pub(super) async fn checkpoint(
        &self,
        group: Vec<Ready>,
        batch: &mut Batch,
    ) -> Result<Vec<Ready>, JournalError> {
        if group.is_empty() {
            return Ok(group);
        }
        let calls = pending(&group);
        let made = self.cancel.run_until_cancelled(self.services.checkpoints.before(&calls)).await;
        let failure = match made {
            Some(Ok(())) => return Ok(group),
            Some(Err(error)) => Some(error),
            None => None,
        };
        batch.cancelled |= failure.is_none();
        for ready in &group {
            match &failure {
                Some(error) => {
                    let message = format!("Not run: Pollux could not create a checkpoint. {error}");
                    let error = ToolError::new(ToolErrorKind::ExecutionFailed, message);
                    self.finish_error(batch, &ready.queued, Some(ready), error).await?;
                }
                None => self.finish_cancelled(batch, &ready.queued, Some(ready), STOPPED).await?,
            }
        }
        Ok(Vec::new())
    }
}

/// Returns the calls of a group in the form for checkpoints.
pub(super) fn pending(group: &[Ready]) -> Vec<PendingCall> {
    let call = |ready: &Ready| PendingCall {
        call_id: ready.queued.call.id.clone(),
        name: ready.queued.call.name.clone(),
        args: ready.queued.call.args.clone(),
        effects: ready.effects.clone(),
    };
    group.iter().map(call).collect()
}
