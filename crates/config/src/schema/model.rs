//! `model` and `modelConfigs`: which model is asked, and how.

use super::setting::{Kind, Setting, boolean, fraction, integer, list, object, unset};

// One row per line reads better than what the formatter makes of it.
#[rustfmt::skip]
pub(super) static TABLE: &[Setting] = &[
    unset("model.name", Kind::Text, "Model or alias to use."),
    integer("model.maxSessionTurns", -1, "Turns after which a session ends; negative for no limit."),
    unset("model.summarizeToolOutput", Kind::Object, "Tools whose long output is summarised, with their budget."),
    fraction("model.compressionThreshold", 0.5, "Share of the context at which the conversation is compressed.").restart(),
    boolean("model.disableLoopDetection", false, "Switches the loop guard off.").restart(),
    boolean("model.skipNextSpeakerCheck", true, "Does not ask a model whose turn it is."),

    // The built-in tables live with the models; files add to them.
    unset("modelConfigs.aliases", Kind::Object, "Named model configurations; replaces the built-in ones."),
    object("modelConfigs.customAliases", "Named model configurations beside the built-in ones."),
    unset("modelConfigs.overrides", Kind::List, "Changes to configurations; replaces the built-in ones."),
    list("modelConfigs.customOverrides", "Changes to configurations beside the built-in ones."),
    unset("modelConfigs.modelDefinitions", Kind::Object, "What is known about each model.").restart(),
    unset("modelConfigs.modelIdResolutions", Kind::Object, "Which model a name stands for.").restart(),
    unset("modelConfigs.classifierIdResolutions", Kind::Object, "Which model a classifier's answer stands for.").restart(),
    unset("modelConfigs.modelChains", Kind::Object, "Which model follows when one is not available.").restart(),
];
