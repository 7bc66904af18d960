//! Telemetry of a run: log events and metrics in OpenTelemetry's terms, with Gemini CLI's names.
//!
//! [`Telemetry`] observes the events of a session and writes them to the file that the settings
//! name, in the format of Gemini CLI 0.61: JSON objects, indented by two spaces, one after the
//! other. It never blocks the session: events go through a bounded queue to a separate thread, and
//! events that do not fit into the queue are counted and dropped.
//!
//! Not part of this crate: the settings and their errors (`pollux_config::TelemetrySettings`), and
//! statistics for the user (`pollux_session::Statistics`). Collectors and Google Cloud are not
//! supported yet. The crate has its own sums and histograms instead of an SDK, so that telemetry
//! costs nothing at start if it is off, and little if it is on.

#![cfg_attr(test, allow(clippy::disallowed_methods, clippy::disallowed_types))]

mod aggregate;
mod attributes;
mod events;
mod names;
mod outfile;
mod points;
mod process;
mod service;
mod telemetry;
mod worker;

pub use attributes::Common;
pub use events::Configuration;
pub use service::{Service, Services};
pub use telemetry::{Started, Telemetry};
