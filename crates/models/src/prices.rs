//! Prices of models: a dated table that comes with the program, and the user's own table, which
//! takes precedence.
//!
//! Prices are US dollars for a million tokens. A model is named as for `--model`: without a vendor
//! for the Gemini API, `VENDOR/NAME` for all others. A name also matches its versions
//! (`gpt-4o-2024-08-06`), and a name that ends in `*` matches all names with that prefix. A model
//! that is in no table has no price: prices are never guessed.

use std::collections::HashMap;
use std::path::Path;
use std::sync::OnceLock;

use pollux_protocol::{Money, Price, Prices, Rates};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

#[cfg(test)]
mod tests;

/// Table that comes with the program.
const BUILT_IN: &str = include_str!("../prices.json");

/// Maximum size of a table that is read, in bytes.
const LARGEST: u64 = 1 << 20;

/// Billing id of models on the user's own machine, which cost nothing.
pub(crate) const LOCAL: &str = "local";

/// Error for a user's table that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("Cannot read the prices in {path}: {message}.")]
pub struct PricesError {
    /// Path of the file.
    pub path: String,
    /// Description of the problem, with line and column if available.
    pub message: String,
}

/// Table of prices.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PriceTable {
    /// Date of the prices.
    #[serde(default)]
    as_of: String,
    models: HashMap<String, Entry>,
}

/// Entry of a model: dollars for a million tokens in the file, stored as fractions of a dollar for
/// one token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    #[serde(deserialize_with = "rate")]
    input: u64,
    #[serde(default, deserialize_with = "some_rate")]
    cached: Option<u64>,
    #[serde(default, deserialize_with = "some_rate")]
    cache_write: Option<u64>,
    #[serde(deserialize_with = "rate")]
    output: u64,
    #[serde(default)]
    long: Option<Long>,
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
    /// A description of the problem, with line and column.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        serde_json::from_str(text).map_err(|error| error.to_string())
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
        let mut versionless = name;
        loop {
            if let Some(entry) = self.models.get(versionless) {
                return Some(entry.price());
            }
            match without_version(versionless) {
                Some(shorter) => versionless = shorter,
                None => break,
            }
        }
        let patterns = self.models.iter().filter_map(|(pattern, entry)| {
            let start = pattern.strip_suffix('*')?;
            name.starts_with(start).then_some((start.len(), entry))
        });
        patterns.max_by_key(|(length, _)| *length).map(|(_, entry)| entry.price())
    }
}

impl Entry {
    fn price(&self) -> Price {
        let rates = |input, cached: Option<u64>, cache_write: Option<u64>, output| Rates {
            input,
            cached: cached.unwrap_or(input),
            cache_write: cache_write.unwrap_or(input),
            output,
        };
        let long = |long: Long| {
            (long.above, rates(long.input, long.cached, long.cache_write, long.output))
        };
        Price {
            rates: rates(self.input, self.cached, self.cache_write, self.output),
            long: self.long.map(long),
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

/// Prices of the user and prices that come with the program; those of the user take precedence.
#[derive(Debug, Clone, Default)]
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

impl Prices for PriceBook {
    fn price(&self, vendor: &str, model: &str) -> Option<Price> {
        let model = model.trim_start_matches("models/");
        let full = if vendor.is_empty() { model.to_owned() } else { format!("{vendor}/{model}") };
        if let Some(price) = self.own.find(&full) {
            return Some(price);
        }
        if vendor == LOCAL {
            return Some(Price::FREE);
        }
        built_in().find(&full)
    }
}
