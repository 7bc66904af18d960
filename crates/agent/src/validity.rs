//! Decides if an answer is usable, from a finished stream. The functions are pure.

use pollux_protocol::{FinishReason, InvalidStream};

/// Facts about a finished stream.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StreamEnd<'a> {
    pub(crate) finish: Option<&'a FinishReason>,
    pub(crate) text: &'a str,
    pub(crate) has_calls: bool,
    pub(crate) has_thoughts: bool,
    /// True if the request contained results of tools.
    pub(crate) answers_results: bool,
}

/// Returns the reason for an unusable answer, if there is one. An answer with calls is always
/// usable. An empty answer to tool results is usable, too, unless the vendor has cut it off.
pub(crate) fn judge(end: StreamEnd<'_>) -> Option<InvalidStream> {
    if end.has_calls {
        return None;
    }
    let says_something = says_something(end.text);
    match end.finish {
        None if !end.answers_results => return Some(InvalidStream::NoFinishReason),
        Some(FinishReason::MalformedFunctionCall) => {
            return Some(InvalidStream::MalformedFunctionCall);
        }
        Some(FinishReason::UnexpectedToolCall) => return Some(InvalidStream::UnexpectedToolCall),
        _ if says_something => return None,
        Some(FinishReason::MaxTokens) => return Some(InvalidStream::MaxTokensExceeded),
        Some(FinishReason::Safety) => return Some(InvalidStream::SafetyBlocked),
        Some(FinishReason::Recitation) => return Some(InvalidStream::RecitationBlocked),
        Some(FinishReason::PromptBlocked(word)) if word == "SAFETY" => {
            return Some(InvalidStream::SafetyBlocked);
        }
        Some(FinishReason::PromptBlocked(_)) => return Some(InvalidStream::OtherBlocked),
        Some(FinishReason::Other(word)) if BLOCKS.contains(&word.as_str()) => {
            return Some(InvalidStream::OtherBlocked);
        }
        None | Some(FinishReason::Stop | FinishReason::Other(_)) => {}
    }
    let may_be_empty = end.answers_results && !matches!(end.finish, Some(FinishReason::Other(_)));
    if end.has_thoughts {
        Some(InvalidStream::ThinkingOnlyResponse)
    } else {
        (!may_be_empty).then_some(InvalidStream::NoResponseText)
    }
}

/// Finish reasons of answers that a policy of the vendor has blocked.
const BLOCKS: &[&str] = &[
    "OTHER",
    "BLOCKLIST",
    "PROHIBITED_CONTENT",
    "SPII",
    "LANGUAGE",
    "MODEL_ARMOR",
    "IMAGE_SAFETY",
    "IMAGE_PROHIBITED_CONTENT",
    "IMAGE_RECITATION",
    "IMAGE_OTHER",
];

/// True if the text contains more than invisible characters and HTML comments.
fn says_something(text: &str) -> bool {
    let mut rest = text;
    loop {
        let (visible, after) = match rest.split_once("<!--") {
            Some((before, comment)) => (before, comment.split_once("-->").map(|(_, after)| after)),
            None => (rest, None),
        };
        if visible.chars().any(|character| !character.is_whitespace() && !is_zero_width(character))
        {
            return true;
        }
        match after {
            Some(after) => rest = after,
            // An unclosed comment counts as ordinary text.
            None => return rest.contains("<!--"),
        }
    }
}

