use pretty_assertions::assert_eq;

use super::*;
use crate::attributes::pairs;
use crate::names::instrument;

const NOW: i128 = 1_700_000_000_500_000_000;

fn metric(aggregate: &mut Aggregate, name: &str) -> Value {
    let exported = aggregate.export(&json!({}), &Attributes::new(), NOW + 1_000_000_000);
    let metrics = exported["scopeMetrics"][0]["metrics"].as_array().unwrap().clone();
    metrics.into_iter().find(|metric| metric["descriptor"]["name"] == name).unwrap()
}

#[test]
fn a_histogram_has_the_buckets_of_the_sdk() {
    let mut aggregate = Aggregate::default();
    for value in [0.0, 5.0, 5.1, 20_000.0] {
        let attributes = pairs([("model", json!("m"))]);
        aggregate.record(Point::new(&instrument::API_LATENCY, value, attributes), NOW);
    }
    let metric = metric(&mut aggregate, "gemini_cli.api.request.latency");
    assert_eq!(metric["dataPointType"], 0);
    assert_eq!(metric["aggregationTemporality"], 1);
    assert_eq!(
        metric["dataPoints"],
        json!([{
            "attributes": { "model": "m" },
            "startTime": [1_700_000_000, 500_000_000],
            "endTime": [1_700_000_001, 500_000_000],
            "value": {
                "min": 0, "max": 20_000, "sum": 20_010,
                "buckets": {
                    "boundaries": [0, 5, 10, 25, 50, 75, 100, 250, 500, 750, 1000, 2500, 5000, 7500, 10000],
                    "counts": [1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
                },
                "count": 4,
            },
        }])
    );
}

#[test]
fn counters_add_up_by_attributes_and_have_an_end() {
    let mut aggregate = Aggregate::default();
    for lines in 0..2_100 {
        let attributes = pairs([("lines", json!(lines))]);
        aggregate.record(Point::new(&instrument::FILE_OPERATIONS, 1.0, attributes), NOW);
    }
    aggregate
        .record(Point::new(&instrument::FILE_OPERATIONS, 1.0, pairs([("lines", json!(0))])), NOW);
    let metric = metric(&mut aggregate, "gemini_cli.file.operation.count");
    let points = metric["dataPoints"].as_array().unwrap();
    assert_eq!(points.len(), 2_001);
    assert_eq!(points[0]["value"], 2);
    assert_eq!(points[2_000]["attributes"], json!({ "otel.metric.overflow": true }));
    assert_eq!(points[2_000]["value"], 100);
    assert_eq!((&metric["isMonotonic"], &metric["dataPointType"]), (&json!(true), &json!(3)));
    assert!(!aggregate.has_news());
}
