//! `tracker_*`: tasks that depend on each other, stored with the session.
//!
//! One small file per task ([`store`]), rules for changes ([`tasks`]), the report of tasks
//! ([`shown`]), and six operations: those that read ([`look`]) and those that change ([`change`]).
//! The tools differ only in their operation, so [`TrackerTool`] implements all of them.

use std::marker::PhantomData;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use pollux_protocol::{
    Args, Declaration, Display, Effects, Invocation, ModelLimits, RunContext, Tool, ToolError,
    ToolErrorKind, ToolKind, ToolOutput,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::blocking::{blocking, check};
use crate::context::{ToolContext, failed};
use crate::validation::Schema;
use store::Store;

mod change;
mod look;
mod shown;
mod store;
mod tasks;

/// Returns all six tools, in the order in which they are declared. They share one store.
pub(crate) fn tools(context: &Arc<ToolContext>) -> Vec<Arc<dyn Tool>> {
    let store = Arc::new(Store::new(context.tracker_directory.clone()));
    vec![
        tool::<change::CreateTask>(context, &store),
        tool::<change::UpdateTask>(context, &store),
        tool::<look::GetTask>(context, &store),
        tool::<look::ListTasks>(context, &store),
        tool::<change::AddDependency>(context, &store),
        tool::<look::Visualize>(context, &store),
    ]
}

/// Returns the tasks in this folder that are not closed, one line each, active tasks first.
pub fn open_tasks(directory: PathBuf) -> Vec<String> {
    let tasks = Store::new(directory).load().unwrap_or_default();
    let mut open: Vec<_> =
        tasks.values().filter(|task| task.status != store::Status::Closed).collect();
    open.sort_by_key(|task| task.status);
    let line =
        |task: &store::Task| format!("[{}] {} {}", task.status.as_str(), task.id, task.title);
    open.into_iter().map(line).collect()
}

fn tool<O: Operation>(context: &Arc<ToolContext>, store: &Arc<Store>) -> Arc<dyn Tool> {
    let mut schema = json!({ "type": "object", "properties": O::properties() });
    if !O::REQUIRED.is_empty() {
        schema["required"] = json!(O::REQUIRED);
    }
    let tool = TrackerTool::<O> {
        context: Arc::clone(context),
        store: Arc::clone(store),
        schema: Schema::new(schema),
        operation: PhantomData,
    };
    Arc::new(tool)
}

/// Operation of one of the tools; its fields are the arguments.
trait Operation: DeserializeOwned + Send + Sync + 'static {
    const NAME: &'static str;
    const DISPLAY_NAME: &'static str;
    const KIND: ToolKind;
    /// Description for the model.
    const DESCRIPTION: &'static str;
    /// Message for the user if the operation fails.
    const FAILURE: &'static str;
    /// Names of the arguments that the model must give.
    const REQUIRED: &'static [&'static str];

    /// Returns the schemas of the arguments by name.
    fn properties() -> Value;

    /// Returns one line for the user.
    fn describe(&self) -> String;

    /// Returns the message for the user if the operation fails.
    fn failure(&self) -> &'static str {
        Self::FAILURE
    }

    /// Refuses invalid or too large arguments.
    fn check(&self) -> Result<(), ToolError> {
        Ok(())
    }

    /// Performs the operation.
    fn work(&self, store: &Store) -> Result<Done, ToolError>;
}

/// Result of an operation.
enum Done {
    /// The text for the model; the user is shown the tasks.
    Tasks(String),
    /// The text for the model and the text for the user, because there are no tasks to show.
    Nothing(String, &'static str),
}

struct TrackerTool<O> {
    context: Arc<ToolContext>,
    store: Arc<Store>,
    schema: Schema,
    operation: PhantomData<fn() -> O>,
}

impl<O: Operation> Tool for TrackerTool<O> {
    fn name(&self) -> &'static str {
        O::NAME
    }

    fn display_name(&self) -> &'static str {
        O::DISPLAY_NAME
    }

    fn kind(&self) -> ToolKind {
        O::KIND
    }

    fn declaration(&self) -> Declaration {
        Declaration {
            name: O::NAME.to_owned(),
            description: O::DESCRIPTION.to_owned(),
            parameters: self.schema.document().clone(),
        }
    }

    fn is_offered_to(&self, _model: &str, _limits: ModelLimits) -> bool {
        self.context.options.task_tracker
    }

    fn prepare(&self, args: &Args) -> Result<Box<dyn Invocation>, ToolError> {
        let operation: O = self.schema.read(args)?;
        operation.check()?;
        Ok(Box::new(Operating { store: Arc::clone(&self.store), operation: Arc::new(operation) }))
    }
}

struct Operating<O> {
    store: Arc<Store>,
    operation: Arc<O>,
}

#[async_trait]
impl<O: Operation> Invocation for Operating<O> {
    fn effects(&self) -> Effects {
        let folder = self.store.directory();
        let looks = Effects::search([folder]);
        match O::KIND {
            ToolKind::Edit => Effects { writes: vec![folder.to_owned()], alone: true, ..looks },
            _ => looks,
        }
    }

    fn describe(&self) -> String {
        self.operation.describe()
    }

    async fn run(&self, run: RunContext) -> ToolOutput {
        let (store, operation) = (Arc::clone(&self.store), Arc::clone(&self.operation));
        let failure = operation.failure();
        let work = blocking(&run.cancel, move |stop| {
            check(stop)?;
            let (reported, shown) = match operation.work(&store)? {
                Done::Nothing(reported, shown) => (reported, Display::Text(shown.to_owned())),
                Done::Tasks(reported) => {
                    let todos = shown::todos(&store.load()?);
                    (reported, Display::Structured(json!({ "todos": todos })))
                }
            };
            Ok(ToolOutput::quiet(reported).display(shown))
        });
        work.await.unwrap_or_else(|error| failed(error, failure))
    }
}

/// Returns the schema of a text.
fn text(description: &str) -> Value {
    json!({ "type": "string", "description": description })
}

/// Returns the schema of a text with these possible values.
fn one_of(values: &[&str], description: &str) -> Value {
    json!({ "type": "string", "enum": values, "description": description })
}

/// Returns the schema of a list of texts.
fn texts(description: &str) -> Value {
    json!({ "type": "array", "items": { "type": "string" }, "description": description })
}

/// Returns the error of an operation that the tasks do not allow.
fn refused(message: impl Into<String>) -> ToolError {
    ToolError::new(ToolErrorKind::ExecutionFailed, message)
}
