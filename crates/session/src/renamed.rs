//! Turns with results whose id has changed.
//!
//! Gemini CLI rewrites a conversation when it resumes one, and derives the id of each turn with
//! results from the message with the calls. The compressions of Pollux use the former ids; this
//! module maps them to the current ids.

use std::collections::HashMap;

use pollux_protocol::{Compression, Content, EntryId, Shortened};

#[cfg(test)]
mod tests;

/// Former ids of turns with results.
#[derive(Default)]
pub(crate) struct Renamed {
    turns: HashMap<EntryId, Turn>,
}

struct Turn {
    now: EntryId,
    /// Id of the call that each part answered, under the former id: the order may be different now.
    calls: Vec<Option<String>>,
}

impl Renamed {
    /// Records that the turn `former` now has the id `now`.
    pub(crate) fn add(&mut self, former: String, now: &str, calls: Vec<Option<String>>) {
        self.turns.insert(EntryId::new(former), Turn { now: EntryId::new(now), calls });
    }

    /// Replaces former entry ids in the compressions by the ids in these contents.
    pub(crate) fn apply(&self, contents: &[(EntryId, Content)], compressions: &mut [Compression]) {
        if self.turns.is_empty() || compressions.is_empty() {
            return;
        }
        let known: HashMap<&EntryId, &Content> =
            contents.iter().map(|(id, content)| (id, content)).collect();
        let turn = |id: &EntryId| {
            if known.contains_key(id) { None } else { self.turns.get(id) }
        };
        for compression in compressions {
            if let Some(summary) = &mut compression.summary {
                for id in [&mut summary.from, &mut summary.through] {
                    if let Some(turn) = turn(id) {
                        *id = turn.now.clone();
                    }
                }
            }
            for short in &mut compression.shortened {
                let Some(turn) = turn(&short.entry) else { continue };
                if let Some(part) = turn.part(short, known.get(&turn.now).copied()) {
                    (short.entry, short.part) = (turn.now.clone(), part);
                }
            }
        }
    }
}

impl Turn {
    /// Returns the current index of the response to the same call.
    fn part(&self, short: &Shortened, content: Option<&Content>) -> Option<usize> {
        let call = self.calls.get(short.part)?.as_ref()?;
        let answers = |response: &pollux_protocol::FunctionResponse| response.id == *call;
        content?.parts.iter().position(|part| part.as_response().is_some_and(answers))
    }
}
