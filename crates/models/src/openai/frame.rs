//! Data around the conversation in a request. It seldom changes, so it is encoded once.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use pollux_protocol::{Declaration, ModelRequest, ToolOmission};

use crate::declarations::{DeclarationCache, SentTools};
use crate::refused_tools::SentName;
use crate::tool_names::Names;

/// Settings of a request, which determine the data around the conversation together with the
/// instruction and the tools.
pub(super) trait Settings: PartialEq {
    /// Encodes the data around the conversation.
    fn surroundings(
        &self,
        request: &ModelRequest,
        tools: &SentTools<'_>,
    ) -> Result<Surroundings, serde_json::Error>;
}

/// Encoded data around the conversation.
#[derive(Debug)]
pub(super) struct Surroundings {
    /// Bytes from the opening brace to the first message of the conversation.
    pub(super) head: Bytes,
    /// True if `head` contains a message.
    pub(super) instructed: bool,
    /// Bytes from the end of the conversation to the closing brace.
    pub(super) tail: Bytes,
    /// Estimated number of tokens.
    pub(super) tokens: f64,
}

/// Data around the conversation, with what it was encoded from.
#[derive(Debug)]
pub(super) struct Frame<S> {
    system: Option<Arc<str>>,
    tools: Arc<[Declaration]>,
    pub(super) settings: S,
    pub(super) surroundings: Surroundings,
    pub(super) names: Arc<Names>,
    /// The tools, in the order in which they are sent.
    pub(super) sent: Arc<[SentName]>,
    pub(super) omissions: Arc<[ToolOmission]>,
}

impl<S: Settings> Frame<S> {
    fn serves(&self, request: &ModelRequest, settings: &S) -> bool {
        self.system == request.system
            && (Arc::ptr_eq(&self.tools, &request.tools) || self.tools == request.tools)
            && self.settings == *settings
    }

    fn new(
        request: &ModelRequest,
        settings: S,
        declarations: &DeclarationCache,
    ) -> Result<Self, serde_json::Error> {
        let tools = declarations.prepare(&request.tools)?;
        Ok(Self {
            system: request.system.clone(),
            tools: Arc::clone(&request.tools),
            surroundings: settings.surroundings(request, &tools)?,
            settings,
            names: tools.names(),
            sent: tools.sent_names(),
            omissions: tools.omissions,
        })
    }
}

/// Cache of the last frame.
#[derive(Debug)]
pub(super) struct FrameCache<S> {
    last: Mutex<Option<Arc<Frame<S>>>>,
}

impl<S> Default for FrameCache<S> {
    fn default() -> Self {
        Self { last: Mutex::default() }
    }
}

impl<S: Settings> FrameCache<S> {
    /// Returns the frame of a request with these settings.
    pub(super) fn get(
        &self,
        request: &ModelRequest,
        settings: S,
        declarations: &DeclarationCache,
    ) -> Result<Arc<Frame<S>>, serde_json::Error> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(frame) = last.as_ref().filter(|frame| frame.serves(request, &settings)) {
            return Ok(Arc::clone(frame));
        }
        let frame = Arc::new(Frame::new(request, settings, declarations)?);
        *last = Some(Arc::clone(&frame));
        Ok(frame)
    }
}
