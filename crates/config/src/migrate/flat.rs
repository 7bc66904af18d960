//! Root keys of the first format of settings files, in which groups did not exist yet.
//!
//! Gemini CLI ignores these keys, so they have no effect when settings are loaded. Only `pollux
//! config migrate`, which the user calls, moves them.

use serde_json::Value;

use super::{Step, remove, set_if_absent};
use crate::schema::lookup;

/// Old key and new key.
pub(super) const MOVES: &[(&str, &str)] = &[
    ("accessibility", "ui.accessibility"),
    ("allowMCPServers", "mcp.allowed"),
    ("allowedTools", "tools.allowed"),
    ("autoConfigureMaxOldSpaceSize", "advanced.autoConfigureMemory"),
    ("bugCommand", "advanced.bugCommand"),
    ("chatCompression.contextPercentageThreshold", "model.compressionThreshold"),
    ("checkpointing", "general.checkpointing"),
    ("contextFileName", "context.fileName"),
    ("coreTools", "tools.core"),
    ("customThemes", "ui.customThemes"),
    ("customWittyPhrases", "ui.customWittyPhrases"),
    ("debugKeystrokeLogging", "general.debugKeystrokeLogging"),
    ("disableAutoUpdate", "general.disableAutoUpdate"),
    ("disableUpdateNag", "general.disableUpdateNag"),
    ("dnsResolutionOrder", "advanced.dnsResolutionOrder"),
    ("enableInteractiveShell", "tools.shell.enableInteractiveShell"),
    ("enforcedAuthType", "security.auth.enforcedType"),
    ("excludeMCPServers", "mcp.excluded"),
    ("excludeTools", "tools.exclude"),
    ("excludedProjectEnvVars", "advanced.excludedEnvVars"),
    ("extensionManagement", "experimental.extensionManagement"),
    ("fileFiltering", "context.fileFiltering"),
    ("folderTrust", "security.folderTrust.enabled"),
    ("hasSeenIdeIntegrationNudge", "ide.hasSeenNudge"),
    ("hideBanner", "ui.hideBanner"),
    ("hideCWD", "ui.footer.hideCWD"),
    ("hideContextSummary", "ui.hideContextSummary"),
    ("hideFooter", "ui.hideFooter"),
    ("hideModelInfo", "ui.footer.hideModelInfo"),
    ("hideSandboxStatus", "ui.footer.hideSandboxStatus"),
    ("hideTips", "ui.hideTips"),
    ("hideWindowTitle", "ui.hideWindowTitle"),
    ("ideMode", "ide.enabled"),
    ("includeDirectories", "context.includeDirectories"),
    ("loadMemoryFromIncludeDirectories", "context.loadMemoryFromIncludeDirectories"),
    ("maxSessionTurns", "model.maxSessionTurns"),
    ("mcpServerCommand", "mcp.serverCommand"),
    ("memoryDiscoveryMaxDirs", "context.discoveryMaxDirs"),
    ("memoryImportFormat", "context.importFormat"),
    ("preferredEditor", "general.preferredEditor"),
    ("retryFetchErrors", "general.retryFetchErrors"),
    ("sandbox", "tools.sandbox"),
    ("selectedAuthType", "security.auth.selectedType"),
    ("shellPager", "tools.shell.pager"),
    ("shellShowColor", "tools.shell.showColor"),
    ("showCitations", "ui.showCitations"),
    ("showLineNumbers", "ui.showLineNumbers"),
    ("showMemoryUsage", "ui.showMemoryUsage"),
    ("showStatusInTitle", "ui.showStatusInTitle"),
    ("skipNextSpeakerCheck", "model.skipNextSpeakerCheck"),
    ("summarizeToolOutput", "model.summarizeToolOutput"),
    ("theme", "ui.theme"),
    ("toolCallCommand", "tools.callCommand"),
    ("toolDiscoveryCommand", "tools.discoveryCommand"),
    ("usageStatisticsEnabled", "privacy.usageStatisticsEnabled"),
    ("useExternalAuth", "security.auth.useExternal"),
    ("useRipgrep", "tools.useRipgrep"),
    ("vimMode", "general.vimMode"),
];

/// Key that was a name in the first format, and is a group now.
const MODEL: &str = "model";
const MODEL_NAME: &str = "model.name";

/// Moves the keys of the first format to their current location, under the conditions of
/// [`super::migrate`].
pub(crate) fn migrate(layer: &mut Value) -> Vec<Step> {
    let mut steps = Vec::new();
    // The name must go before its place becomes a group.
    if let Some(name @ Value::String(_)) = lookup(layer, MODEL).cloned() {
        remove(layer, MODEL, &mut steps);
        set_if_absent(layer, MODEL_NAME, &name, &mut steps);
    }
    for (old, new) in MOVES {
        let Some(value) = lookup(layer, old).cloned() else { continue };
        if set_if_absent(layer, new, &value, &mut steps) {
            remove(layer, old, &mut steps);
        }
    }
    steps
}

/// Returns the current location of a key of the first format, if the layer uses it.
pub(crate) fn new_key(layer: &Value, key: &str) -> Option<&'static str> {
    if key == MODEL {
        return lookup(layer, MODEL).is_some_and(Value::is_string).then_some(MODEL_NAME);
    }
    let (old, new) = MOVES.iter().find(|(old, _)| old.split('.').next() == Some(key))?;
    lookup(layer, old).is_some().then_some(*new)
}
