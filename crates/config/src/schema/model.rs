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
    boolean("model.skipNextSpeakerCheck", true, "Skips the side call that decides who speaks next."),

    // The built-in tables are part of the model code; files add to them.
    unset("modelConfigs.aliases", SettingKind::OBJECT, "Named model configurations, merged into the built-in ones."),
    object("modelConfigs.customAliases", &SettingKind::Anything, "Named model configurations in addition to the built-in ones."),
    list("modelConfigs.customOverrides", &SettingKind::Anything, "Overrides of configurations in addition to the built-in ones."),
    unset("modelConfigs.overrides", SettingKind::List(&SettingKind::Anything), "Overrides of configurations; replaces the built-in ones."),
    unset("modelConfigs.modelDefinitions", SettingKind::Map(&SettingKind::Record(&records::MODEL)), "Definitions of models, with `experimental.dynamicModelConfiguration`.").restart().not_project(),
    unset("modelConfigs.modelIdResolutions", RESOLUTIONS, "Mapping of names to models, with `experimental.dynamicModelConfiguration`.").restart().not_project(),
    unset("modelConfigs.classifierIdResolutions", RESOLUTIONS, "Mapping of a classifier's answers to models, with `experimental.dynamicModelConfiguration`.").restart().not_project(),
    unset("modelConfigs.modelChains", SettingKind::Map(&SettingKind::List(&SettingKind::OBJECT)), "Fallback models, with `experimental.dynamicModelConfiguration`.").restart().not_project(),
];
