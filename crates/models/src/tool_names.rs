//! Names of tools that the dialects accept.
//!
//! The name to send is a pure function of the name of the tool. A call in the history therefore has
//! the same name in every request, and encoded entries can be cached.

use std::borrow::Cow;
use std::collections::HashMap;

use pollux_protocol::{Body, ResponseChunk};

use crate::tool_schema::ToolDialect;

/// Maximum length of a name that every dialect accepts, in bytes.
const MAX_NAME: usize = 64;

/// Length of the end of a replaced name: `_` and a hash of the original.
const MARK: usize = 17;

/// Returns the name of a tool in the form in which it is sent: unchanged if the dialect accepts it.
pub(crate) fn sent_name(name: &str, dialect: ToolDialect) -> Cow<'_, str> {
    // A legal name with such an end is replaced, too, so that no tool can have the name that
    // another one is sent under.
    if is_legal(name, dialect) && !is_marked(name) {
        return Cow::Borrowed(name);
    }
    let legal = |(index, character)| {
        if is_legal_character(character, index, dialect) { character } else { '_' }
    };
    // The hash distinguishes names that differ only in the replaced characters.
    let kept: String = name.chars().take(MAX_NAME - MARK).enumerate().map(legal).collect();
    Cow::Owned(format!("{kept}_{:016x}", hash(name) as u64))
}

fn is_legal(name: &str, dialect: ToolDialect) -> bool {
    let legal = |(index, character)| is_legal_character(character, index, dialect);
    !name.is_empty() && name.len() <= MAX_NAME && name.chars().enumerate().all(legal)
}

fn is_legal_character(character: char, index: usize, dialect: ToolDialect) -> bool {
    match (dialect, character) {
        (_, 'a'..='z' | 'A'..='Z' | '_')
        | (ToolDialect::Chat | ToolDialect::Anthropic, '0'..='9' | '-') => true,
        (ToolDialect::Gemini, '0'..='9' | '-' | '.' | ':') => index > 0,
        _ => false,
    }
}

/// True for a name with the end of a replaced one.
fn is_marked(name: &str) -> bool {
    let end = name.len().checked_sub(MARK).and_then(|start| name.get(start..));
    let hash = end.and_then(|end| end.strip_prefix('_'));
    hash.is_some_and(|hash| hash.bytes().all(|one| matches!(one, b'0'..=b'9' | b'a'..=b'f')))
}

/// Map from sent names to names of tools, for names that differ.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Names(HashMap<String, String>);

impl Names {
    /// Creates the map of these pairs of a sent name and the name of its tool.
    pub(crate) fn new<'a>(pairs: impl Iterator<Item = (&'a str, &'a str)>) -> Self {
        let changed = pairs.filter(|(sent, own)| sent != own);
        Self(changed.map(|(sent, own)| (sent.to_owned(), own.to_owned())).collect())
    }

    /// True if all names are sent unchanged.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the name of the tool.
    pub(crate) fn own(&self, sent: String) -> String {
        self.0.get(&sent).cloned().unwrap_or(sent)
    }

    /// Returns a piece of a response with the names of the tools in its calls.
    pub(crate) fn restored(&self, mut chunk: ResponseChunk) -> ResponseChunk {
        for part in &mut chunk.parts {
            if let Body::Call(call) = &mut part.body {
                call.name = self.own(std::mem::take(&mut call.name));
            }
        }
        chunk
    }
}

/// Computes FNV-1a with 128 bits: the same in every run and on every machine.
pub(crate) fn hash(text: &str) -> u128 {
    const OFFSET: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    text.bytes().fold(OFFSET, |hash, byte| (hash ^ u128::from(byte)).wrapping_mul(PRIME))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const DIALECTS: [ToolDialect; 3] =
        [ToolDialect::Gemini, ToolDialect::Chat, ToolDialect::Anthropic];

    #[test]
    fn legal_names_stay() {
        for dialect in DIALECTS {
            for name in ["mcp_server_tool", "a-b", "_x", &"x".repeat(64)] {
                assert_eq!(sent_name(name, dialect), name);
            }
        }
        for name in ["mcp_s_a.b:c", "mcp_s_begin...end"] {
            assert_eq!(sent_name(name, ToolDialect::Gemini), name);
            assert_ne!(sent_name(name, ToolDialect::Chat), name);
        }
        assert_eq!(sent_name("9-lives", ToolDialect::Chat), "9-lives");
        assert_ne!(sent_name("9-lives", ToolDialect::Gemini), "9-lives");
    }

    #[test]
    fn names_come_back() {
        for dialect in DIALECTS {
            let own = ["a.b", "a:b", "ab!", "plain", "größe", "", "9"];
            let sent = own.map(|name| sent_name(name, dialect));
            let names = Names::new(sent.iter().map(AsRef::as_ref).zip(own));
            for (sent, own) in sent.into_iter().zip(own) {
                assert_eq!(names.own(sent.into_owned()), own);
            }
            assert_eq!(names.own("unknown".to_owned()), "unknown");
        }
    }

    #[test]
    fn a_tool_cannot_have_the_name_that_another_one_is_sent_under() {
        let sent = sent_name("a.b", ToolDialect::Chat);
        assert_ne!(sent_name(&sent, ToolDialect::Chat), sent);
    }

    proptest! {
        #[test]
        fn anything_becomes_legal_and_stays_different(one in ".{0,100}", other in ".{0,100}") {
            for dialect in DIALECTS {
                let sent = sent_name(&one, dialect);
                prop_assert!(is_legal(&sent, dialect), "{sent}");
                prop_assert_eq!(sent == sent_name(&other, dialect), one == other);
            }
        }
    }
}
