//! A table of models: any text is read or rejected with a place. A price that is found gives the
//! same cost each time, and more tokens never cost less. Properties are those of the table alone.

use pollux_models::PriceTable;
use pollux_protocol::Usage;

pub(crate) fn run(text: &str) {
    let table = match PriceTable::parse(text) {
        Ok(table) => table,
        Err(message) => {
            assert!(!message.is_empty());
            return;
        }
    };
    let names = text.split('"').filter(|word| word.len() < 200);
    for name in names.chain(["gemini-2.5-pro-preview-05-06", "", "-", "*"]) {
        let facts = table.facts(name);
        assert_eq!(facts, table.facts(name));
        assert!(!facts.adaptive_thinking && facts.context != Some(0), "{facts:?}");
        let Some(price) = table.find(name) else { continue };
        let usage = |prompt| Usage { prompt, candidates: 7, cached: 3, ..Usage::default() };
        for prompt in [0, 1, 200_000, u64::MAX - 1] {
            let cost = price.cost(&usage(prompt));
            assert_eq!(Some(cost), table.find(name).map(|price| price.cost(&usage(prompt))));
        }
        let written = |candidates| Usage { candidates, cache_write: 1, ..usage(5) };
        assert!(price.cost(&written(9)) >= price.cost(&written(8)));
    }
}
