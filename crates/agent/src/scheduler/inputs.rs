//! Input for running calls.

use std::collections::HashMap;
use std::sync::Mutex;

use pollux_protocol::{CallId, CallInput};
use tokio::sync::mpsc;

/// Channels to running calls.
#[derive(Debug, Default)]
pub struct CallInputs {
    open: Mutex<HashMap<CallId, mpsc::UnboundedSender<CallInput>>>,
    /// Size of the window, which each call receives as its first input.
    window: Mutex<Option<CallInput>>,
}

impl CallInputs {
    /// Sends an input to one running call. It is dropped if the call has ended.
    pub(crate) fn send(&self, call_id: &CallId, input: CallInput) {
        if let Ok(inputs) = self.open.lock()
            && let Some(sender) = inputs.get(call_id)
        {
            drop(sender.send(input));
        }
    }

    /// Sends the size of the window to all running calls, and stores it for later calls.
    pub(crate) fn resize(&self, columns: u16, rows: u16) {
        let size = CallInput::Resize { columns, rows };
        if let Ok(inputs) = self.open.lock() {
            for sender in inputs.values() {
                drop(sender.send(size.clone()));
            }
        }
        if let Ok(mut window) = self.window.lock() {
            *window = Some(size);
        }
    }

    pub(super) fn open(&self, call_id: &CallId) -> mpsc::UnboundedReceiver<CallInput> {
        let (sender, receiver) = mpsc::unbounded_channel();
        if let Ok(window) = self.window.lock()
            && let Some(size) = window.clone()
        {
            drop(sender.send(size));
        }
        if let Ok(mut inputs) = self.open.lock() {
            inputs.insert(call_id.clone(), sender);
        }
        receiver
    }

    pub(super) fn close(&self, call_id: &CallId) {
        if let Ok(mut inputs) = self.open.lock() {
            inputs.remove(call_id);
        }
    }
}
