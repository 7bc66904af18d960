//! Reload of the settings of a running session.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use pollux_agent::{LoopSettings, MaskingOptions, NextSpeakerOptions, WeakHandle};
use pollux_config::{Settings, schema};
use pollux_protocol::{CommandReport, Live, Op};

use crate::consent;
use crate::setup::{Beginning, Setup};
use pollux_protocol::SessionFailure;

/// Settings that take effect while a session runs. All others wait for the next start.
const FOLLOWED: [&str; 11] = [
    "agents.overrides",
    "skills.disabled",
    "model.maxSessionTurns",
    "model.compressionThreshold",
    "model.disableLoopDetection",
    "model.skipNextSpeakerCheck",
    "pollux.continueUnfinished",
    PROTECTED,
    LEAST,
    LATEST,
    TIMEOUT,
];

const PROTECTED: &str = "contextManagement.tools.outputMasking.protectionThresholdTokens";
const LEAST: &str = "contextManagement.tools.outputMasking.minPrunableThresholdTokens";
const LATEST: &str = "contextManagement.tools.outputMasking.protectLatestTurn";
const TIMEOUT: &str = "pollux.compression.timeout";

/// Settings of one session, which can be reloaded. Clones share the same state.
#[derive(Clone)]
pub(crate) struct LiveSettings(Arc<Shared>);

struct Shared {
    setup: Arc<Setup>,
    followed: Live<LoopSettings>,
    /// Settings as last read.
    current: Live<Settings>,
    /// Keys that were reported as waiting for a restart. Locked during a reload.
    waiting: Mutex<Vec<String>>,
    /// Agent of the session; set after its start.
    agent: OnceLock<WeakHandle>,
}

impl LiveSettings {
    pub(crate) fn new(setup: &Arc<Setup>) -> Self {
        let settings = setup.loaded.settings.clone();
        let followed = Live::new(followed(&settings));
        Self(Arc::new(Shared {
            setup: Arc::clone(setup),
            followed,
            current: Live::new(settings),
            waiting: Mutex::default(),
            agent: OnceLock::new(),
        }))
    }

    /// Returns the live settings of the agent loop.
    pub(crate) fn followed(&self) -> Live<LoopSettings> {
        self.0.followed.clone()
    }

    /// Returns the live settings as last read.
    pub(crate) fn current(&self) -> Live<Settings> {
        self.0.current.clone()
    }

    /// Sets the agent that changes are reported to.
    pub(crate) fn report_to(&self, agent: WeakHandle) {
        drop(self.0.agent.set(agent));
    }

    /// Reads the settings files again and reports the differences. Blocks the thread.
    ///
    /// # Errors
    /// [`SessionFailure::Config`] for a file that cannot be used. Then nothing changes.
    pub(crate) fn reload(&self) -> Result<(), SessionFailure> {
        let Shared { setup, followed: live, current, waiting, agent } = &*self.0;
        let mut waiting = waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let (before, settings) = (current.get(), read(setup)?);
        let is_followed =
            |key: &&str| FOLLOWED.contains(key) || setup.input.request.live_settings.contains(key);
        let (changed, _): (Vec<_>, Vec<_>) =
            different(&before, &settings).into_iter().partition(|key| is_followed(&key.as_str()));
        let mut restart = different(&setup.loaded.settings, &settings);
        restart.retain(|key| !is_followed(&key.as_str()));
        live.set(followed(&settings));
        current.set(settings);
        if changed.is_empty() && restart == *waiting {
            return Ok(());
        }
        waiting.clone_from(&restart);
        if let Some(agent) = agent.get() {
            agent.send(Op::Report(CommandReport::SettingsChanged { changed, restart }));
        }
        Ok(())
    }
}

/// Reads the files as for a new session, but asks no questions: new items of the project wait for
/// consent.
fn read(setup: &Setup) -> Result<Settings, SessionFailure> {
    let mut beginning = Beginning::read(setup.input.clone())?;
    let agreed = consent::agreed(&mut beginning);
    let loaded = beginning.found.load(agreed).map_err(|error| SessionFailure::config(&error))?;
    Ok(loaded.settings)
}

/// Returns the keys whose values differ.
fn different(before: &Settings, after: &Settings) -> Vec<String> {
    let differs = |key: &str| before.value(key) != after.value(key);
    schema::all().map(|setting| setting.key).filter(|key| differs(key)).map(str::to_owned).collect()
}

/// Returns the settings that the agent loop follows.
fn followed(settings: &Settings) -> LoopSettings {
    let defaults = MaskingOptions::default();
    let seconds = settings.number(TIMEOUT).unwrap_or(300.0).max(1.0);
    LoopSettings {
        max_turns: u64::try_from(settings.integer("model.maxSessionTurns")).ok(),
        compression_share: settings.number("model.compressionThreshold").unwrap_or(0.5),
        compression_timeout: Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX),
        loop_detection: !settings.boolean("model.disableLoopDetection"),
        next_speaker: NextSpeakerOptions {
            asks_model: !settings.boolean("model.skipNextSpeakerCheck"),
            plain_cases: settings.boolean("pollux.continueUnfinished"),
        },
        masking: MaskingOptions {
            protected: settings.number(PROTECTED).unwrap_or(defaults.protected),
            least: settings.number(LEAST).unwrap_or(defaults.least),
            protect_latest: settings.boolean(LATEST),
        },
    }
}
