//! Turns of results that bear another name than they did.
//!
//! Gemini CLI writes a conversation anew when it resumes one, and names each turn of results after the message with the
//! calls. What Pollux put aside is told by the names of then; they are looked up here.

use std::collections::HashMap;

use pollux_protocol::{Compression, Content, EntryId, Shortened};

#[cfg(test)]
mod tests;

/// Former names of turns of results.
#[derive(Default)]
pub(crate) struct Renamed {
    turns: HashMap<EntryId, Turn>,
}

struct Turn {
    now: EntryId,
    /// Which call each part answered, under the former name: the order may be another one now.
    calls: Vec<Option<String>>,
}

impl Renamed {
    /// A turn that was `former` is `now`.
    pub(crate) fn add(&mut self, former: String, now: &str, calls: Vec<Option<String>>) {
        self.turns.insert(EntryId::new(former), Turn { now: EntryId::new(now), calls });
    }

    /// Lets the compressions name the entries as they are named in these contents.
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
    /// Where the response to the same call is now.
    fn part(&self, short: &Shortened, content: Option<&Content>) -> Option<usize> {
        let call = self.calls.get(short.part)?.as_ref()?;
        let answers = |response: &pollux_protocol::FunctionResponse| response.id == *call;
        content?.parts.iter().position(|part| part.as_response().is_some_and(answers))
    }
}
