//! Ids of calls that the dialect accepts.
//!
//! They are a pure function of the original id. A call and its result therefore have the same id in
//! every request, and encoded messages can be cached.

use std::borrow::Cow;

use crate::catalog::CallIds;
use crate::tool_names::hash;

/// Maximum length of call ids; OpenAI refuses longer ones.
const MAX_ID: usize = 40;

/// Returns the id of a call in the form in which it is sent.
pub(crate) fn call_id(id: &str, style: CallIds) -> Cow<'_, str> {
    match style {
        CallIds::Standard if is_legal(id) => Cow::Borrowed(id),
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

fn is_legal(id: &str) -> bool {
    let legal = |one: char| one.is_ascii_alphanumeric() || matches!(one, '_' | '-');
    !id.is_empty() && id.len() <= MAX_ID && id.chars().all(legal)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn legal_ids_stay() {
        assert_eq!(call_id("glob__call_1", CallIds::Standard), "glob__call_1");
    }

    proptest! {
        #[test]
        fn anything_becomes_legal(text in ".{0,100}") {
            prop_assert!(is_legal(&call_id(&text, CallIds::Standard)));
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
