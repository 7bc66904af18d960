//! What a run tells about itself: log events and metrics in OpenTelemetry's terms, with Gemini CLI's names.
//!
//! [`Telemetry`] watches the events of a session and writes them to the file that the settings name, in the format of
//! Gemini CLI 0.61: JSON objects, indented by two blanks, one after the other. It never stalls who it watches: a
//! bounded queue leads to a thread of its own, and what does not fit is counted and dropped.
//!
//! What is not here: the settings and their errors (`pollux_config::TelemetrySettings`), and figures for people
//! (`pollux_session::Statistics`). Collectors and Google Cloud are not spoken to yet; the aggregation is our own sums
//! and histograms, so that a run without telemetry pays nothing at start and one with it little.

mod aggregate;
mod attributes;
mod events;
mod names;
mod outfile;
mod points;
mod service;
mod telemetry;
mod worker;

pub use attributes::Common;
pub use events::Configuration;
pub use service::{Service, Services};
pub use telemetry::{Started, Telemetry};
