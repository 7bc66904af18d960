//! Typed access to the fields of one table of a policy file.

use pollux_protocol::{ApprovalMode, ConfinementLevel};
use serde_json::{Map, Number, Value};
use toml::de::{DeTable, DeValue};

use crate::rule::Modes;

/// Error at a byte of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) at: usize,
    pub(crate) message: String,
}

/// Table of a file.
pub(crate) struct Fields<'a, 'i> {
    pub(crate) table: &'a DeTable<'i>,
    /// Byte offset of its start.
    pub(crate) at: usize,
}

impl<'i> Fields<'_, 'i> {
    fn get(&self, key: &str) -> Option<&DeValue<'i>> {
        let found = self.table.iter().find(|(name, _)| name.get_ref().as_ref() == key);
        found.map(|(_, value)| value.get_ref())
    }

    /// Returns the byte range of a field's value.
    pub(crate) fn span(&self, key: &str) -> Option<std::ops::Range<usize>> {
        let found = self.table.iter().find(|(name, _)| name.get_ref().as_ref() == key);
        found.map(|(_, value)| value.span())
    }

    /// Creates an error about a field.
    pub(crate) fn fault(&self, key: &str, message: &str) -> Fault {
        let found = self.table.iter().find(|(name, _)| name.get_ref().as_ref() == key);
        let at = found.map_or(self.at, |(_, value)| value.span().start);
        Fault { at, message: format!("{key} {message}") }
    }

    /// Returns a string.
    pub(crate) fn text(&self, key: &str) -> Result<Option<String>, Fault> {
        match self.get(key) {
            None => Ok(None),
            Some(DeValue::String(text)) => Ok(Some(text.clone().into_owned())),
            Some(_) => Err(self.fault(key, "must be a string")),
        }
    }

    /// Returns a confinement level.
    pub(crate) fn confinement(&self) -> Result<Option<ConfinementLevel>, Fault> {
        let Some(name) = self.text("confinement")? else { return Ok(None) };
        let names = ConfinementLevel::ALL.map(ConfinementLevel::as_str).join(", ");
        let level = ConfinementLevel::named(&name);
        level.map(Some).ok_or_else(|| self.fault("confinement", &format!("must be one of {names}")))
    }

    /// Returns a string or a list of strings, with true for a list.
    pub(crate) fn texts(&self, key: &str) -> Result<Option<(Vec<String>, bool)>, Fault> {
        let DeValue::Array(items) = (match self.get(key) {
            None => return Ok(None),
            Some(DeValue::String(text)) => {
                return Ok(Some((vec![text.clone().into_owned()], false)));
            }
            Some(value) => value,
        }) else {
            return Err(self.fault(key, "must be a string or an array of strings"));
        };
        let mut texts = Vec::with_capacity(items.len());
        for item in items {
            match item.get_ref() {
                DeValue::String(text) => texts.push(text.clone().into_owned()),
                _ => return Err(self.fault(key, "must be a string or an array of strings")),
            }
        }
        Ok(Some((texts, true)))
    }

    /// Returns a boolean.
    pub(crate) fn truth(&self, key: &str) -> Result<Option<bool>, Fault> {
        match self.get(key) {
            None => Ok(None),
            Some(DeValue::Boolean(truth)) => Ok(Some(*truth)),
            Some(_) => Err(self.fault(key, "must be true or false")),
        }
    }

    /// Returns a boolean that has one of two names; the first name has precedence.
    pub(crate) fn either_truth(&self, key: &str, other: &str) -> Result<bool, Fault> {
        Ok(self.truth(key)?.or(self.truth(other)?).unwrap_or(false))
    }

    /// Returns a string that has one of two names; the first name has precedence.
    pub(crate) fn either_text(&self, key: &str, other: &str) -> Result<Option<String>, Fault> {
        Ok(self.text(key)?.or(self.text(other)?))
    }

    /// Returns an integer.
    pub(crate) fn integer(&self, key: &str) -> Result<Option<i64>, Fault> {
        let whole = "must be an integer";
        match self.get(key) {
            None => Ok(None),
            Some(DeValue::Integer(number)) => {
                let value = i64::from_str_radix(number.as_str(), number.radix());
                value.map(Some).map_err(|_| self.fault(key, whole))
            }
            // JavaScript treats a number without a fraction as an integer.
            Some(DeValue::Float(number)) => match number.as_str().parse::<f64>() {
                Ok(value) if value.fract() == 0.0 && value.abs() < 1e15 => Ok(Some(value as i64)),
                _ => Err(self.fault(key, whole)),
            },
            Some(_) => Err(self.fault(key, "must be a number")),
        }
    }

    /// Returns the priority of a rule.
    pub(crate) fn priority(&self) -> Result<u16, Fault> {
        let key = "priority";
        match self.integer(key)? {
            None => Err(self.fault(key, "is required")),
            Some(value) if value < 0 => Err(self.fault(key, "must be >= 0")),
            Some(value) if value > 999 => Err(self.fault(
                key,
                "must be <= 999 to prevent tier overflow. Priorities rank rules within their tier only.",
            )),
            Some(value) => Ok(value as u16),
        }
    }

    /// Returns the modes.
    pub(crate) fn modes(&self) -> Result<Modes, Fault> {
        let key = "modes";
        let message = "must be an array of default, autoEdit, yolo and plan";
        let words = match self.texts(key)? {
            None => return Ok(Modes::default()),
            Some((_, false)) => return Err(self.fault(key, message)),
            Some((words, true)) => words,
        };
        let mode = |word: &String| {
            let known = [
                ApprovalMode::Default,
                ApprovalMode::AutoEdit,
                ApprovalMode::Yolo,
                ApprovalMode::Plan,
            ];
            known.into_iter().find(|mode| mode.as_str() == word)
        };
        let modes: Option<Vec<ApprovalMode>> = words.iter().map(mode).collect();
        modes.map(|modes| Modes::of(&modes)).ok_or_else(|| self.fault(key, message))
    }

    /// Returns the annotations that the tool must have.
    pub(crate) fn annotations(&self) -> Result<Map<String, Value>, Fault> {
        match self.get("toolAnnotations") {
            None => Ok(Map::new()),
            Some(DeValue::Table(table)) => Ok(object(table)),
            Some(_) => Err(self.fault("toolAnnotations", "must be a table")),
        }
    }

    /// Returns a nested table.
    pub(crate) fn table(&self, key: &str) -> Result<Option<Fields<'_, 'i>>, Fault> {
        match self.get(key) {
            None => Ok(None),
            Some(DeValue::Table(table)) => Ok(Some(Fields { table, at: self.fault(key, "").at })),
            Some(_) => Err(self.fault(key, "must be a table")),
        }
    }

    /// Returns all fields as JSON.
    pub(crate) fn object(&self) -> Map<String, Value> {
        object(self.table)
    }
}

fn object(table: &DeTable<'_>) -> Map<String, Value> {
    table.iter().map(|(key, field)| (key.get_ref().to_string(), json(field.get_ref()))).collect()
}

fn json(given: &DeValue<'_>) -> Value {
    match given {
        DeValue::String(text) => Value::from(text.as_ref()),
        DeValue::Boolean(truth) => Value::from(*truth),
        DeValue::Integer(number) => {
            i64::from_str_radix(number.as_str(), number.radix()).map_or(Value::Null, Value::from)
        }
        DeValue::Float(number) => {
            let value = number.as_str().parse().ok().and_then(Number::from_f64);
            value.map_or(Value::Null, Value::Number)
        }
        DeValue::Datetime(moment) => Value::from(moment.to_string()),
        DeValue::Array(items) => items.iter().map(|item| json(item.get_ref())).collect(),
        DeValue::Table(table) => Value::Object(object(table)),
    }
}
