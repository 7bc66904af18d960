//! `experimental`.

use super::setting::{Setting, boolean, choice, integer, text};

const WHISPER_MODELS: &[&str] = &[
    "ggml-tiny.en.bin",
    "ggml-base.en.bin",
    "ggml-large-v3-turbo-q5_0.bin",
    "ggml-large-v3-turbo-q8_0.bin",
];

// Rows on one line are easier to read than the formatter's layout.
#[rustfmt::skip]
pub(super) static TABLE: &[Setting] = &[
    boolean("experimental.gemma", true, "Offers Gemma models.").restart().idle(),
    boolean("experimental.voiceMode", false, "Accepts spoken prompts.").idle(),
    choice("experimental.voice.activationMode", &["push-to-talk", "toggle"], "push-to-talk", "How voice input starts.").idle(),
    choice("experimental.voice.backend", &["gemini-live", "whisper"], "gemini-live", "Speech recognition backend.").idle(),
    choice("experimental.voice.whisperModel", WHISPER_MODELS, "ggml-base.en.bin", "Model file for Whisper.").idle(),
    integer("experimental.voice.stopGracePeriodMs", 4000, "Milliseconds of listening after the key is released.").idle(),
    boolean("experimental.adk.agentSessionNoninteractiveEnabled", false, "Another agent loop for headless runs of Gemini CLI.").restart().idle(),
    boolean("experimental.adk.agentSessionInteractiveEnabled", false, "Another agent loop for the terminal of Gemini CLI.").restart().idle(),
    boolean("experimental.adk.agentSessionSubagentEnabled", false, "Another agent loop for subagents of Gemini CLI.").restart().idle(),
    boolean("experimental.enableAgents", true, "Loads subagents of the user and the project.").restart(),
    boolean("experimental.worktrees", false, "Enables `--worktree`.").restart().idle(),
    boolean("experimental.extensionManagement", true, "Enables the extension commands.").restart().idle(),
    boolean("experimental.extensionConfig", true, "Prompts for the settings of extensions.").restart().idle(),
    boolean("experimental.extensionRegistry", false, "Enables the extension gallery.").restart().idle(),
    text("experimental.extensionRegistryURI", "https://geminicli.com/extensions.json", "Address of the extension gallery.").restart().idle(),
    boolean("experimental.extensionReloading", false, "Reloads extensions without a restart.").restart().idle(),
    boolean("experimental.useOSC52Paste", false, "Pastes through the terminal.").idle(),
    boolean("experimental.useOSC52Copy", false, "Copies through the terminal.").idle(),
    boolean("experimental.taskTracker", false, "Offers the task tools.").restart(),
    boolean("experimental.modelSteering", false, "Sends user hints to the model while it works."),
    boolean("experimental.directWebFetch", false, "Fetches pages without a model.").restart(),
    boolean("experimental.dynamicModelConfiguration", false, "Lets `modelConfigs` replace the built-in tables of models.").restart(),
    boolean("experimental.gemmaModelRouter.enabled", false, "Routes with a local Gemma.").restart().idle(),
    boolean("experimental.gemmaModelRouter.autoStartServer", false, "Starts the local Gemma.").restart().idle(),
    text("experimental.gemmaModelRouter.binaryPath", "", "Program that runs the local Gemma; only the user's own settings file can set it.").restart().not_project().idle(),
    text("experimental.gemmaModelRouter.classifier.host", "http://localhost:9379", "Address of the local Gemma.").restart().idle(),
    text("experimental.gemmaModelRouter.classifier.model", "gemma3-1b-gpu-custom", "Model that the local Gemma serves.").restart().idle(),
    boolean("experimental.stressTestProfile", false, "Uses small limits of `contextManagement`, for stress tests.").restart().idle(),
    boolean("experimental.autoMemory", false, "Analyses earlier sessions in the background during a conversation, and proposes facts and skills: `/memory inbox`.").restart(),
    boolean("experimental.generalistProfile", false, "Limits of `contextManagement` for mixed work.").restart().idle(),
    boolean("experimental.powerUserProfile", false, "Limits of `contextManagement` for long work.").restart().idle(),
    boolean("experimental.contextManagement", false, "Uses the limits of `contextManagement`.").restart().idle(),
    boolean("experimental.topicUpdateNarration", false, "Replaced by `general.topicUpdateNarration`.").idle(),
];
