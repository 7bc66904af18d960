//! `model` and `modelConfigs`: choice of the model and its parameters.

use super::kind::SettingKind;
use super::records;
use super::setting::{Setting, boolean, fraction, integer, list, object, unset};
use crate::environment::names;

const RESOLUTIONS: SettingKind = SettingKind::Map(&SettingKind::Record(&records::RESOLUTION));

// Rows on one line are easier to read than the formatter's layout.
#[rustfmt::skip]
pub(super) static TABLE: &[Setting] = &[
    unset("model.name", SettingKind::Text, "Model or alias to use.").variables(&[names::GEMINI_MODEL]).flag("--model"),
    integer("model.maxSessionTurns", -1, "Turns after which a session ends; negative for no limit."),
    unset("model.summarizeToolOutput", SettingKind::Map(&SettingKind::Record(&records::SUMMARY)), "Tools whose long output is summarised, with their budget.").idle(),
    fraction("model.compressionThreshold", 0.5, "Share of the context at which the conversation is compressed; zero for never.").restart(),
    boolean("model.disableLoopDetection", false, "Switches the loop guard off.").restart(),
    boolean("model.skipNextSpeakerCheck", true, "Does not ask a model whose turn it is."),

    // The built-in tables are part of the model code; files add to them.
    unset("modelConfigs.aliases", SettingKind::OBJECT, "Named model configurations, merged into the built-in ones."),
    object("modelConfigs.customAliases", &SettingKind::Anything, "Named model configurations beside the built-in ones."),
    list("modelConfigs.customOverrides", &SettingKind::Anything, "Changes to configurations beside the built-in ones."),
    unset("modelConfigs.overrides", SettingKind::List(&SettingKind::Anything), "Changes to configurations; replaces the built-in ones."),
    unset("modelConfigs.modelDefinitions", SettingKind::Map(&SettingKind::Record(&records::MODEL)), "What is known about models, with `experimental.dynamicModelConfiguration`.").restart().idle(),
    unset("modelConfigs.modelIdResolutions", RESOLUTIONS, "Which model a name stands for, with `experimental.dynamicModelConfiguration`.").restart().idle(),
    unset("modelConfigs.classifierIdResolutions", RESOLUTIONS, "Which model a classifier's answer stands for.").restart().idle(),
    unset("modelConfigs.modelChains", SettingKind::Map(&SettingKind::List(&SettingKind::OBJECT)), "Which models follow one that fails, with `experimental.dynamicModelConfiguration`.").restart().idle(),
];
