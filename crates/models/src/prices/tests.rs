use pollux_protocol::Usage;
use pretty_assertions::assert_eq;

use super::*;

fn usd(price: Option<Price>, usage: Usage) -> Option<f64> {
    price.map(|price| price.cost(&usage).usd())
}

const MILLION: Usage = Usage {
    prompt: 1_000_000,
    candidates: 0,
    total: 0,
    cached: 0,
    cache_write: 0,
    thoughts: 0,
    tool: 0,
};

#[test]
fn the_table_of_the_program_is_whole_and_dated() {
    let table = PriceTable::parse(BUILT_IN).unwrap();
    assert_eq!(table.as_of.len(), "2026-01-01".len());
    assert!(table.models.len() > 40);
    for (name, entry) in &table.models {
        let Rates { input, cached, cache_write, output } = entry.price.unwrap().rates;
        assert!(input > 0 && output >= input && cached <= input && cache_write >= input, "{name}");
    }
}

#[test]
fn a_name_stands_for_its_versions_and_for_nothing_else() {
    let book = PriceBook::default();
    for (vendor, name, expected) in [
        ("", "gemini-2.5-pro", Some(2.5)),
        ("", "models/gemini-2.5-pro", Some(2.5)),
        ("", "gemini-2.5-pro-preview-05-06", Some(2.5)),
        ("", "gemini-2.5-flash-lite", Some(0.1)),
        ("", "gemini-2.5-flash-001", Some(0.3)),
        ("openai", "gpt-4o-2024-08-06", Some(2.5)),
        ("openai", "gpt-4o-mini-2024-07-18", Some(0.15)),
        ("openai", "gpt-5", Some(1.25)),
        ("openai", "gpt-6", None),
        ("openai", "gpt-4o-audio", None),
        ("", "gpt-4o", None),
        ("groq", "gpt-4o", None),
        ("local", "gpt-4o", Some(0.0)),
        ("", "gemini-99-ultra", None),
        ("", "", None),
    ] {
        assert_eq!(usd(book.price(vendor, name), MILLION), expected, "{vendor} {name}");
    }
}

#[test]
fn the_persons_table_wins_and_may_name_many_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("prices.json");
    let text = r#"{"models": {
        "gemini-2.5-pro": {"input": 7, "output": 8},
        "groq/*": {"input": 1, "output": 1},
        "groq/llama*": {"input": 2, "output": 2},
        "local/*": {"input": 0.5, "output": 0.5}
    }}"#;
    std::fs::write(&path, text).unwrap();
    let book = PriceBook::load(&path).unwrap();
    for (vendor, name, expected) in [
        ("", "gemini-2.5-pro", Some(7.0)),
        ("", "gemini-2.5-flash", Some(0.3)),
        ("groq", "llama-4", Some(2.0)),
        ("groq", "qwen", Some(1.0)),
        ("local", "qwen", Some(0.5)),
        ("xai", "grok", None),
    ] {
        assert_eq!(usd(book.price(vendor, name), MILLION), expected, "{vendor} {name}");
    }
    let cached = Usage { cached: 1_000_000, ..MILLION };
    assert_eq!(usd(book.price("groq", "qwen"), cached), Some(1.0), "no discount without a price");
    let written = Usage { cache_write: 1_000_000, ..MILLION };
    assert_eq!(usd(book.price("groq", "qwen"), written), Some(1.0), "the input price by default");
    let claude = book.price("openrouter", "anthropic/claude-sonnet-4.5");
    assert_eq!(usd(claude, Usage { prompt: 200_000, ..written }), Some(0.75));
    assert_eq!(usd(claude, written), Some(7.5), "a long request");
}

#[test]
fn a_broken_table_is_named_with_line_and_column() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("prices.json");
    assert!(PriceBook::load(&path).is_ok(), "a missing table is accepted");
    for (text, place) in [
        ("{\"models\": {\n  \"a\": {\"input\": -1, \"output\": 1}}}", "line 2 column"),
        ("{\"models\": {\n  \"a\": {\"input\": -1, \"output\": 1}}}", "models.a.input: "),
        ("{\"models\": {\"a\": {\"context\": 0}}}", "models.a.context: "),
        ("{\"models\": {\"a\": {\"retires\": \"soon\"}}}", "models.a.retires: "),
        ("{\"models\": {\"a\": {\"cached\": 1}}}", "models.a: a price needs `input` and `output`"),
        ("{\"models\": {\n  \"a\": {\"input\": \"1\", \"output\": 1}}}", "line 2 column"),
        ("{\"models\": {\n\n  \"a\": {\"input\": 1}}}", "line 3 column"),
        ("{\"models\": {\"a\": {\"input\": 1, \"output\": 1e300}}}", "from 0 to 1000000"),
        ("{\"models\": {\"a\": {\"input\": 1, \"output\": 1, \"per\": 1}}}", "unknown field"),
        ("{\"models\": {},}", "line 1 column"),
        ("[]", "line 1 column"),
        ("", "line 1 column 0"),
    ] {
        std::fs::write(&path, text).unwrap();
        let error = PriceBook::load(&path).unwrap_err().to_string();
        assert!(error.contains(place) && error.contains("prices.json"), "{text}: {error}");
    }
    std::fs::write(&path, [0xff, 0xfe]).unwrap();
    assert!(PriceBook::load(&path).is_err());
}

#[test]
fn the_users_table_has_properties_of_which_the_most_specific_entry_counts() {
    let table = PriceTable::parse(
        r#"{"models": {
            "groq/*": {"context": 1000, "vision": false, "input": 1, "output": 1},
            "groq/a": {"context": 2000, "max_output": 50, "retires": "2027-01-31"},
            "gemini-9": {"tools": false, "released": "2026-05-01"}
        }}"#,
    );
    let book = PriceBook { own: table.unwrap() };
    let facts = book.facts("groq", "a-2026-01-01");
    assert_eq!(
        (facts.context, facts.vision, facts.max_output),
        (Some(2000), Some(false), Some(50))
    );
    assert_eq!(usd(book.price("groq", "a"), MILLION), Some(1.0), "the price of the pattern");
    assert_eq!(book.dates("groq", "a").retires.as_deref(), Some("2027-01-31"));
    assert_eq!(book.facts("", "models/gemini-9").tools, Some(false));
    for (vendor, model, expected) in [
        ("groq", "b", ListingOrigin::User),
        ("", "gemini-9", ListingOrigin::User),
        ("", "gemini-2.5-pro", ListingOrigin::BuiltIn),
        (LOCAL, "m", ListingOrigin::Server),
    ] {
        assert_eq!(book.origin(vendor, model), expected, "{vendor} {model}");
    }
}
