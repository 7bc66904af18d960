//! Declarations of tools in the form of a dialect, each of them compiled once.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use pollux_protocol::{Declaration, ModelRequest, ToolOmission};
use serde_json::value::{RawValue, to_raw_value};

use crate::entry_cache::EntryCache;
use crate::refused_tools::SentName;
use crate::tool_names::Names;
use crate::tool_schema::{Compiled, ToolDialect, Unusable, compile};

/// Compiled declarations, shared by all models of a service. A declaration is compiled again only
/// if it has changed, or was not used for a while.
#[derive(Debug)]
pub(crate) struct DeclarationCache {
    dialect: ToolDialect,
    /// By the names of the tools.
    known: Mutex<EntryCache<String, Known>>,
}

/// Declaration with its form in the dialect.
#[derive(Debug)]
struct Known {
    declaration: Declaration,
    outcome: Result<Arc<Encoded>, Unusable>,
}

/// Compiled declaration, without its description.
#[derive(Debug)]
struct Encoded {
    name: String,
    parameters: Box<RawValue>,
}

/// Tools of a request.
#[derive(Debug)]
pub(crate) struct SentTools<'a> {
    tools: Vec<(&'a Declaration, Arc<Encoded>)>,
    pub(crate) omissions: Arc<[ToolOmission]>,
}

/// Tool of a request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SentTool<'a> {
    pub(crate) declaration: &'a Declaration,
    /// Name to send.
    pub(crate) name: &'a str,
    /// JSON schema of the arguments.
    pub(crate) parameters: &'a RawValue,
}

impl SentTools<'_> {
    pub(crate) fn iter(&self) -> impl Iterator<Item = SentTool<'_>> {
        self.tools.iter().map(|(declaration, encoded)| SentTool {
            declaration,
            name: &encoded.name,
            parameters: &encoded.parameters,
        })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// Returns both names of each tool, in the order in which the tools are sent.
    pub(crate) fn sent_names(&self) -> Arc<[SentName]> {
        let name = |tool: SentTool<'_>| SentName {
            own: tool.declaration.name.clone(),
            sent: tool.name.to_owned(),
        };
        self.iter().map(name).collect()
    }

    /// Returns the map to the names of the tools.
    pub(crate) fn names(&self) -> Arc<Names> {
        Arc::new(Names::new(self.iter().map(|tool| (tool.name, tool.declaration.name.as_str()))))
    }
}

impl DeclarationCache {
    pub(crate) fn new(dialect: ToolDialect) -> Self {
        Self { dialect, known: Mutex::default() }
    }

    /// Returns the tools in the form of the dialect. Tools that it cannot express are omitted, and
    /// so is a tool whose name is sent for an earlier one.
    pub(crate) fn prepare<'a>(
        &self,
        declarations: &'a [Declaration],
    ) -> Result<SentTools<'a>, serde_json::Error> {
        if declarations.is_empty() {
            return Ok(SentTools { tools: Vec::new(), omissions: Arc::default() });
        }
        let mut cache = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        cache.begin_request();
        let mut tools = Vec::with_capacity(declarations.len());
        let mut names = HashSet::with_capacity(declarations.len());
        let mut omissions = Vec::new();
        for declaration in declarations {
            let is_current = |known: &Known| known.declaration == *declaration;
            let encode = || self.encode(declaration);
            let known = cache.get_current(declaration.name.clone(), is_current, encode)?;
            let reason = match &known.outcome {
                Ok(encoded) if names.insert(encoded.name.clone()) => {
                    tools.push((declaration, Arc::clone(encoded)));
                    continue;
                }
                Ok(_) => "another tool has the same name".to_owned(),
                Err(unusable) => unusable.to_string(),
            };
            omissions.push(ToolOmission { tool: declaration.name.clone(), reason });
        }
        cache.end_request();
        Ok(SentTools { tools, omissions: omissions.into() })
    }

    fn encode(&self, declaration: &Declaration) -> Result<Known, serde_json::Error> {
        let outcome = match compile(declaration, self.dialect) {
            Ok(Compiled { name, parameters }) => {
                Ok(Arc::new(Encoded { name, parameters: to_raw_value(&parameters)? }))
            }
            Err(unusable) => Err(unusable),
        };
        Ok(Known { declaration: declaration.clone(), outcome })
    }
}

/// Tells the sender of a request which tools are left out.
pub(crate) fn report_omissions(request: &ModelRequest, omissions: &[ToolOmission]) {
    if let Some(listener) = &request.on_omission {
        for omission in omissions {
            listener(omission);
        }
    }
}

#[cfg(test)]
mod tests;
