//! The thread that writes records.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use pollux_protocol::Measurement;
use serde_json::{Value, json};

use crate::aggregate::Aggregate;
use crate::attributes::{Attributes, Common, pairs};
use crate::events::{Configuration, LogEvent, Rules, STARTUP_PHASE, log_events};
use crate::names::{event, instrument};
use crate::outfile::{Outfile, log_record};
use crate::points::{Point, points};
use crate::process::ProcessUsage;
use crate::service::{Asked, Services};

/// Interval between exports of metrics while there are new values.
const INTERVAL: Duration = Duration::from_secs(10);

/// Message to the thread.
pub(crate) enum Job {
    /// Setup of the run.
    Configuration(Box<Configuration>),
    /// A measurement.
    Measured(Box<Measurement>),
}

/// State of the thread.
pub(crate) struct Worker {
    outfile: Outfile,
    aggregate: Aggregate,
    common: Common,
    services: Services,
    asked: Asked,
    attributes: Attributes,
    resource: Value,
    log_prompts: bool,
    /// Use of the machine at the last export, and the time of the export.
    used: (ProcessUsage, Timestamp),
}

impl Worker {
    pub(crate) fn new(
        outfile: Outfile,
        common: Common,
        services: Services,
        log_prompts: bool,
    ) -> Self {
        Self {
            outfile,
            aggregate: Aggregate::default(),
            attributes: common.attributes(),
            resource: common.resource(),
            common,
            services,
            asked: Asked::default(),
            log_prompts,
            used: (ProcessUsage::now(), Timestamp::now()),
        }
    }

    /// Processes jobs until the sender is dropped, then exports the remaining values. Sleeps while
    /// there is nothing to do.
    pub(crate) fn run(mut self, jobs: &Receiver<(Timestamp, Job)>) {
        let session = Point::new(&instrument::SESSIONS, 1.0, Attributes::new());
        self.aggregate.record(session, Timestamp::now().as_nanosecond());
        let mut due = Instant::now() + INTERVAL;
        loop {
            let job = if self.aggregate.has_news() {
                jobs.recv_timeout(due.saturating_duration_since(Instant::now()))
            } else {
                jobs.recv().map_err(|_| RecvTimeoutError::Disconnected)
            };
            match job {
                Ok((time, job)) => {
                    if !self.aggregate.has_news() {
                        due = Instant::now() + INTERVAL;
                    }
                    self.take(&job, time);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            // The interval also applies under a steady stream of jobs.
            if self.aggregate.has_news() && Instant::now() >= due {
                self.export();
                due = Instant::now() + INTERVAL;
            }
        }
        let ended = pairs([("session_id", json!(self.common.session_id))]);
        self.log(LogEvent::new(event::END_SESSION, "Session ended.", ended), Timestamp::now());
        if self.aggregate.has_news() {
            self.export();
        }
    }

    fn take(&mut self, job: &Job, time: Timestamp) {
        if let Job::Measured(measurement) = job {
            self.follow(measurement);
        }
        let rules =
            Rules { log_prompts: self.log_prompts, common: &self.common, asked: &self.asked };
        let events: Vec<LogEvent> = match job {
            Job::Configuration(configuration) => vec![
                configuration.event(&rules),
                configuration.startup_event(time, ProcessUsage::now()),
            ],
            Job::Measured(measurement) => log_events(measurement, &rules),
        };
        for event in events {
            self.log(event, time);
        }
        let points = match job {
            Job::Measured(measurement) => points(measurement, &self.asked),
            Job::Configuration(configuration) => vec![Point::new(
                &instrument::STARTUP,
                configuration.startup(time).as_secs_f64() * 1000.0,
                pairs([("phase", json!(STARTUP_PHASE))]),
            )],
        };
        for point in points {
            self.aggregate.record(point, time.as_nanosecond());
        }
    }

    fn log(&mut self, event: LogEvent, time: Timestamp) {
        let record = log_record(event, &self.resource, &self.attributes, time);
        self.write(&record);
    }

    /// Records the memory of the process, and its processor time since the last export.
    fn measure_process(&mut self, now: Timestamp) {
        let usage = ProcessUsage::now();
        if let Some(bytes) = usage.resident {
            let attributes = pairs([("memory_type", json!("rss"))]);
            let point = Point::new(&instrument::MEMORY, bytes as f64, attributes);
            self.aggregate.record(point, now.as_nanosecond());
        }
        let (before, then) = std::mem::replace(&mut self.used, (usage, now));
        let work = (usage.user + usage.system).saturating_sub(before.user + before.system);
        let passed = now.duration_since(then).as_secs_f64();
        if usage.resident.is_some() && passed > 0.0 {
            let percent = 100.0 * work.as_secs_f64() / passed;
            let point = Point::new(&instrument::CPU, percent, Attributes::new());
            self.aggregate.record(point, now.as_nanosecond());
        }
    }

    /// Stores request data that later measurements do not contain.
    fn follow(&mut self, measurement: &Measurement) {
        match measurement {
            Measurement::ModelRouting { requested, .. } => {
                self.asked.service = (self.services)(requested);
            }
            Measurement::ApiRequest(measure) => self.asked.system.clone_from(&measure.system),
            _ => {}
        }
    }

    fn export(&mut self) {
        let now = Timestamp::now();
        self.measure_process(now);
        let now = now.as_nanosecond();
        let record = self.aggregate.export(&self.resource, &self.attributes, now);
        self.write(&record);
    }

    /// Writes a record, or drops it on an error: telemetry must not disturb the run.
    fn write(&mut self, record: &Value) {
        drop(self.outfile.write(record));
    }
}
