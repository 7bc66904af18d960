//! Mode and model of a session, as the user of the client chooses them.

use agent_client_protocol_schema::v1::{
    ConfigOptionUpdate, CurrentModeUpdate, Error, SessionConfigOptionValue, SessionUpdate,
};
use pollux_protocol::{ApprovalMode, Op};

use super::{Ended, Running, Session};
use crate::acp::{errors, options};

/// Maximum length of the name of a model, in bytes.
const LONGEST_MODEL: usize = 500;

impl Session {
    /// Gives the mode and the model, which the user may have chosen before, to a session that has
    /// just been opened.
    pub(super) fn follow_choices(&mut self) {
        let Some(Running { session, handle, .. }) = &self.running else { return };
        let facts = session.facts();
        let (mode, model) = (self.options.mode, self.options.model.clone());
        if facts.mode != mode && session.check_mode(mode).is_ok() {
            drop(handle.send(Op::SetMode(mode)));
        } else {
            self.options.mode = facts.mode;
        }
        if facts.model != model {
            drop(handle.send(Op::SetModel(model)));
        }
    }

    pub(super) fn set_mode(&mut self, id: &str) -> Result<(), Error> {
        let unavailable = || errors::internal(format!("Invalid or unavailable mode: {id}"));
        let mode = self.options.find_mode(id).ok_or_else(unavailable)?;
        if let Some(running) = &self.running {
            let checked = running.session.check_mode(mode);
            checked.map_err(|error| errors::internal(error.to_string()))?;
            running.send(Op::SetMode(mode));
        }
        self.options.mode = mode;
        Ok(())
    }

    pub(super) fn set_model(&mut self, model: String) -> Result<(), Error> {
        if model.trim().is_empty() || model.len() > LONGEST_MODEL {
            return Err(errors::unusable("not the name of a model"));
        }
        if let Some(running) = &self.running {
            running.send(Op::SetModel(model.clone()));
        }
        self.options.model = model;
        Ok(())
    }

    pub(super) fn set_option(
        &mut self,
        option: &str,
        value: SessionConfigOptionValue,
    ) -> Result<(), Error> {
        let SessionConfigOptionValue::ValueId { value } = value else {
            return Err(errors::unusable(format!("the option {option} has no such value")));
        };
        match option {
            options::MODE => self.set_mode(&value.0),
            options::MODEL => self.set_model(value.0.as_ref().to_owned()),
            _ => Err(errors::unusable(format!("there is no option {option}"))),
        }
    }

    pub(super) async fn mode_changed(&mut self, mode: ApprovalMode) -> Result<(), Ended> {
        self.options.mode = mode;
        let update = CurrentModeUpdate::new(mode.as_str());
        self.update(SessionUpdate::CurrentModeUpdate(update)).await?;
        self.announce_options().await
    }

    pub(super) async fn announce_options(&mut self) -> Result<(), Ended> {
        let update = ConfigOptionUpdate::new(self.options.config_options());
        self.update(SessionUpdate::ConfigOptionUpdate(update)).await
    }
}
