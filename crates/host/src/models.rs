//! Models of a session.

use std::path::PathBuf;
use std::sync::Arc;

use pollux_agent::{FallbackMode, FallbackOptions, RoutingOptions};
use pollux_config::{Loaded, Places, Settings, names as variables};
use pollux_fs::WriteOptions;
use pollux_models::local::{self, LocalServer};
use pollux_models::{ModelsOptions, PriceBook, Probe};
use pollux_net::RequestTrace;
use pollux_protocol::{ModelListing, Models, SessionFailure, SessionRequest};

use serde::Deserialize;

use crate::setup::{Setup, SetupInput};

/// File with the service that was last reported as found.
const FOUND_SERVICE: &str = "service.json";
/// Maximum size of this file, in bytes.
const LARGEST_RECORD: u64 = 4096;

/// Content of the file.
#[derive(Deserialize)]
struct FoundRecord {
    service: String,
}

impl Setup {
    /// Returns the models of the session. Without credentials it fails with a list of alternatives;
    /// only in this case does it use the network, on this machine.
    pub(crate) async fn models(&self) -> Result<Arc<dyn Models>, SessionFailure> {
        self.check_decided().await?;
        self.decided_models()
    }

    /// Checks that a setting, a credential or the name of the model selects a service.
    pub(crate) async fn check_decided(&self) -> Result<(), SessionFailure> {
        if self.is_undecided() {
            let servers = self.local_servers().await;
            return Err(pollux_models::undecided(&self.models_options(), &servers).into());
        }
        Ok(())
    }

    /// Returns the models of a session whose service is known. Reads files.
    pub(crate) fn decided_models(&self) -> Result<Arc<dyn Models>, SessionFailure> {
        Ok(pollux_models::assemble(&self.models_options())?)
    }

    /// Reports that a key is used instead of the configured sign-in method, if it is.
    pub(crate) fn report_sign_in(&self) {
        if let Some(notice) = pollux_models::sign_in_notice(&self.models_options()) {
            self.input.request.notices.warning(&notice);
        }
    }

    /// Reports the service that is used because of its credentials alone: the first time, unless
    /// there was no choice, and when it is another one than before. Reads a file, and writes it.
    pub(crate) fn report_found_service(&self) {
        let Some(found) = pollux_models::found_service(&self.models_options()) else { return };
        let path = self.places.pollux_dir().join(FOUND_SERVICE);
        let read = pollux_fs::read_bytes(&path, LARGEST_RECORD).ok();
        let record: Option<FoundRecord> =
            read.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let is_known = record.map_or(found.is_expected, |record| record.service == found.id);
        if is_known {
            return;
        }
        self.input.request.notices.info(&found.message);
        let text = serde_json::json!({ "service": found.id }).to_string();
        let written =
            pollux_fs::create_private_directories(&self.places.pollux_dir()).and_then(|()| {
                pollux_fs::write_atomic(&path, text.as_bytes(), &WriteOptions::private())
            });
        // Without the record, the message only appears again.
        drop(written);
    }

    /// Returns true if no setting, credential or model name selects a service.
    pub(crate) fn is_undecided(&self) -> bool {
        pollux_models::is_undecided(&self.models_options())
    }

    /// Returns the models that are available with the present credentials, and those of servers on
    /// this machine.
    pub async fn available_models(&self) -> Vec<ModelListing> {
        let options = self.models_options();
        if let Some(Err(error)) = options.prices.as_deref().map(PriceBook::load) {
            self.report_table(&error);
        }
        pollux_models::list(&options).await
    }

    /// Returns the path of the user's own table of models; `None` if there is none.
    ///
    /// # Errors
    /// The message about a table that cannot be used.
    pub fn own_prices(&self) -> Result<Option<PathBuf>, String> {
        let path = self.places.pollux_dir().join(crate::budget::PRICES);
        PriceBook::load(&path).map_err(|error| error.to_string())?;
        Ok(Some(path).filter(|path| pollux_fs::info(path).is_ok()))
    }

    /// Tests the connection to the service that a run would use; `None` if there is none.
    pub async fn probe_service(&self) -> Option<Probe> {
        pollux_models::probe(&self.models_options()).await
    }

    /// Returns the model servers on this machine.
    pub(crate) async fn local_servers(&self) -> Vec<LocalServer> {
        local::discover(&local::ports(&self.loaded.environment)).await
    }

    pub(crate) fn models_options(&self) -> ModelsOptions {
        options(&self.input, &self.loaded, &self.places, self.model.clone())
    }
}

/// Checks that a setting, a credential or the name of the model selects a service, or that a server
/// on this machine has models, of which the user may choose one.
///
/// # Errors
/// The message with the ways to select a service.
pub(crate) async fn check_service(options: &ModelsOptions) -> Result<(), SessionFailure> {
    if !pollux_models::is_undecided(options) {
        return Ok(());
    }
    let servers = local::discover(&local::ports(&options.environment)).await;
    if servers.iter().any(|server| !server.models.is_empty()) {
        return Ok(());
    }
    Err(pollux_models::undecided(options, &servers).into())
}

/// Returns the options of the models of a session.
pub(crate) fn options(
    input: &SetupInput,
    loaded: &Loaded,
    places: &Places,
    startup_model: String,
) -> ModelsOptions {
    ModelsOptions {
        settings: loaded.settings.clone(),
        environment: loaded.environment.clone(),
        user_settings: places.user_settings(),
        cwd: input.request.folder.clone(),
        http: None,
        trace: input.options.debug.then(|| {
            let notices = Arc::clone(&input.request.notices);
            RequestTrace::new(move |line| notices.info(line))
        }),
        replay: input.options.replay.clone(),
        record: input.options.record.clone(),
        record_wire: input.options.record_wire.clone(),
        prices: Some(places.pollux_dir().join(crate::budget::PRICES)),
        startup_model,
        client: input.options.client.clone().unwrap_or_else(|| "cli".to_owned()),
    }
}

/// Returns the settings of the replacement of models.
pub(crate) fn fallback(settings: &Settings) -> FallbackOptions {
    let mode = match settings.text("pollux.fallback.mode") {
        Some("chain") => FallbackMode::Chain,
        Some("never") => FallbackMode::Never,
        _ => FallbackMode::Ask,
    };
    FallbackOptions { mode, chain: settings.texts("pollux.fallback.chain").unwrap_or_default() }
}

/// Returns the settings of the router.
pub(crate) fn routing(settings: &Settings) -> RoutingOptions {
    RoutingOptions {
        by_mode: settings.boolean("general.plan.modelRouting"),
        classifier: settings.boolean("pollux.routing.classifier"),
    }
}

/// Returns the model from the flag, `GEMINI_MODEL` or the settings, in this order; otherwise
/// `auto`.
pub(crate) fn requested(request: &SessionRequest, loaded: &Loaded) -> String {
    let environment = loaded.environment.non_empty(variables::GEMINI_MODEL);
    let flag = request.model.as_deref().filter(|model| !model.is_empty());
    let asked = flag
        .or(environment)
        .or(loaded.settings.text("model.name").filter(|name| !name.trim().is_empty()));
    asked.map(str::trim).filter(|model| !model.is_empty()).unwrap_or("auto").to_owned()
}
