//! Telemetry of a run, from its start to its last flush.

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

/// Maximum number of queued measurements. Further ones are dropped: a stalled disk must not stall
/// the run.
const QUEUE: usize = 4096;

/// Maximum duration of the last flush.
const FLUSH: Duration = Duration::from_secs(1);

/// Result of starting the telemetry.
#[derive(Debug, Default)]
pub struct Started {
    /// The telemetry, if any.
    pub telemetry: Option<Telemetry>,
    /// Warning of one line for the user: telemetry is on, but nothing will be recorded.
    pub warning: Option<String>,
}

/// Observer that writes measurements to a file. Observing returns immediately; dropping the value
/// flushes.
#[derive(Debug)]
pub struct Telemetry {
    jobs: Mutex<Option<SyncSender<(Timestamp, Job)>>>,
    finished: Mutex<Receiver<()>>,
    dropped: AtomicU64,
}

impl Telemetry {
    /// Starts the telemetry as the settings request: nothing if telemetry is off, a writer if there
    /// is an outfile. `services` returns the service of the requested model. Opens a file and
    /// starts a thread.
    ///
    /// Collectors and Google Cloud are not supported yet; settings that request them give a
    /// warning.
    pub fn start(settings: &TelemetrySettings, common: Common, services: Services) -> Started {
        if !settings.enabled {
            return Started::default();
        }
        if settings.use_collector && settings.use_cli_auth {
            return refused("telemetry.useCollector and telemetry.useCliAuth cannot be combined");
        }
        let Some(outfile) = &settings.outfile else {
            let target = match settings.target {
                TelemetryTarget::Gcp if !settings.use_collector => "Google Cloud".to_owned(),
                TelemetryTarget::Gcp | TelemetryTarget::Local => {
                    format!("the collector at {}", settings.otlp_endpoint)
                }
            };
            return refused(&format!(
                "this version cannot send to {target}; set telemetry.outfile to write to a file"
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
            // The receiver may have stopped waiting.
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

    /// Records the setup of the run as its first event.
    pub fn configured(&self, configuration: Configuration) {
        self.send(Job::Configuration(Box::new(configuration)));
    }

    /// Writes all queued measurements and the metrics, then ends. Takes at most one second; later
    /// measurements are dropped. A second call does nothing.
    pub fn shutdown(&self) {
        let jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner).take();
        if jobs.is_some() {
            drop(jobs);
            let finished = self.finished.lock().unwrap_or_else(PoisonError::into_inner);
            // A disk that stalls for longer than this must not prevent the program from exiting.
            let _late = finished.recv_timeout(FLUSH);
        }
    }

    /// Returns the number of measurements dropped because the queue was full.
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
