//! Tools that a command from the settings lists: discovered in the background during the start.

use std::sync::Arc;

use futures::FutureExt as _;
use pollux_agent::{Loading, Outlet, Toolset};
use pollux_protocol::{CancellationToken, Event, Live, Severity, ToolSource};
use pollux_tools::{Discovered, DiscoveryCommands, ToolContext, discover};

use crate::setup::Setup;

impl Setup {
    /// Starts the discovery of tools, which are added to the set once they are found. Returns
    /// `None` if the settings name no command, and in an untrusted folder: the command usually runs
    /// code of the folder (`make tools`).
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
            // A command that never ends is stopped together with the program.
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
        // If the task panics, there are simply no discovered tools.
        Some(work.map(drop).boxed().shared())
    }
}
