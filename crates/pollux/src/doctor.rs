//! `pollux doctor`: checks what a run needs, and names the culprit. Starts no session and calls no
//! model.

use std::path::Path;

use pollux_host::{Fault, Probe, RunOptions, Setup, SignInReport};
use pollux_protocol::SessionRequest;
use pollux_protocol::plain_text::harmless;
use serde_json::{Value, json};

use crate::arguments::DoctorArguments;
use crate::exit::Failure;
use crate::inspection::set_up_silently;
use crate::process::Process;

mod checks;

pub(crate) use checks::Check;
use checks::State;

/// Runs the checks. Returns the text for standard output, and the exit code: 1 if there is a
/// problem.
pub(crate) async fn answer(process: &Process, arguments: &DoctorArguments) -> (String, u8) {
    let checks = checks(process).await;
    let has_problem = checks.iter().any(|check| check.state == State::Problem);
    let text = if arguments.json { format!("{:#}", in_json(&checks)) } else { in_text(&checks) };
    (harmless(&text).into_owned() + "\n", u8::from(has_problem))
}

async fn checks(process: &Process) -> Vec<Check> {
    let setup = Process::folder().and_then(|folder| {
        set_up_silently(process, RunOptions::default(), SessionRequest::new(folder))
    });
    let setup = match setup {
        Ok(setup) => setup,
        Err(Failure { message, .. }) => {
            return vec![Check::problem("settings", message, "Repair the file.")];
        }
    };
    let mut checks = vec![Check::ok("settings", trust(&setup))];
    let (report, probe) = (setup.sign_in_report().await, setup.probe_service().await);
    checks.push(sign_in(&report));
    checks.extend(certificates(&setup));
    checks.extend(prices(&setup));
    match &probe {
        Some(probe) => checks.extend(service(probe)),
        None if report.used.is_some() => {
            checks.push(Check::skipped("service", "each run searches this machine for the model"));
        }
        None => checks.push(Check::skipped("service", "no service is configured")),
    }
    checks.extend(crate::mcp::check_servers(&setup).await);
    checks.push(state(&setup.places.gemini_dir()));
    checks
}

fn trust(setup: &Setup) -> String {
    let trust = if setup.loaded.trust.is_trusted() { "trusted" } else { "not trusted" };
    format!("all files can be read; this folder is {trust}")
}

fn sign_in(report: &SignInReport) -> Check {
    const NAME: &str = "sign-in";
    let Some(way) = report.ways.iter().find(|way| way.used) else {
        let detail = "no key is set and no sign-in is selected".to_owned();
        return Check::problem(NAME, detail, "Set GEMINI_API_KEY, or see docs/signing-in.md.");
    };
    let by = report.selected_by.as_deref().unwrap_or("by default");
    if way.ready {
        return Check::ok(NAME, format!("{} ({by})", way.name));
    }
    let reason = way.reason.as_deref().unwrap_or("credentials are missing");
    let detail = format!("{} ({by}): {reason}", way.name);
    Check::problem(NAME, detail, "Run auth status for all ways of signing in.")
}

/// Checks the files of certificates that the environment names.
fn certificates(setup: &Setup) -> Vec<Check> {
    let check = |variable: &&str| {
        let path = setup.loaded.environment.non_empty(variable)?;
        let detail = match pollux_fs::read_head(Path::new(path), 1 << 20) {
            Ok(bytes)
                if String::from_utf8_lossy(&bytes).contains("-----BEGIN CERTIFICATE-----") =>
            {
                return Some(Check::ok("certificates", format!("{variable} is {path}")));
            }
            Ok(_) => format!("{variable} is {path}, which contains no certificate in PEM format"),
            Err(error) => format!("{variable} is {path}: {error}"),
        };
        Some(Check::problem("certificates", detail, "Set it to a file in PEM format."))
    };
    ["SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS"].iter().filter_map(check).collect()
}

/// Checks the user's own table of models, if there is one.
fn prices(setup: &Setup) -> Option<Check> {
    const NAME: &str = "prices";
    match setup.own_prices() {
        Ok(None) => None,
        Ok(Some(path)) => Some(Check::ok(NAME, format!("{} can be read", path.display()))),
        Err(message) => Some(Check::problem(NAME, message, "Repair the file, or remove it.")),
    }
}

