//! A tool whose behaviour the test specifies.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use futures::FutureExt;
use futures::future::BoxFuture;
use pollux_protocol::{
    Args, CallId, Confirmation, ConfirmationKind, Declaration, Directive, Effects, Invocation,
    Modification, RunContext, SideModels, Tool, ToolError, ToolErrorKind, ToolFacts, ToolKind,
    ToolOutput, ToolSource,
};
use serde_json::{Value, json};

type Behaviour = Arc<dyn Fn(Args, RunContext) -> BoxFuture<'static, ToolOutput> + Send + Sync>;
type EffectsOf = Arc<dyn Fn(&Args) -> Effects + Send + Sync>;
type Recall = Arc<dyn Fn(&Value, &Value) -> Option<Directive> + Send + Sync>;
type Check = Arc<dyn Fn(&Args) -> Result<(), String> + Send + Sync>;

/// A tool of any name and kind. All clones share one record of runs.
#[derive(Clone)]
pub struct FakeTool {
    name: String,
    kind: ToolKind,
    source: ToolSource,
    facts: ToolFacts,
    check: Check,
    effects: EffectsOf,
    recall: Recall,
    confirmation: Option<ConfirmationKind>,
    behaviour: Behaviour,
    runs: Arc<Mutex<Vec<Args>>>,
}

impl FakeTool {
    /// Creates a tool of kind `Read` that has no effects and returns the output `done`.
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            kind: ToolKind::Read,
            source: ToolSource::BuiltIn,
            facts: ToolFacts::default(),
            check: Arc::new(|_| Ok(())),
            effects: Arc::new(|_| Effects::default()),
            recall: Arc::new(|_, _| None),
            confirmation: None,
            behaviour: Arc::new(|_, _| async { ToolOutput::quiet("done") }.boxed()),
            runs: Arc::default(),
        }
    }

    /// Replaces the kind.
    #[must_use]
    pub fn kind(self, kind: ToolKind) -> Self {
        Self { kind, ..self }
    }

    /// Replaces the source.
    #[must_use]
    pub fn source(self, source: ToolSource) -> Self {
        Self { source, ..self }
    }

    /// Replaces the facts that are true for every call.
    #[must_use]
    pub fn facts(self, facts: ToolFacts) -> Self {
        Self { facts, ..self }
    }

    /// Replaces the function that reads a directive from the arguments and the response of a past
    /// call.
    #[must_use]
    pub fn recalls(
        self,
        recall: impl Fn(&Value, &Value) -> Option<Directive> + Send + Sync + 'static,
    ) -> Self {
        Self { recall: Arc::new(recall), ..self }
    }

    /// Replaces the declared effects.
    #[must_use]
    pub fn effects(self, effects: impl Fn(&Args) -> Effects + Send + Sync + 'static) -> Self {
        Self { effects: Arc::new(effects), ..self }
    }

    /// Sets a check that refuses arguments with the message it returns.
    #[must_use]
    pub fn checks(
        self,
        check: impl Fn(&Args) -> Result<(), String> + Send + Sync + 'static,
    ) -> Self {
        Self { check: Arc::new(check), ..self }
    }

    /// Replaces the content of the confirmation.
    #[must_use]
    pub fn confirms(self, kind: ConfirmationKind) -> Self {
        Self { confirmation: Some(kind), ..self }
    }

    /// Replaces the behaviour.
    #[must_use]
    pub fn runs<F>(self, run: impl Fn(Args, RunContext) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = ToolOutput> + Send + 'static,
    {
        Self { behaviour: Arc::new(move |args, context| run(args, context).boxed()), ..self }
    }

    /// Makes every run return this text.
    #[must_use]
    pub fn answers(self, text: &str) -> Self {
        let text = text.to_owned();
        self.runs(move |_, _| std::future::ready(ToolOutput::quiet(text.clone())))
    }

    /// Returns the arguments of all runs so far, in the order in which the runs began.
    pub fn ran(&self) -> Vec<Args> {
        self.runs.lock().unwrap().clone()
    }
}

impl Tool for FakeTool {
    fn name(&self) -> &str {
        &self.name
    }

    fn display_name(&self) -> &str {
        &self.name
    }

    fn kind(&self) -> ToolKind {
        self.kind
    }

    fn source(&self) -> ToolSource {
        self.source.clone()
    }

    fn server(&self) -> Option<&str> {
        match &self.source {
            ToolSource::Server(name) => Some(name),
            ToolSource::BuiltIn | ToolSource::Discovered => None,
        }
    }

    fn declaration(&self) -> Declaration {
        let (name, description) = (self.name.clone(), String::new());
        Declaration { name, description, parameters: json!({ "type": "object" }) }
    }

    fn facts(&self) -> ToolFacts {
        self.facts
    }

    fn recall(&self, args: &Value, response: &Value) -> Option<Directive> {
        (self.recall)(args, response)
    }

    fn prepare(&self, args: &Args) -> Result<Box<dyn Invocation>, ToolError> {
        (self.check)(args)
            .map_err(|message| ToolError::new(ToolErrorKind::InvalidToolParams, message))?;
        Ok(Box::new(FakeInvocation { tool: self.clone(), args: args.clone() }))
    }
}

struct FakeInvocation {
    tool: FakeTool,
    args: Args,
}

#[async_trait]
impl Invocation for FakeInvocation {
    fn effects(&self) -> Effects {
        (self.tool.effects)(&self.args)
    }

    fn describe(&self) -> String {
        self.tool.name.clone()
    }

    async fn confirmation(
        &self,
        call_id: &CallId,
        _side_models: &Arc<dyn SideModels>,
    ) -> Result<Confirmation, ToolError> {
        let kind = self.tool.confirmation.clone().unwrap_or_else(|| {
            ConfirmationKind::Information { prompt: self.describe(), urls: Vec::new() }
        });
        Ok(Confirmation { call_id: call_id.clone(), title: self.tool.name.clone(), kind })
    }

    /// Replaces the argument `content` with the new content.
    fn modify(&self, modification: &Modification) -> Result<Args, ToolError> {
        let mut args = self.args.clone();
        if let Modification::NewContent(content) = modification {
            args.insert("content".to_owned(), content.clone().into());
        }
        Ok(args)
    }

    async fn run(&self, context: RunContext) -> ToolOutput {
        self.tool.runs.lock().unwrap().push(self.args.clone());
        (self.tool.behaviour)(self.args.clone(), context).await
    }
}
