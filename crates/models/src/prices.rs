//! Prices of models: a dated table that comes with the program, and the user's own table, which
//! takes precedence and may also have the other properties of models.
//!
//! Prices are US dollars for a million tokens. A model is named as for `--model`: without a vendor
//! for the Gemini API, `VENDOR/NAME` for all others. A name also matches its versions
//! (`gpt-4o-2024-08-06`), and a name that ends in `*` matches all names with that prefix. A
//! property that no matching entry has is unknown: nothing is guessed.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::num::NonZeroU64;
use std::path::Path;
use std::sync::OnceLock;

use jiff::civil::Date;
use pollux_protocol::{ListingOrigin, ModelDates, Money, Price, Prices, Rates};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use crate::catalog::ModelFacts;

#[cfg(test)]
mod tests;

/// Table that comes with the program.
const BUILT_IN: &str = include_str!("../prices.json");

/// Maximum size of a table that is read, in bytes.
const LARGEST: u64 = 1 << 20;

/// Prefix and billing id of models on servers of the user's own machine, which cost nothing.
pub(crate) const LOCAL: &str = "local";

/// Error for a user's table that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("Cannot read the table of models in {path}: {message}.")]
pub struct PricesError {
    /// Path of the file.
    pub path: String,
    /// Description of the problem, with key, line and column if available.
    pub message: String,
}

/// Table of prices and other properties of models.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PriceTable {
    /// Date of the prices.
    #[serde(default)]
    as_of: String,
    models: HashMap<String, Entry>,
}

/// Entry of a model, or of all models whose names match.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "WireEntry")]
struct Entry {
    price: Option<Price>,
    facts: ModelFacts,
    dates: ModelDates,
}

/// Entry as in the file. Prices are dollars for a million tokens there, and fractions of a dollar
/// for one token here.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WireEntry {
    #[serde(default, deserialize_with = "some_rate")]
    input: Option<u64>,
    #[serde(default, deserialize_with = "some_rate")]
    cached: Option<u64>,
    #[serde(default, deserialize_with = "some_rate")]
    cache_write: Option<u64>,
    #[serde(default, deserialize_with = "some_rate")]
    output: Option<u64>,
    #[serde(default)]
    long: Option<Long>,
    #[serde(default)]
    context: Option<NonZeroU64>,
    #[serde(default)]
    max_output: Option<NonZeroU64>,
    #[serde(default)]
    tools: Option<bool>,
    #[serde(default)]
    vision: Option<bool>,
    #[serde(default)]
    reasoning: Option<bool>,
    #[serde(default)]
    released: Option<Date>,
    #[serde(default)]
    retires: Option<Date>,
}

/// Prices of requests with more tokens than `above`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Long {
    above: u64,
    #[serde(deserialize_with = "rate")]
    input: u64,
    #[serde(default, deserialize_with = "some_rate")]
    cached: Option<u64>,
    #[serde(default, deserialize_with = "some_rate")]
    cache_write: Option<u64>,
    #[serde(deserialize_with = "rate")]
    output: u64,
}

/// Maximum price of a million tokens, in dollars; a higher price must be a mistake.
const DEAREST: f64 = 1e6;

fn rate<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    let usd = f64::deserialize(deserializer)?;
    Money::from_usd(usd)
        .filter(|_| usd <= DEAREST)
        // Price of one token: one millionth of the price of a million tokens.
        .map(|million| million.parts() / 1_000_000)
        .ok_or_else(|| D::Error::custom("a price must be a number of dollars from 0 to 1000000"))
}

fn some_rate<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    rate(deserializer).map(Some)
}

impl PriceTable {
    /// Parses a table.
    ///
    /// # Errors
    /// A description of the problem, with key, line and column.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut json = serde_json::Deserializer::from_str(text);
        let table = serde_path_to_error::deserialize(&mut json).map_err(|error| {
            let key = error.path().to_string();
            // A single dot is the table itself.
            if key == "." { error.inner().to_string() } else { format!("{key}: {}", error.inner()) }
        })?;
        json.end().map_err(|error| error.to_string())?;
        Ok(table)
    }

    /// Returns the names in the table that are not patterns, sorted.
    fn names(&self) -> Vec<&str> {
        let names = self.models.keys().map(String::as_str);
        let mut names: Vec<&str> = names.filter(|name| !name.ends_with('*')).collect();
        names.sort_unstable();
        names
    }

    /// Returns the price of a model by its full name; versions and patterns are matched.
    pub fn find(&self, name: &str) -> Option<Price> {
        self.entries(name).find_map(|entry| entry.price)
    }

    /// Returns the properties of a model by its full name, except its price. Each property is that
    /// of the most specific entry that has it.
    pub fn facts(&self, name: &str) -> ModelFacts {
        self.entries(name).fold(ModelFacts::default(), |facts, entry| facts.or(entry.facts))
    }

    /// Returns the entries of a model by its full name, the most specific one first: that of the
    /// name, those of the name without its version, and the patterns by their lengths.
    fn entries<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Entry> {
        let names = std::iter::successors(Some(name), |name| without_version(name));
        let named = names.filter_map(|name| self.models.get(name));
        let patterns = self.models.iter().filter_map(|(pattern, entry)| {
            let start = pattern.strip_suffix('*')?;
            name.starts_with(start).then_some((start.len(), entry))
        });
        let mut patterns: Vec<(usize, &Entry)> = patterns.collect();
        patterns.sort_unstable_by_key(|(length, _)| Reverse(*length));
        named.chain(patterns.into_iter().map(|(_, entry)| entry))
    }
}

impl TryFrom<WireEntry> for Entry {
    type Error = &'static str;

