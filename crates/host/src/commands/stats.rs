//! `/stats`: the figures of the session.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use pollux_protocol::plain_text::visible;
use pollux_protocol::{Command, CommandContext, CommandError, Money, Op};
use pollux_session::Statistics;
use serde_json::{Map, Value};

use super::{about, continuations, fields, table_of};
use crate::setup::Setup;

const USAGE: &str = "Usage: /stats session, /stats model, or /stats tools";

/// `/stats`, with the statistics of the session.
pub(super) struct Stats {
    pub(super) setup: Arc<Setup>,
    pub(super) statistics: Arc<Statistics>,
}

#[async_trait]
impl Command for Stats {
    fn name(&self) -> &'static str {
        "stats"
    }

    fn aliases(&self) -> &[&str] {
        &["usage"]
    }

    fn description(&self) -> &'static str {
        "show tokens, cost, calls and times of this session"
    }

    fn arguments(&self) -> Option<&str> {
        Some("[session|model|tools]")
    }

    fn runs_while_working(&self) -> bool {
        true
    }

    fn needs_user(&self) -> bool {
        true
    }

    async fn complete(&self, partial: &str) -> Vec<String> {
        continuations(partial, ["session", "model", "tools"])
    }

    async fn run(&self, context: CommandContext) -> Result<Option<Op>, CommandError> {
        let stats = self.statistics.stats();
        let text = match context.arguments.trim() {
            "" | "session" => {
                let past = Timestamp::now().duration_since(self.setup.began);
                let facts = [
                    ("Session", context.session.session.to_string()),
                    ("Sign-in", about::sign_in(&self.setup)),
                    ("Time", time(past.unsigned_abs())),
                ];
                session(&stats, &facts)
            }
            "model" => models(&stats),
            "tools" => tools(&stats),
            _ => return Err(CommandError(USAGE.to_owned())),
        };
        context.say(text);
        Ok(None)
    }
}

/// Formats the `stats` of JSON output: facts, calls, times, and a table of the models.
fn session(stats: &Value, facts: &[(&str, String)]) -> String {
    let tools = &stats["tools"];
    let (calls, succeeded) = (number(&tools["totalCalls"]), number(&tools["totalSuccess"]));
    let mut rows: Vec<(&str, String)> = facts.to_vec();
    let models = stats["models"].as_object();
    let milliseconds = |model: &Value| number(&model["api"]["totalLatencyMs"]);
    let asked: u64 = models.into_iter().flat_map(Map::values).map(milliseconds).sum();
    let worked = number(&tools["totalDurationMs"]);
    let shared = |part: u64| {
        format!("{} ({})", time(Duration::from_millis(part)), percent(part, asked + worked))
    };
    if asked + worked > 0 {
        rows.push(("  models", shared(asked)));
        rows.push(("  tools", shared(worked)));
    }
    if calls > 0 {
        let failed = number(&tools["totalFail"]);
        let rate = percent(succeeded, calls);
        rows.push(("Calls", format!("{calls} ({succeeded} succeeded, {failed} failed: {rate})")));
        let decisions = &tools["totalDecisions"];
        let [yes, no, changed] =
            ["accept", "reject", "modify"].map(|decision| number(&decisions[decision]));
        if yes + no + changed > 0 {
            let all = yes + no + changed;
            let agreed = percent(yes + changed, all);
            rows.push(("Agreement", format!("{agreed} ({all} reviewed, {no} refused)")));
        }
    } else {
        rows.push(("Calls", "0".to_owned()));
    }
    let files = &stats["files"];
    let (added, removed) = (number(&files["totalLinesAdded"]), number(&files["totalLinesRemoved"]));
    rows.push(("Lines", format!("+{added} -{removed}")));
    rows.push(("Cost", cost(stats)));
    format!("{}\n\n{}", fields(rows), models_table(stats))
}

/// Returns a table of the models, one row for each.
fn models_table(stats: &Value) -> String {
    let Some(models) = stats["models"].as_object().filter(|models| !models.is_empty()) else {
        return "No requests yet.".to_owned();
    };
    let mut rows = vec![
        ["Model", "Requests", "Input", "Cached", "Output", "Cost"].map(str::to_owned).to_vec(),
    ];
    for (name, model) in models {
        let tokens = &model["tokens"];
        rows.push(vec![
            visible(name),
            number(&model["api"]["totalRequests"]).to_string(),
            grouped(number(&tokens["prompt"])),
            grouped(number(&tokens["cached"])),
            grouped(number(&tokens["candidates"])),
            cost(model),
        ]);
    }
    table_of(&rows)
}

