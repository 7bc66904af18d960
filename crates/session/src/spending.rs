//! Spending of the current day in all processes together, stored in one small file.
//!
//! Days are local days. The file holds the current day and the two latest others, so that two
//! processes that see different days (in different time zones) do not delete each other's records.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use jiff::Zoned;
use jiff::civil::Date;
use pollux_fs::{DirLock, WriteOptions};
use pollux_protocol::{Amounts, Booked, DayEntry, DayLedger, LedgerError, Period, Resource};
use serde_json::{Map, Value, json};

#[cfg(test)]
mod tests;

/// Maximum size of the file that is read, in bytes; files of Pollux have some hundred bytes.
const LARGEST: u64 = 64 << 10;

/// Maximum time that another process may lock the file. Normally it takes milliseconds.
const LOCK_TIMEOUT: Duration = Duration::from_secs(5);

/// Number of days that are kept in addition to the current one.
const OTHER_DAYS: usize = 2;

/// Spending ledger in a file.
#[derive(Clone)]
pub struct SpendingFile {
    path: PathBuf,
    today: Arc<dyn Fn() -> Date + Send + Sync>,
}

impl SpendingFile {
    /// Creates a ledger with this file, which need not exist.
    pub fn new(path: PathBuf) -> Self {
        Self::with_clock(path, Arc::new(|| Zoned::now().date()))
    }

    fn with_clock(path: PathBuf, today: Arc<dyn Fn() -> Date + Send + Sync>) -> Self {
        Self { path, today }
    }

    fn book_now(&self, entry: &DayEntry) -> Result<Booked, LedgerError> {
        let failed = |error: pollux_fs::Error| LedgerError {
            path: self.path.display().to_string(),
            message: error.to_string(),
        };
        if let Some(folder) = self.path.parent() {
            pollux_fs::create_private_directories(folder).map_err(failed)?;
        }
        let _lock = DirLock::acquire(&self.path, LOCK_TIMEOUT).map_err(failed)?;
        let (mut days, warning) = self.read().map_err(failed)?;
        let today = (self.today)();
        let before = days.remove(&today).unwrap_or_default();
        let spent = before.minus(entry.given_back).plus(entry.spent);
        let exceeded = entry.ceilings.check(Period::Day, spent, entry.wanted);
        // Time is checked, but not booked in advance, because it passes by itself.
        let held = entry.wanted.with(Resource::Seconds, 0);
        let after = if exceeded.is_none() { spent.plus(held) } else { spent };
        if after != before || warning.is_some() {
            while days.len() > OTHER_DAYS {
                days.pop_first();
            }
            days.insert(today, after);
            // Every prompt of every session waits for this write.
            let options = WriteOptions { without_sync: true, ..WriteOptions::private() };
            pollux_fs::write_atomic(&self.path, &render(&days), &options).map_err(failed)?;
        }
        Ok(Booked { spent, exceeded, warning })
    }

    /// Reads the file. Invalid content is set aside, and a warning for the user is returned.
    fn read(&self) -> Result<(BTreeMap<Date, Amounts>, Option<String>), pollux_fs::Error> {
        let read = match pollux_fs::read_bytes(&self.path, LARGEST) {
            Ok(bytes) => parse(&bytes),
            Err(error) if error.is_not_found() => return Ok((BTreeMap::new(), None)),
            Err(error @ pollux_fs::Error::TooLarge { .. }) => Err(error.to_string()),
            Err(error) => return Err(error),
        };
        match read {
            Ok(days) => Ok((days, None)),
            Err(reason) => {
                let aside = self.aside();
                pollux_fs::rename(&self.path, &aside)?;
                let warning = format!(
                    "Cannot read {} ({reason}). It was renamed to {}. The amounts spent earlier today are not known, so the budget of the day does not include them.",
                    self.path.display(),
                    aside.display()
                );
                Ok((BTreeMap::new(), Some(warning)))
            }
        }
    }

    fn aside(&self) -> PathBuf {
        let mut name = self.path.file_name().unwrap_or_default().to_owned();
        name.push(".broken");
        self.path.with_file_name(name)
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

#[async_trait]
impl DayLedger for SpendingFile {
    async fn book(&self, entry: DayEntry) -> Result<Booked, LedgerError> {
        let (ledger, path) = (self.clone(), self.path.display().to_string());
        let work = tokio::task::spawn_blocking(move || ledger.book_now(&entry));
        work.await.unwrap_or_else(|error| Err(LedgerError { path, message: error.to_string() }))
    }
}

/// Returns the bytes of the file: amounts in the units of the settings.
fn render(days: &BTreeMap<Date, Amounts>) -> Vec<u8> {
    let day = |amounts: &Amounts| {
        let number = |resource: Resource| match resource {
            Resource::Usd | Resource::Seconds => json!(resource.number(amounts.get(resource))),
            _ => json!(amounts.get(resource)),
        };
        let pairs = Resource::ALL.map(|resource| (resource.key().to_owned(), number(resource)));
        Value::Object(pairs.into_iter().collect())
    };
    let days: Map<String, Value> =
        days.iter().map(|(date, amounts)| (date.to_string(), day(amounts))).collect();
    format!("{}\n", json!({ "days": days })).into_bytes()
}

fn parse(bytes: &[u8]) -> Result<BTreeMap<Date, Amounts>, String> {
    let value: Value = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    let days = value.get("days").and_then(Value::as_object).ok_or("it has no \"days\"")?;
    let day = |(date, amounts): (&String, &Value)| {
        let date: Date = date.parse().map_err(|_| format!("{date:?} is not a date"))?;
        Ok((date, parse_day(amounts).ok_or_else(|| format!("{date} has invalid amounts"))?))
    };
    days.iter().map(day).collect()
}

/// Parses the amounts of a day; `None` if one of them is invalid. A missing amount counts as zero.
fn parse_day(day: &Value) -> Option<Amounts> {
    let day = day.as_object()?;
    Resource::ALL.into_iter().try_fold(Amounts::default(), |amounts, resource| {
        let Some(value) = day.get(resource.key()) else { return Some(amounts) };
        let amount = match (resource, value.as_f64()?) {
            (Resource::Usd | Resource::Seconds, number) => resource.amount(number)?,
            _ => value.as_u64()?,
        };
        Some(amounts.with(resource, amount))
    })
}
