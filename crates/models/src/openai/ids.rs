//! Names and ids that the dialect accepts.
//!
//! Both are pure functions of the original text. A call and its result therefore have the same id
//! in every request, and encoded messages can be cached.

use std::borrow::Cow;
use std::collections::HashMap;

use pollux_protocol::Declaration;

use crate::catalog::CallIds;

/// Maximum length of call ids; OpenAI refuses longer ones.
const MAX_ID: usize = 40;

/// Maximum length of function names; OpenAI refuses longer ones.
const MAX_NAME: usize = 64;

/// Returns the id of a call in the form in which it is sent.
pub(super) fn call_id(id: &str, style: CallIds) -> Cow<'_, str> {
    match style {
        CallIds::Standard if is_legal(id, MAX_ID) => Cow::Borrowed(id),
        CallIds::Standard => Cow::Owned(format!("call_{:032x}", hash(id))),
        CallIds::NineAlphanumeric => {
            let mut rest = hash(id);
            let digit = |_| {
                let digit = (rest % 36) as u32;
                rest /= 36;
                char::from_digit(digit, 36).unwrap_or('0')
            };
            Cow::Owned((0..9).map(digit).collect())
        }
    }
}

/// Returns the name of a function in the form in which it is sent.
pub(super) fn function_name(name: &str) -> Cow<'_, str> {
    if is_legal(name, MAX_NAME) {
        return Cow::Borrowed(name);
    }
    let legal = |character: char| if is_legal_character(character) { character } else { '_' };
    // The hash distinguishes names that differ only in the replaced characters.
    let kept: String = name.chars().map(legal).take(MAX_NAME - 17).collect();
    Cow::Owned(format!("{kept}_{:016x}", hash(name) as u64))
}

/// Map from sent names to declared names, for names that differ.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Names(HashMap<String, String>);

impl Names {
    pub(super) fn new(declarations: &[Declaration]) -> Self {
        let changed = declarations.iter().filter_map(|one| match function_name(&one.name) {
            Cow::Owned(sent) => Some((sent, one.name.clone())),
            Cow::Borrowed(_) => None,
        });
        Self(changed.collect())
    }

    /// Returns the declared name of the tool.
    pub(super) fn own(&self, sent: String) -> String {
        self.0.get(&sent).cloned().unwrap_or(sent)
    }
}

fn is_legal(text: &str, limit: usize) -> bool {
    !text.is_empty() && text.len() <= limit && text.chars().all(is_legal_character)
}

fn is_legal_character(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '_' | '-')
}

/// Computes FNV-1a with 128 bits: the same in every run and on every machine.
fn hash(text: &str) -> u128 {
    const OFFSET: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    text.bytes().fold(OFFSET, |hash, byte| (hash ^ u128::from(byte)).wrapping_mul(PRIME))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn legal_ones_stay_and_others_come_back() {
        assert_eq!(call_id("glob__call_1", CallIds::Standard), "glob__call_1");
        assert_eq!(function_name("mcp_server_tool"), "mcp_server_tool");
        let declared = |name: &str| Declaration {
            name: name.to_owned(),
            description: String::new(),
            parameters: json!({}),
        };
        let names = Names::new(&[declared("a.b"), declared("a:b"), declared("plain")]);
        for name in ["a.b", "a:b", "plain", "unknown"] {
            assert_eq!(names.own(function_name(name).into_owned()), name);
        }
        assert_ne!(function_name("a.b"), function_name("a:b"));
    }

    proptest! {
        #[test]
        fn anything_becomes_legal(text in ".{0,100}") {
            prop_assert!(is_legal(&call_id(&text, CallIds::Standard), MAX_ID));
            prop_assert!(is_legal(&function_name(&text), MAX_NAME));
            let nine = call_id(&text, CallIds::NineAlphanumeric);
            prop_assert!(nine.len() == 9 && nine.chars().all(|one| one.is_ascii_alphanumeric()));
        }

        #[test]
        fn different_ids_stay_different(one in ".{0,60}", other in ".{0,60}") {
            prop_assume!(one != other);
            for style in [CallIds::Standard, CallIds::NineAlphanumeric] {
                prop_assert_ne!(call_id(&one, style), call_id(&other, style));
            }
        }
    }
}