/// Formats everything about each model.
fn models(stats: &Value) -> String {
    let Some(models) = stats["models"].as_object().filter(|models| !models.is_empty()) else {
        return "No requests yet.".to_owned();
    };
    let one = |(name, model): (&String, &Value)| {
        let (api, tokens) = (&model["api"], &model["tokens"]);
        let requests = number(&api["totalRequests"]);
        let errors = number(&api["totalErrors"]);
        let milliseconds = number(&api["totalLatencyMs"]);
        let average = milliseconds.checked_div(requests).unwrap_or_default();
        let (input, cached) = (number(&tokens["prompt"]), number(&tokens["cached"]));
        let rows = [
            ("Requests", requests.to_string()),
            ("Errors", format!("{errors} ({})", percent(errors, requests))),
            ("Average time", time(Duration::from_millis(average))),
            ("Tokens", grouped(number(&tokens["total"]))),
            ("  input", grouped(input)),
            ("  cached", format!("{} ({})", grouped(cached), percent(cached, input))),
            ("  thoughts", grouped(number(&tokens["thoughts"]))),
            ("  tool", grouped(number(&tokens["tool"]))),
            ("  output", grouped(number(&tokens["candidates"]))),
            ("Cost", cost(model)),
        ];
        format!("{}\n{}", visible(name), fields(rows))
    };
    models.iter().map(one).collect::<Vec<_>>().join("\n\n")
}

/// Formats the calls of each tool.
fn tools(stats: &Value) -> String {
    let tools = &stats["tools"];
    let Some(by_name) = tools["byName"].as_object().filter(|by_name| !by_name.is_empty()) else {
        return "No calls of tools yet.".to_owned();
    };
    let mut rows = vec![["Tool", "Calls", "Succeeded", "Average"].map(str::to_owned).to_vec()];
    for (name, tool) in by_name {
        let count = number(&tool["count"]);
        let average = number(&tool["durationMs"]).checked_div(count).unwrap_or_default();
        rows.push(vec![
            visible(name),
            count.to_string(),
            percent(number(&tool["success"]), count),
            time(Duration::from_millis(average)),
        ]);
    }
    let decisions = &tools["totalDecisions"];
    let decided = ["accept", "reject", "modify", "auto_accept"];
    let decided = decided.map(|decision| number(&decisions[decision]));
    format!(
        "{}\n\nAccepted: {}, changed: {}, refused: {}, accepted automatically: {}",
        table_of(&rows),
        decided[0],
        decided[2],
        decided[1],
        decided[3],
    )
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_default()
}

/// Formats a share: `66.7 %`.
fn percent(part: u64, whole: u64) -> String {
    let share = if whole == 0 { 0.0 } else { part as f64 / whole as f64 };
    format!("{:.1} %", share * 100.0)
}

/// Formats a number with commas: `1,024`.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// Formats a duration: `3.2 s`, `2 min 5 s`, `1 h 3 min`.
fn time(duration: Duration) -> String {
    match duration.as_secs() {
        0..60 => format!("{:.1} s", duration.as_secs_f64()),
        seconds @ 60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        seconds => format!("{} h {} min", seconds / 3600, seconds / 60 % 60),
    }
}

fn cost(stats: &Value) -> String {
    let money = stats["cost"].as_f64().and_then(Money::from_usd);
    let estimated = if stats["cost_estimated"] == true { " (estimated)" } else { "" };
    money.map_or_else(|| "unknown".to_owned(), |money| format!("{money}{estimated}"))
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;

    #[test]
    fn figures_in_words() {
        let empty = Statistics::new().stats();
        assert_eq!(
            session(&empty, &[]),
            "Calls  0\nLines  +0 -0\nCost   $0.00\n\nNo requests yet."
        );
        assert_eq!(models(&empty), "No requests yet.");
        assert_eq!(tools(&empty), "No calls of tools yet.");
        let stats = json!({
            "models": {"m-1": {
                "api": {"totalRequests": 2, "totalErrors": 1, "totalLatencyMs": 3000},
                "tokens": {"prompt": 12000, "cached": 3000, "candidates": 50, "total": 12050},
                "cost": 0.25,
            }},
            "tools": {
                "totalCalls": 3, "totalSuccess": 2, "totalFail": 1, "totalDurationMs": 1000,
                "totalDecisions": {"accept": 1, "reject": 1, "modify": 0, "auto_accept": 1},
                "byName": {"ls": {"count": 3, "success": 2, "durationMs": 1000}},
            },
            "files": {"totalLinesAdded": 4, "totalLinesRemoved": 2},
            "cost": null,
        });
        let facts = [("Time", time(Duration::from_secs(65)))];
        assert_eq!(
            session(&stats, &facts),
            "Time       1 min 5 s\n  models   3.0 s (75.0 %)\n  tools    1.0 s (25.0 %)\n\
             Calls      3 (2 succeeded, 1 failed: 66.7 %)\nAgreement  50.0 % (2 reviewed, 1 refused)\n\
             Lines      +4 -2\nCost       unknown\n\n\
             Model  Requests   Input  Cached  Output     Cost\n\
             m-1           2  12,000   3,000      50  $0.2500"
        );
        assert!(models(&stats).contains("Errors        1 (50.0 %)\nAverage time  1.5 s\n"));
        assert!(
            tools(&stats)
                .starts_with("Tool  Calls  Succeeded  Average\nls        3     66.7 %    0.3 s\n")
        );
    }

    #[test]
    fn numbers_have_commas() {
        let texts = [0, 999, 1000, 1_234_567].map(grouped);
        assert_eq!(texts, ["0", "999", "1,000", "1,234,567"]);
    }
}
