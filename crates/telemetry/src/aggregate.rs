//! Sums and histograms, cumulative from the start of the run.

use std::collections::HashMap;

use serde_json::{Value, json};

use crate::attributes::Attributes;
use crate::names::{Instrument, Kind, SERVICE};
use crate::outfile::high_resolution;
use crate::points::Point;

#[cfg(test)]
mod tests;

/// Upper bounds of all histogram buckets except the last; the defaults of the OpenTelemetry SDKs.
const BOUNDARIES: [f64; 15] = [
    0.0, 5.0, 10.0, 25.0, 50.0, 75.0, 100.0, 250.0, 500.0, 750.0, 1000.0, 2500.0, 5000.0, 7500.0,
    10_000.0,
];

/// Maximum number of attribute combinations per instrument. Further combinations are counted
/// together in one overflow series, as in the SDKs.
const MOST_SERIES: usize = 2000;

/// All values recorded so far.
#[derive(Debug, Default)]
pub(crate) struct Aggregate {
    instruments: Vec<Series>,
    has_news: bool,
}

/// Values of one instrument.
#[derive(Debug)]
struct Series {
    instrument: &'static Instrument,
    places: HashMap<String, usize>,
    data: Vec<Datum>,
}

/// Values of one combination of attributes.
#[derive(Debug)]
struct Datum {
    attributes: Attributes,
    since: i128,
    count: u64,
    sum: f64,
    min: f64,
    max: f64,
    buckets: [u64; BOUNDARIES.len() + 1],
}

impl Aggregate {
    /// Records a value. `now` is in nanoseconds since 1970.
    pub(crate) fn record(&mut self, point: Point, now: i128) {
        self.has_news = true;
        let known =
            self.instruments.iter().position(|series| series.instrument == point.instrument);
        let index = known.unwrap_or_else(|| {
            let (places, data) = (HashMap::new(), Vec::new());
            self.instruments.push(Series { instrument: point.instrument, places, data });
            self.instruments.len() - 1
        });
        if let Some(series) = self.instruments.get_mut(index) {
            series.record(point.attributes, point.value, now);
        }
    }

    /// Returns true if a value was recorded since the last export.
    pub(crate) fn has_news(&self) -> bool {
        self.has_news
    }

    /// Returns all instruments as one object of the outfile. `common` comes first in each point's
    /// attributes.
    pub(crate) fn export(&mut self, resource: &Value, common: &Attributes, now: i128) -> Value {
        self.has_news = false;
        let metrics: Vec<Value> =
            self.instruments.iter().map(|series| series.export(common, now)).collect();
        json!({
            "resource": resource,
            "scopeMetrics": [
                { "scope": { "name": SERVICE, "version": "" }, "metrics": metrics },
            ],
        })
    }
}

impl Series {
    fn record(&mut self, mut attributes: Attributes, value: f64, now: i128) {
        let mut key = Value::Object(attributes.clone()).to_string();
        if self.data.len() >= MOST_SERIES && !self.places.contains_key(&key) {
            attributes = Attributes::from_iter([("otel.metric.overflow".to_owned(), json!(true))]);
            key = Value::Object(attributes.clone()).to_string();
        }
        let place = *self.places.entry(key).or_insert_with(|| {
            self.data.push(Datum::new(attributes, now));
            self.data.len() - 1
        });
        if let Some(datum) = self.data.get_mut(place) {
            datum.record(value);
        }
    }

    fn export(&self, common: &Attributes, now: i128) -> Value {
        let Instrument { name, kind, unit, description } = self.instrument;
        let is_counter = *kind == Kind::Counter;
        let points: Vec<Value> =
            self.data.iter().map(|datum| datum.export(*kind, common, now)).collect();
        let mut metric = json!({
            "descriptor": {
                "name": name,
                "type": if is_counter { "COUNTER" } else { "HISTOGRAM" },
                "description": description,
                "unit": unit,
                "valueType": u8::from(*kind == Kind::FractionHistogram),
                "advice": {},
            },
            // Cumulative temporality.
            "aggregationTemporality": 1,
            // 3 is a sum, 0 a histogram.
            "dataPointType": if is_counter { 3 } else { 0 },
            "dataPoints": points,
        });
        if is_counter {
            metric["isMonotonic"] = json!(true);
        }
        metric
    }
}

impl Datum {
    fn new(attributes: Attributes, since: i128) -> Self {
        Self {
            attributes,
            since,
            count: 0,
            sum: 0.0,
            min: f64::INFINITY,
            max: f64::NEG_INFINITY,
            buckets: [0; BOUNDARIES.len() + 1],
        }
    }

    fn record(&mut self, value: f64) {
        self.count += 1;
        self.sum += value;
        self.min = self.min.min(value);
        self.max = self.max.max(value);
        let bucket = BOUNDARIES.iter().position(|end| value <= *end).unwrap_or(BOUNDARIES.len());
        self.buckets[bucket] += 1;
    }

    fn export(&self, kind: Kind, common: &Attributes, now: i128) -> Value {
        let mut attributes = common.clone();
        attributes.extend(self.attributes.clone());
        let number = |value: f64| number(kind, value);
        let value = if kind == Kind::Counter {
            number(self.sum)
        } else {
            json!({
                "min": number(self.min),
                "max": number(self.max),
                "sum": number(self.sum),
                "buckets": { "boundaries": BOUNDARIES.map(|end| end as u64), "counts": self.buckets },
                "count": self.count,
            })
        };
        json!({
            "attributes": attributes,
            "startTime": high_resolution(self.since),
            "endTime": high_resolution(now),
            "value": value,
        })
    }
}

/// Formats whole numbers without a decimal point, as JavaScript does.
fn number(kind: Kind, value: f64) -> Value {
    match kind {
        Kind::Counter | Kind::Histogram => json!(value as u64),
        Kind::FractionHistogram => json!(value),
    }
}
