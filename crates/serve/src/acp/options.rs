//! Approval modes and models of a session, as the client shows them. Pure.

use agent_client_protocol_schema::v1::{
    SessionConfigOption, SessionConfigOptionCategory, SessionConfigSelectOption, SessionId,
    SessionMode, SessionModeState,
};
use pollux_protocol::{ApprovalMode, ModelListing};
use serde::{Deserialize, Serialize};

/// Ids of the configuration options.
pub(crate) const MODE: &str = "mode";
pub(crate) const MODEL: &str = "model";

/// Model that stands for Pollux's choice.
const AUTO: &str = "auto";

/// Approval modes with their names and descriptions, which are those of Gemini CLI.
const MODES: [(ApprovalMode, &str, &str); 4] = [
    (ApprovalMode::Default, "Default", "Prompts for approval"),
    (ApprovalMode::AutoEdit, "Auto Edit", "Auto-approves edit tools"),
    (ApprovalMode::Yolo, "YOLO", "Auto-approves all tools"),
    (ApprovalMode::Plan, "Plan", "Read-only mode"),
];

/// Mode and model of a session, and everything else that the user can choose.
#[derive(Debug, Clone)]
pub(crate) struct SessionOptions {
    pub(crate) mode: ApprovalMode,
    /// Requested model: a name, an alias or `auto`.
    pub(crate) model: String,
    /// Models that are offered.
    pub(crate) models: Vec<ModelListing>,
    /// True if plan mode is enabled.
    pub(crate) has_plan: bool,
}

/// Model of a session, in the form of Gemini CLI. The schema of the protocol does not have it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ModelState {
    available_models: Vec<AvailableModel>,
    current_model_id: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
struct AvailableModel {
    model_id: String,
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
}

/// Parameters of `session/set_model`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SetModel {
    pub(crate) session_id: String,
    pub(crate) model_id: String,
}

/// Answer to the requests that open a session.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Opened {
    /// Id of a new session.
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<SessionId>,
    modes: SessionModeState,
    models: ModelState,
    config_options: Vec<SessionConfigOption>,
}

impl SessionOptions {
    /// Returns the answer to a request that opens a session; with the id of a new one.
    pub(crate) fn opened(&self, new: Option<SessionId>) -> Opened {
        Opened {
            session_id: new,
            modes: self.modes(),
            models: self.models(),
            config_options: self.config_options(),
        }
    }

    /// Returns the mode with this id, if it is offered.
    pub(crate) fn find_mode(&self, id: &str) -> Option<ApprovalMode> {
        self.offered_modes().map(|(mode, ..)| mode).find(|mode| mode.as_str() == id)
    }

    /// Returns the configuration options.
    pub(crate) fn config_options(&self) -> Vec<SessionConfigOption> {
        let modes = self.offered_modes().map(|(mode, name, description)| {
            let description = description.to_owned();
            SessionConfigSelectOption::new(mode.as_str(), name).description(description)
        });
        let models = self.offered_models().into_iter().map(|model| {
            SessionConfigSelectOption::new(model.model_id, model.name)
                .description(model.description)
        });
        vec![
            SessionConfigOption::select(
                MODE,
                "Mode",
                self.mode.as_str(),
                modes.collect::<Vec<_>>(),
            )
            .category(SessionConfigOptionCategory::Mode),
            SessionConfigOption::select(
                MODEL,
                "Model",
                self.model.clone(),
                models.collect::<Vec<_>>(),
            )
            .category(SessionConfigOptionCategory::Model),
        ]
    }

    fn modes(&self) -> SessionModeState {
        let mode = |(mode, name, description): (ApprovalMode, &str, &str)| {
            SessionMode::new(mode.as_str(), name).description(description.to_owned())
        };
        SessionModeState::new(self.mode.as_str(), self.offered_modes().map(mode).collect())
    }

    fn models(&self) -> ModelState {
        ModelState { available_models: self.offered_models(), current_model_id: self.model.clone() }
    }

    fn offered_modes(
        &self,
    ) -> impl Iterator<Item = (ApprovalMode, &'static str, &'static str)> + use<> {
        let has_plan = self.has_plan || self.mode == ApprovalMode::Plan;
        MODES.into_iter().filter(move |(mode, ..)| has_plan || *mode != ApprovalMode::Plan)
    }

    /// Returns the offered models: `auto`, the listed ones, and the present one.
    fn offered_models(&self) -> Vec<AvailableModel> {
        let auto = AvailableModel {
            model_id: AUTO.to_owned(),
            name: "Auto".to_owned(),
            description: Some("Pollux chooses the model".to_owned()),
        };
        let listed = self.models.iter().map(|model| AvailableModel {
            model_id: model.name.clone(),
            name: model.name.clone(),
            description: Some(model.vendor.clone()).filter(|vendor| !vendor.is_empty()),
        });
        let mut offered = vec![auto];
        offered.extend(listed.filter(|model| model.model_id != AUTO));
        if !offered.iter().any(|model| model.model_id == self.model) {
            let (model_id, name) = (self.model.clone(), self.model.clone());
            offered.push(AvailableModel { model_id, name, description: None });
        }
        offered
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_session_is_described_in_the_form_of_gemini_cli() {
        let options = SessionOptions {
            mode: ApprovalMode::AutoEdit,
            model: "own".to_owned(),
            models: vec![ModelListing {
                name: "gemini-2.5-pro".to_owned(),
                vendor: "Google".to_owned(),
                limits: pollux_protocol::ModelLimits::default(),
                abilities: pollux_protocol::Abilities::default(),
                price: None,
                dates: pollux_protocol::ModelDates::default(),
                origin: pollux_protocol::ListingOrigin::BuiltIn,
            }],
            has_plan: false,
        };
        let opened = serde_json::to_value(options.opened(Some("S".into()))).unwrap();
        assert_eq!(opened["sessionId"], "S");
        assert_eq!(
            opened["modes"],
            json!({"currentModeId": "autoEdit", "availableModes": [
                {"id": "default", "name": "Default", "description": "Prompts for approval"},
                {"id": "autoEdit", "name": "Auto Edit", "description": "Auto-approves edit tools"},
                {"id": "yolo", "name": "YOLO", "description": "Auto-approves all tools"},
            ]})
        );
        assert_eq!(
            opened["models"],
            json!({"currentModelId": "own", "availableModels": [
                {"modelId": "auto", "name": "Auto", "description": "Pollux chooses the model"},
                {"modelId": "gemini-2.5-pro", "name": "gemini-2.5-pro", "description": "Google"},
                {"modelId": "own", "name": "own"},
            ]})
        );
        let ids: Vec<_> = opened["configOptions"].as_array().unwrap().iter().collect();
        assert_eq!(
            (&ids[0]["currentValue"], &ids[1]["currentValue"]),
            (&json!("autoEdit"), &json!("own"))
        );
        assert_eq!((&ids[0]["category"], &ids[1]["category"]), (&json!("mode"), &json!("model")));
        assert_eq!(options.find_mode("auto_edit"), None);
        assert_eq!(options.find_mode("plan"), None);
        assert_eq!(options.find_mode("yolo"), Some(ApprovalMode::Yolo));
    }
}
