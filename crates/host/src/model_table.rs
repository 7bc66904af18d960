//! List of models as text and as JSON.

use pollux_protocol::{Abilities, ListingOrigin, ModelListing, Money, Price};
use serde_json::{Value, json};

use crate::commands::{grouped, table_of};

/// Headings. Prices are dollars for a million tokens.
const HEADINGS: [&str; 8] =
    ["NAME", "CONTEXT", "OUTPUT", "TOOLS", "IMAGES", "$ IN", "$ OUT", "FROM"];

/// Text for a value that is not known.
const UNKNOWN: &str = "-";

/// Returns the models as a table, with one line each.
pub fn model_table(models: &[ModelListing]) -> String {
    let headings = HEADINGS.map(str::to_owned).to_vec();
    let rows: Vec<Vec<String>> = std::iter::once(headings).chain(models.iter().map(row)).collect();
    table_of(&rows)
}

fn row(model: &ModelListing) -> Vec<String> {
    let Abilities { tools, vision, max_output } = model.abilities;
    let known = |value: Option<String>| value.unwrap_or_else(|| UNKNOWN.to_owned());
    let answer = |value: Option<bool>, no: &str| {
        known(value.map(|is_so| if is_so { "yes" } else { no }.to_owned()))
    };
    let rate =
        |rate: fn(&Price) -> u64| known(model.price.map(|price| dollars(rate(&price)).to_string()));
    vec![
        model.name.clone(),
        grouped(model.limits.context),
        known(max_output.map(grouped)),
        // Pollux describes the tools in the text.
        answer(tools, "in text"),
        answer(vision, "no"),
        rate(|price| price.rates.input),
        rate(|price| price.rates.output),
        origin(model.origin, crate::budget::PRICES).to_owned(),
    ]
}

/// Returns the name of the origin of an entry; `own` is the name of the user's table.
fn origin(origin: ListingOrigin, own: &'static str) -> &'static str {
    match origin {
        ListingOrigin::BuiltIn => "built-in",
        ListingOrigin::User => own,
        ListingOrigin::Server => "server",
    }
}

/// Returns the models as JSON: `{"models": [{"name", "vendor", "context", …}]}`. A value that is
/// not known is `null`; prices are dollars for a million tokens.
pub fn model_json(models: &[ModelListing]) -> Value {
    let models = models.iter().map(|model| {
        let Abilities { tools, vision, max_output } = model.abilities;
        json!({
            "name": model.name,
            "vendor": model.vendor,
            "context": model.limits.context,
            "maxOutput": max_output,
            "tools": tools,
            "images": vision,
            "released": model.dates.released,
            "retires": model.dates.retires,
            "origin": origin(model.origin, "user"),
            "price": model.price.map(|Price { rates, long }| json!({
                "input": dollars(rates.input),
                "cached": dollars(rates.cached),
                "cacheWrite": dollars(rates.cache_write),
                "output": dollars(rates.output),
                "long": long.map(|(above, rates)| json!({
                    "above": above,
                    "input": dollars(rates.input),
                    "cached": dollars(rates.cached),
                    "cacheWrite": dollars(rates.cache_write),
                    "output": dollars(rates.output),
                })),
            })),
        })
    });
    json!({ "models": models.collect::<Vec<_>>() })
}

/// Returns the price of a million tokens in dollars.
fn dollars(rate: u64) -> f64 {
    Money::from_parts(rate.saturating_mul(1_000_000)).usd()
}

#[cfg(test)]
mod tests {
    use pollux_protocol::{ModelDates, ModelLimits, Rates};
    use pretty_assertions::assert_eq;

    use super::*;

    fn listing(name: &str, abilities: Abilities, price: Option<Price>) -> ModelListing {
        let limits = ModelLimits { context: 1_048_576, ..ModelLimits::default() };
        let (name, vendor) = (name.to_owned(), "Vendor".to_owned());
        let dates = ModelDates { retires: Some("2027-01-31".to_owned()), released: None };
        let origin = ListingOrigin::User;
        ModelListing { name, vendor, limits, abilities, price, dates, origin }
    }

    #[test]
    fn what_is_not_known_is_not_guessed() {
        let rates =
            Rates { input: 1_250_000, cached: 125_000, cache_write: 1_250_000, output: 10_000_000 };
        let abilities =
            Abilities { tools: Some(false), vision: Some(true), max_output: Some(65_536) };
        let models = [
            listing("a/known", abilities, Some(Price { rates, long: None })),
            listing("b", Abilities::default(), None),
            listing("local/c", Abilities::default(), Some(Price::FREE)),
        ];
        assert_eq!(
            model_table(&models),
            "NAME       CONTEXT  OUTPUT    TOOLS  IMAGES  $ IN  $ OUT         FROM\n\
             a/known  1,048,576  65,536  in text     yes  1.25     10  prices.json\n\
             b        1,048,576       -        -       -     -      -  prices.json\n\
             local/c  1,048,576       -        -       -     0      0  prices.json"
        );
        let json = model_json(&models);
        assert_eq!(json["models"][0]["price"]["cached"], 0.125);
        assert_eq!(json["models"][0]["tools"], false);
        assert_eq!(json["models"][1]["price"], Value::Null);
        assert_eq!(json["models"][1]["maxOutput"], Value::Null);
        assert_eq!(
            (&json["models"][0]["origin"], &json["models"][0]["retires"]),
            (&json!("user"), &json!("2027-01-31"))
        );
    }
}
