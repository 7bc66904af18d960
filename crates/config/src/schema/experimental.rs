//! `experimental`.

use super::setting::{Setting, boolean, choice, integer, text};

const WHISPER_MODELS: &[&str] = &[
    "ggml-tiny.en.bin",
    "ggml-base.en.bin",
    "ggml-large-v3-turbo-q5_0.bin",
    "ggml-large-v3-turbo-q8_0.bin",
];

// One row per line reads better than what the formatter makes of it.
#[rustfmt::skip]
pub(super) static TABLE: &[Setting] = &[
    boolean("experimental.gemma", true, "Offers Gemma models.").restart(),
    boolean("experimental.voiceMode", false, "Takes spoken prompts."),
    choice("experimental.voice.activationMode", &["push-to-talk", "toggle"], "push-to-talk", "How listening starts."),
    choice("experimental.voice.backend", &["gemini-live", "whisper"], "gemini-live", "What understands speech."),
    choice("experimental.voice.whisperModel", WHISPER_MODELS, "ggml-base.en.bin", "Model file for Whisper."),
    integer("experimental.voice.stopGracePeriodMs", 4000, "Milliseconds of listening after the key is released."),
    boolean("experimental.adk.agentSessionNoninteractiveEnabled", false, "Accepted for compatibility.").restart(),
    boolean("experimental.adk.agentSessionInteractiveEnabled", false, "Accepted for compatibility.").restart(),
    boolean("experimental.adk.agentSessionSubagentEnabled", false, "Accepted for compatibility.").restart(),
    boolean("experimental.enableAgents", true, "Loads subagents.").restart(),
    boolean("experimental.worktrees", false, "Makes `--worktree` available.").restart(),
    boolean("experimental.extensionManagement", true, "Makes the extension commands available.").restart(),
    boolean("experimental.extensionConfig", true, "Asks for the settings of extensions.").restart(),
    boolean("experimental.extensionRegistry", false, "Makes the extension gallery available.").restart(),
    text("experimental.extensionRegistryURI", "https://geminicli.com/extensions.json", "Address of the extension gallery.").restart(),
    boolean("experimental.extensionReloading", false, "Reloads extensions without a restart.").restart(),
    boolean("experimental.useOSC52Paste", false, "Pastes through the terminal."),
    boolean("experimental.useOSC52Copy", false, "Copies through the terminal."),
    boolean("experimental.taskTracker", false, "Offers the task tools.").restart(),
    boolean("experimental.modelSteering", false, "Passes hints on while the model works."),
    boolean("experimental.directWebFetch", false, "Fetches pages without a model.").restart(),
    boolean("experimental.dynamicModelConfiguration", false, "Uses the model tables of the settings.").restart(),
    boolean("experimental.gemmaModelRouter.enabled", false, "Routes with a local Gemma.").restart(),
    boolean("experimental.gemmaModelRouter.autoStartServer", false, "Starts the local Gemma.").restart(),
    text("experimental.gemmaModelRouter.binaryPath", "", "Program that runs the local Gemma.").restart(),
    text("experimental.gemmaModelRouter.classifier.host", "http://localhost:9379", "Address of the local Gemma.").restart(),
    text("experimental.gemmaModelRouter.classifier.model", "gemma3-1b-gpu-custom", "Model that the local Gemma serves.").restart(),
    boolean("experimental.stressTestProfile", false, "Accepted for compatibility.").restart(),
    boolean("experimental.generalistProfile", false, "Accepted for compatibility.").restart(),
    boolean("experimental.powerUserProfile", false, "Accepted for compatibility.").restart(),
    boolean("experimental.contextManagement", false, "Uses the limits of `contextManagement`.").restart(),
    boolean("experimental.autoMemory", false, "Collects memories in the background.").restart(),
    boolean("experimental.topicUpdateNarration", false, "Replaced by `general.topicUpdateNarration`."),
];
