//! The telemetry of a run, from its start to its last flush.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use jiff::Timestamp;
use pollux_config::{TelemetrySettings, TelemetryTarget};
use pollux_protocol::{Measurement, Observer, Origin};

use crate::attributes::Common;
use crate::events::Configuration;
use crate::outfile::Outfile;
use crate::service::Services;
use crate::worker::{Job, Worker};

#[cfg(test)]
mod tests;

/// Figures that wait to be written. More are dropped: a stalled disk must not stall the run.
const QUEUE: usize = 4096;

/// How long the last flush may take.
const FLUSH: Duration = Duration::from_secs(1);

/// What came of starting.
#[derive(Debug, Default)]
pub struct Started {
    /// The telemetry, when there is any.
    pub telemetry: Option<Telemetry>,
    /// One line for a person: telemetry is on, and yet nothing will be recorded.
    pub warning: Option<String>,
}

/// Writes what it observes. Observing returns at once; dropping it flushes.
#[derive(Debug)]
pub struct Telemetry {
    jobs: Mutex<Option<SyncSender<(Timestamp, Job)>>>,
    finished: Mutex<Receiver<()>>,
    dropped: AtomicU64,
}

impl Telemetry {
    /// Starts what the settings ask for: nothing when telemetry is off, a writer when there is an outfile. `services`
    /// tells who answers for the model that was asked for. Costs the opening of a file and the start of a thread.
    ///
    /// Collectors and Google Cloud are not served yet: then a warning says so.
    pub fn start(settings: &TelemetrySettings, common: Common, services: Services) -> Started {
        if !settings.enabled {
            return Started::default();
        }
        if settings.use_collector && settings.use_cli_auth {
            return refused("telemetry.useCollector and telemetry.useCliAuth exclude each other");
        }
        let Some(outfile) = &settings.outfile else {
            let target = match settings.target {
                TelemetryTarget::Gcp if !settings.use_collector => "Google Cloud".to_owned(),
                TelemetryTarget::Gcp | TelemetryTarget::Local => {
                    format!("the collector at {}", settings.otlp_endpoint)
                }
            };
            return refused(&format!(
                "{target} cannot be reached by this version; set telemetry.outfile to write to a file"
            ));
        };
        let outfile = match Outfile::open(Path::new(outfile)) {
            Ok(outfile) => outfile,
            Err(error) => return refused(&error.to_string()),
        };
        let (jobs, queue) = sync_channel(QUEUE);
        let (finish, finished) = sync_channel(1);
        let worker = Worker::new(outfile, common, services, settings.log_prompts);
        let spawned = thread::Builder::new().name("telemetry".to_owned()).spawn(move || {
            worker.run(&queue);
            // Nobody may be waiting any more.
            let _unheard = finish.send(());
        });
        match spawned {
            Ok(_detached) => Started {
                telemetry: Some(Self {
                    jobs: Mutex::new(Some(jobs)),
                    finished: Mutex::new(finished),
                    dropped: AtomicU64::new(0),
                }),
                warning: None,
            },
            Err(error) => refused(&error.to_string()),
        }
    }

    /// Records how the run was set up; the first event of a run.
    pub fn configured(&self, configuration: Configuration) {
        self.send(Job::Configuration(Box::new(configuration)));
    }

    /// Writes everything observed so far and the metrics, then ends. Takes at most a second; what is observed
    /// afterwards is dropped. Calling it again does nothing.
    pub fn shutdown(&self) {
        let jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner).take();
        if jobs.is_some() {
            drop(jobs);
            let finished = self.finished.lock().unwrap_or_else(PoisonError::into_inner);
            // A disk that stalls for longer must not keep the program from ending.
            let _late = finished.recv_timeout(FLUSH);
        }
    }

    /// Figures that were dropped because the queue was full.
    pub fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    fn send(&self, job: Job) {
        let jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(jobs) = &*jobs else { return };
        if let Err(TrySendError::Full(_)) = jobs.try_send((Timestamp::now(), job)) {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Observer for Telemetry {
    fn measure(&self, _origin: &Origin, measurement: &Measurement) {
        self.send(Job::Measured(Box::new(measurement.clone())));
    }
}

impl Drop for Telemetry {
    fn drop(&mut self) {
        self.shutdown();
    }
}

fn refused(reason: &str) -> Started {
    Started { telemetry: None, warning: Some(format!("Telemetry is not recorded: {reason}.")) }
}
