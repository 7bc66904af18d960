//! Files of themes: for any text, a message about it shows on one row and does not act on the
//! terminal, and what a theme writes to the terminal are the numbers of colours and styles.

use pollux_protocol::plain_text::acts_on_terminal;
use pollux_tui::theme_report;

pub(crate) fn run(text: &str) {
    let (problems, parameters) = theme_report(text);
    assert!(problems.len() <= 5);
    for problem in &problems {
        let acts = |letter: char| letter == '\n' || acts_on_terminal(letter);
        assert!(!problem.contains(acts), "{problem:?}");
        assert!(problem.len() < 1000, "{problem:?}");
    }
    for parameter in &parameters {
        let is_number = |number: &str| number.parse::<u8>().is_ok();
        assert!(parameter.split(';').all(is_number), "{parameter:?}");
    }
}
