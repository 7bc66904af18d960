//! The tools that a command of the settings lists: found while everything else gets ready.

use std::sync::Arc;

use futures::FutureExt as _;
use pollux_agent::{Loading, Outlet, Toolset};
use pollux_protocol::{CancellationToken, Event, Live, Severity, ToolSource};
use pollux_tools::{Discovered, DiscoveryCommands, ToolContext, discover};

use crate::setup::Setup;

impl Setup {
    /// Begins to look for discovered tools, which come to the set when they are found. None when the settings name no
    /// command for it. Nor does one run in a folder that is not trusted: what it does is most often up to the folder
    /// (`make tools`).
    pub(crate) fn discover_tools(
        &self,
        context: &Arc<ToolContext>,
        toolset: &Live<Toolset>,
        outlet: &Outlet,
    ) -> Option<Loading> {
        let settings = &self.loaded.settings;
        let named = |key| settings.text(key).map(str::trim).filter(|text| !text.is_empty());
        let commands = DiscoveryCommands {
            discovery: named("tools.discoveryCommand")?.to_owned(),
            call: named("tools.callCommand").map(str::to_owned),
        };
        if !self.loaded.trust.is_trusted() {
            return None;
        }
        let (context, toolset, outlet) = (Arc::clone(context), toolset.clone(), outlet.clone());
        let work = tokio::spawn(async move {
            // It is ended with the program, if it runs so long.
            let found = discover(&context, &commands, &CancellationToken::new()).await;
            let warnings = match found {
                Err(failure) => vec![failure],
                Ok(Discovered { tools, warnings }) => {
                    toolset.update(|set| set.replace_source(&ToolSource::Discovered, tools));
                    warnings
                }
            };
            for text in warnings {
                outlet.emit(Event::Notice { severity: Severity::Warning, text }).await;
            }
        });
        // Should it panic, there are no such tools.
        Some(work.map(drop).boxed().shared())
    }
}