fn is_zero_width(character: char) -> bool {
    matches!(character, '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    type Row<'a> = (Option<&'a FinishReason>, &'a str, bool, bool, bool, Option<InvalidStream>);

    fn check(table: &[Row<'_>]) {
        for (finish, text, has_calls, has_thoughts, answers_results, expected) in
            table.iter().copied()
        {
            let end = StreamEnd { finish, text, has_calls, has_thoughts, answers_results };
            assert_eq!(judge(end), expected, "{end:?}");
        }
    }

    #[test]
    fn table() {
        use InvalidStream as I;
        let stop = FinishReason::Stop;
        let safety = FinishReason::Safety;
        let malformed = FinishReason::MalformedFunctionCall;
        let tokens = FinishReason::MaxTokens;
        let (unexpected, recitation) = (FinishReason::UnexpectedToolCall, FinishReason::Recitation);
        let (other, blocked) =
            (FinishReason::Other("OTHER".into()), FinishReason::Other("BLOCKLIST".into()));
        // Columns: finish, text, calls, thoughts, answers results.
        let table: &[Row<'_>] = &[
            (Some(&stop), "hi", false, false, false, None),
            (None, "hi", false, false, false, Some(I::NoFinishReason)),
            (None, "hi", false, false, true, None),
            (None, "", true, false, false, None),
            (Some(&malformed), "hi", false, false, false, Some(I::MalformedFunctionCall)),
            (Some(&malformed), "", true, false, false, None),
            (Some(&tokens), "cut", false, false, false, None),
            (Some(&tokens), "", false, false, true, Some(I::MaxTokensExceeded)),
            (Some(&safety), "", false, false, false, Some(I::SafetyBlocked)),
            (Some(&stop), "", false, true, true, Some(I::ThinkingOnlyResponse)),
            (Some(&stop), "", false, false, true, None),
            (None, "", false, true, true, Some(I::ThinkingOnlyResponse)),
            (None, "", false, false, true, None),
            (Some(&other), "", false, false, true, Some(I::OtherBlocked)),
            (Some(&blocked), "", false, false, false, Some(I::OtherBlocked)),
            (Some(&blocked), "", false, true, true, Some(I::OtherBlocked)),
            (Some(&stop), "\u{200b} <!-- x -->\n", false, false, false, Some(I::NoResponseText)),
            (Some(&stop), "<!-- x --> y", false, false, false, None),
            (Some(&stop), "<!-- never closed", false, false, false, None),
            (Some(&stop), "<!---->", false, false, false, Some(I::NoResponseText)),
            (Some(&stop), "x <!-- y -->", false, false, false, None),
            (Some(&stop), "<!-- a --><!-- b -->", false, false, false, Some(I::NoResponseText)),
            (Some(&stop), "<!-- a --> <!--", false, false, false, None),
            (
                Some(&stop),
                " \u{200d}\u{2060}\u{feff}",
                false,
                false,
                false,
                Some(I::NoResponseText),
            ),
            (Some(&stop), "\u{200e}", false, false, false, None),
            (Some(&stop), "", false, true, false, Some(I::ThinkingOnlyResponse)),
            (Some(&stop), "hi", false, true, false, None),
            (Some(&unexpected), "hi", false, false, true, Some(I::UnexpectedToolCall)),
            (Some(&recitation), "", false, false, true, Some(I::RecitationBlocked)),
            (Some(&recitation), "hi", false, false, false, None),
            (Some(&other), "hi", false, false, false, None),
            (Some(&safety), "", true, false, false, None),
        ];
        check(table);
    }

    #[test]
    fn reasons_of_blocked_prompts_and_unknown_reasons() {
        use InvalidStream as I;
        let unknown = FinishReason::Other("error".into());
        let [prompt_safety, prompt] =
            ["SAFETY", "JAILBREAK"].map(|word| FinishReason::PromptBlocked(word.into()));
        let table: &[Row<'_>] = &[
            (Some(&unknown), "", false, false, false, Some(I::NoResponseText)),
            (Some(&unknown), "", false, false, true, Some(I::NoResponseText)),
            (Some(&unknown), "", false, true, true, Some(I::ThinkingOnlyResponse)),
            (Some(&unknown), "hi", false, false, true, None),
            (Some(&prompt_safety), "", false, false, true, Some(I::SafetyBlocked)),
            (Some(&prompt), "", false, false, true, Some(I::OtherBlocked)),
            (Some(&prompt), "hi", false, false, false, None),
        ];
        check(table);
    }
}