    fn try_from(wire: WireEntry) -> Result<Self, Self::Error> {
        let facts = ModelFacts {
            context: wire.context.map(NonZeroU64::get),
            max_output: wire.max_output.map(NonZeroU64::get),
            tools: wire.tools,
            vision: wire.vision,
            reasoning: wire.reasoning,
            adaptive_thinking: false,
        };
        let date = |date: Option<Date>| date.map(|date| date.to_string());
        let dates = ModelDates { released: date(wire.released), retires: date(wire.retires) };
        Ok(Self { price: wire.price()?, facts, dates })
    }
}

impl WireEntry {
    /// Returns the price, if the entry has one.
    fn price(&self) -> Result<Option<Price>, &'static str> {
        let rates = |input, cached: Option<u64>, cache_write: Option<u64>, output| Rates {
            input,
            cached: cached.unwrap_or(input),
            cache_write: cache_write.unwrap_or(input),
            output,
        };
        let long = |long: Long| {
            (long.above, rates(long.input, long.cached, long.cache_write, long.output))
        };
        match (self.input, self.output) {
            (Some(input), Some(output)) => Ok(Some(Price {
                rates: rates(input, self.cached, self.cache_write, output),
                long: self.long.map(long),
            })),
            (None, None) if self.cached.or(self.cache_write).is_none() && self.long.is_none() => {
                Ok(None)
            }
            _ => Err("a price needs `input` and `output`"),
        }
    }
}

/// Returns the name without its last part, if this part looks like a version: a date, a three-digit
/// number, `latest`, `preview`. A single digit belongs to the name.
fn without_version(name: &str) -> Option<&str> {
    let (rest, last) = name.rsplit_once(['-', '@'])?;
    let is_number = last.len() > 1 && last.bytes().all(|byte| byte.is_ascii_digit());
    (is_number || matches!(last, "latest" | "preview" | "exp")).then_some(rest)
}

/// Table of the user and table that comes with the program; that of the user takes precedence.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PriceBook {
    own: PriceTable,
}

impl PriceBook {
    /// Reads the user's table; a missing file counts as an empty table.
    ///
    /// # Errors
    /// The file exists and cannot be used.
    pub fn load(path: &Path) -> Result<Self, PricesError> {
        let failed = |message: String| PricesError { path: path.display().to_string(), message };
        let bytes = match pollux_fs::read_bytes(path, LARGEST) {
            Ok(bytes) => bytes,
            // A home directory that is not a directory counts as "file not found".
            Err(error) if error.is_not_found() || error.code() == "ENOTDIR" => {
                return Ok(Self::default());
            }
            Err(error) => return Err(failed(error.to_string())),
        };
        let text =
            String::from_utf8(bytes).map_err(|_| failed("it is not UTF-8 text".to_owned()))?;
        Ok(Self { own: PriceTable::parse(&text).map_err(failed)? })
    }

    /// Returns the names of a vendor's models that have their own price, without the vendor prefix.
    /// An empty vendor means the Gemini API.
    pub(crate) fn names<'a>(&'a self, vendor: &'a str) -> impl Iterator<Item = &'a str> {
        let names = self.own.names().into_iter().chain(built_in().names());
        names.filter_map(move |name| {
            if vendor.is_empty() {
                return (!name.contains('/')).then_some(name);
            }
            name.strip_prefix(vendor)?.strip_prefix('/')
        })
    }

    /// Returns the full names in the user's table that are not patterns, sorted.
    pub fn own_names(&self) -> Vec<&str> {
        self.own.names()
    }

    /// Returns the properties of a vendor's model in the user's table.
    pub(crate) fn facts(&self, vendor: &str, model: &str) -> ModelFacts {
        self.own.facts(&full_name(vendor, model))
    }

    /// Returns the dates of a vendor's model in the user's table.
    pub(crate) fn dates(&self, vendor: &str, model: &str) -> ModelDates {
        let name = full_name(vendor, model);
        let date = |date: fn(&ModelDates) -> &Option<String>| {
            self.own.entries(&name).find_map(|entry| date(&entry.dates).clone())
        };
        ModelDates {
            released: date(|dates| &dates.released),
            retires: date(|dates| &dates.retires),
        }
    }

    /// Returns the origin of what is known about a vendor's model.
    pub(crate) fn origin(&self, vendor: &str, model: &str) -> ListingOrigin {
        match self.own.entries(&full_name(vendor, model)).next() {
            Some(_) => ListingOrigin::User,
            None if vendor == LOCAL => ListingOrigin::Server,
            None => ListingOrigin::BuiltIn,
        }
    }

    /// Returns the date of the prices that come with the program.
    pub fn as_of() -> &'static str {
        &built_in().as_of
    }
}

/// Returns the built-in table, which is parsed on first use.
fn built_in() -> &'static PriceTable {
    static TABLE: OnceLock<PriceTable> = OnceLock::new();
    // A test checks that the table can be parsed.
    TABLE.get_or_init(|| PriceTable::parse(BUILT_IN).unwrap_or_default())
}

/// Returns the name of a model in the tables. An empty vendor means the Gemini API.
fn full_name(vendor: &str, model: &str) -> String {
    let model = model.trim_start_matches("models/");
    if vendor.is_empty() { model.to_owned() } else { format!("{vendor}/{model}") }
}

impl Prices for PriceBook {
    fn price(&self, vendor: &str, model: &str) -> Option<Price> {
        let full = full_name(vendor, model);
        if let Some(price) = self.own.find(&full) {
            return Some(price);
        }
        if vendor == LOCAL {
            return Some(Price::FREE);
        }
        built_in().find(&full)
    }
}
