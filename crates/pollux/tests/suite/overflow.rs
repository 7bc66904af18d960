//! Prompts that exceed the model's context window.

use pretty_assertions::assert_eq;

use super::stage::{FORMATS, Stage, terminal_result};

/// Model with a context window of 256,000 tokens.
const SMALL: &str = "gemma-4-31b-it";
/// Number of letters that exceed this window, at a quarter of a token each.
const LETTERS: usize = 1_100_000;

fn small<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    ["-m", SMALL].into_iter().chain(arguments.iter().copied()).collect()
}

#[test]
fn a_prompt_that_does_not_fit_is_not_sent_and_is_said_to_be_so() {
    for format in FORMATS {
        let stage = Stage::new();
        let run = stage
            .program()
            .args(small(&["-o", format, "-p", "sum up"]))
            .stdin("x".repeat(LETTERS))
            .run();
        run.assert_code(1);
        assert_eq!(stage.server.requests().len(), 0);
        let reported = run.stderr_text();
        assert!(reported.contains("275002 tokens") && reported.contains("256000"), "{reported}");
        assert!(reported.contains("--model"), "the remedy: {reported}");
        match format {
            "json" => {
                let message = run.json()["error"]["message"].as_str().unwrap().to_owned();
                assert!(message.contains("275002"), "{message}");
            }
            "stream-json" => assert_eq!(terminal_result(&run)["status"], "error"),
            _ => assert_eq!(run.stdout_text(), ""),
        }
    }
}
