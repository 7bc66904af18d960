//! Texts beside the state of the work: hints of the program, and phrases of the user. Pure.

use std::time::Duration;

use crate::ui_settings::Phrases;

/// Time for which a text is shown.
pub(crate) const SHOWN: Duration = Duration::from_secs(10);

/// Hints of the program.
const TIPS: [&str; 16] = [
    "Tip: @path adds a file or folder to the prompt",
    "Tip: ? in an empty input shows the keys",
    "Tip: Esc stops the work, and brings queued prompts back",
    "Tip: Enter queues a prompt during the work",
    "Tip: Shift+Tab changes the approval mode",
    "Tip: Ctrl+B moves a running command to the background",
    "Tip: Ctrl+T shows the whole to-do list",
    "Tip: Ctrl+G opens the prompt in your editor",
    "Tip: Ctrl+R searches earlier prompts",
    "Tip: /rewind goes back to an earlier prompt",
    "Tip: /resume continues an earlier session",
    "Tip: /compress makes room in the context",
    "Tip: /theme changes the colours",
    "Tip: /settings changes settings, and explains them",
    "Tip: /memory show lists what the model always reads",
    "Tip: !command runs a command line yourself",
];

/// Returns the text to show after this time of waiting; `None` without texts.
pub(crate) fn text(phrases: &Phrases, waited: Duration) -> Option<&str> {
    let tips: &[&str] = if phrases.has_tips { &TIPS } else { &[] };
    let count = tips.len() + phrases.own.len();
    let turn = waited.as_secs() / SHOWN.as_secs();
    let index = usize::try_from(turn).unwrap_or(usize::MAX).checked_rem(count)?;
    let own = || phrases.own.get(index - tips.len()).map(String::as_str);
    tips.get(index).copied().or_else(own)
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn texts_take_turns() {
        let after = Duration::from_secs;
        assert_eq!(text(&Phrases::default(), after(1)), None);
        let own = Phrases { has_tips: false, own: vec!["a".to_owned(), "b".to_owned()] };
        let shown = [0, 9, 10, 20].map(|seconds| text(&own, after(seconds)));
        assert_eq!(shown, [Some("a"), Some("a"), Some("b"), Some("a")]);
        let all = Phrases { has_tips: true, ..own };
        assert_eq!(text(&all, after(160)), Some("a"));
        assert_eq!(text(&all, after(5)), Some(TIPS[0]));
        assert!(TIPS.iter().all(|tip| tip.len() <= 60));
    }
}
