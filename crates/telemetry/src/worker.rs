//! The thread that writes.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use pollux_protocol::Measurement;
use serde_json::Value;

use crate::aggregate::Aggregate;
use crate::attributes::{Attributes, Common};
use crate::events::{Configuration, LogEvent, Rules, log_events};
use crate::names::instrument;
use crate::outfile::{Outfile, log_record};
use crate::points::{Point, points};
use crate::service::{Asked, Services};

/// How often metrics are exported while there is something new.
const INTERVAL: Duration = Duration::from_secs(10);

/// What is sent to the thread.
pub(crate) enum Job {
    /// How the run was set up.
    Configuration(Box<Configuration>),
    /// A figure.
    Measured(Box<Measurement>),
}

/// What the thread owns.
pub(crate) struct Worker {
    outfile: Outfile,
    aggregate: Aggregate,
    common: Common,
    services: Services,
    asked: Asked,
    attributes: Attributes,
    resource: Value,
    log_prompts: bool,
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
        }
    }

    /// Works until the other end is gone, then exports what is left. Sleeps for as long as there is nothing to do.
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
            // Also under a steady stream of jobs.
            if self.aggregate.has_news() && Instant::now() >= due {
                self.export();
                due = Instant::now() + INTERVAL;
            }
        }
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
            Job::Configuration(configuration) => vec![configuration.event(&rules)],
            Job::Measured(measurement) => log_events(measurement, &rules),
        };
        for event in events {
            let record = log_record(event, &self.resource, &self.attributes, time);
            self.write(&record);
        }
        if let Job::Measured(measurement) = job {
            for point in points(measurement, &self.asked) {
                self.aggregate.record(point, time.as_nanosecond());
            }
        }
    }

    /// Remembers what later figures do not say themselves.
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
        let now = Timestamp::now().as_nanosecond();
        let record = self.aggregate.export(&self.resource, &self.attributes, now);
        self.write(&record);
    }

    /// Telemetry that cannot be written must not disturb the run: it is lost.
    fn write(&mut self, record: &Value) {
        drop(self.outfile.write(record));
    }
}