/// Returns the checks of the way to the service, up to the one that failed.
fn service(probe: &Probe) -> Vec<Check> {
    const STEPS: [(Fault, &str); 10] = [
        (Fault::Settings, "settings"),
        (Fault::Proxy, "proxy"),
        (Fault::Dns, "DNS"),
        (Fault::Connection, "connection"),
        (Fault::Certificates, "TLS"),
        (Fault::CertificateTime, "TLS"),
        (Fault::CertificateName, "TLS"),
        (Fault::ClientCertificate, "TLS"),
        (Fault::Credentials, "key"),
        (Fault::Quota, "quota"),
    ];
    let (service, address) = (&probe.service, &probe.address);
    let through = probe.proxy.as_ref().map(|proxy| format!(" through the proxy {proxy}"));
    let target = format!("{service} at {address}{}", through.unwrap_or_default());
    let mut checks = Vec::new();
    match &probe.fault {
        None => {
            let time = probe.duration.as_millis();
            checks.push(Check::ok("service", format!("{target} responds in {time} ms")));
        }
        Some((fault, message)) => {
            let step = STEPS.iter().find(|(step, _)| step == fault);
            let name = step.map_or("service", |(_, name)| *name);
            checks.push(Check::problem(name, format!("{target}: {message}"), remedy(*fault)));
        }
    }
    checks.extend(probe.clock_ahead.map(clock));
    checks
}

fn remedy(fault: Fault) -> &'static str {
    match fault {
        Fault::Settings => "Repair the variable or the setting that the message names.",
        Fault::Credentials => "Check the key, and that it belongs to this service.",
        Fault::Proxy => "Check HTTPS_PROXY; hosts that need no proxy belong into NO_PROXY.",
        Fault::Dns => "Check the network and the name; behind a proxy, set HTTPS_PROXY.",
        Fault::Connection => {
            "Check the network, a firewall, and the base URL; behind a proxy, set HTTPS_PROXY."
        }
        Fault::Certificates => {
            "Set SSL_CERT_FILE to a PEM file with the root certificate of this network."
        }
        Fault::CertificateTime => {
            "Check the clock of this machine; the operator of the service renews its certificate."
        }
        Fault::CertificateName => "Check the host name in the base URL.",
        Fault::ClientCertificate => {
            "Set pollux.tls.clientCertificate and pollux.tls.clientKey to a certificate of yours that the service accepts."
        }
        Fault::WebPage => {
            "Check the base URL; a proxy or the sign-in page of the network may answer instead of the service."
        }
        Fault::Quota => "Wait until the quota is reset, or choose another model with --model.",
        Fault::Service => "Try again later; check the base URL if you have set one.",
    }
}

/// Compares the clock: tokens of a machine with a wrong clock are refused.
fn clock(ahead: jiff::SignedDuration) -> Check {
    const TOLERANCE: u64 = 120;
    let seconds = ahead.as_secs().unsigned_abs();
    if seconds <= TOLERANCE {
        return Check::ok("clock", "agrees with that of the service".to_owned());
    }
    let direction = if ahead.is_positive() { "ahead of" } else { "behind" };
    let detail = format!("{seconds} s {direction} that of the service");
    Check::problem("clock", detail, "Set the clock of this machine (NTP).")
}

/// Measures the state in the user's folder.
fn state(folder: &Path) -> Check {
    const LARGE: u64 = 2 << 30;
    let (bytes, files, complete) = checks::size(folder);
    let more = if complete { "" } else { "more than " };
    let size = if bytes < 1 << 20 {
        format!("{} KiB", bytes >> 10)
    } else {
        format!("{} MiB", bytes >> 20)
    };
    let detail = format!("{more}{size} in {files} files in {}", folder.display());
    if bytes > LARGE || !complete {
        let remedy = "Delete old sessions with --delete-session.";
        Check::warning("state", detail, remedy)
    } else {
        Check::ok("state", detail)
    }
}

fn in_text(checks: &[Check]) -> String {
    let mut lines = Vec::new();
    for check in checks {
        let Check { name, state, detail, remedy } = check;
        let detail = detail.replace('\n', "\n                        ");
        lines.push(format!("{:8} {name:14} {detail}", state.as_str()));
        lines.extend(remedy.map(|remedy| format!("{:24}{remedy}", "")));
    }
    let culprit = checks.iter().find(|check| check.state == State::Problem);
    lines.push(String::new());
    lines.push(match culprit {
        Some(check) => format!("Culprit: {}.", check.name),
        None if checks.iter().any(|check| check.state == State::Warning) => {
            "No problem found that prevents a run.".to_owned()
        }
        None => "No problem found.".to_owned(),
    });
    lines.join("\n")
}

fn in_json(checks: &[Check]) -> Value {
    let culprit = checks.iter().find(|check| check.state == State::Problem);
    let items = checks.iter().map(|check| {
        json!({
            "name": check.name,
            "state": check.state.as_str(),
            "detail": check.detail,
            "remedy": check.remedy,
        })
    });
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "culprit": culprit.map(|check| check.name),
        "checks": items.collect::<Vec<_>>(),
    })
}
