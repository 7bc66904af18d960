//! What a terminal shows, as data: lines of text in colours and styles.

use serde::{Deserialize, Serialize};

/// The lines of a terminal, from the top. The shape is that of session files of Gemini CLI 0.61, where a result
/// of a command may be one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AnsiOutput(pub Vec<Vec<AnsiToken>>);

/// A piece of a line in one look.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the names are those of session files")]
pub struct AnsiToken {
    pub text: String,
    #[serde(default)]
    pub bold: bool,
    #[serde(default)]
    pub italic: bool,
    #[serde(default)]
    pub underline: bool,
    #[serde(default)]
    pub dim: bool,
    #[serde(default)]
    pub inverse: bool,
    /// Nothing was ever printed there.
    #[serde(default)]
    pub is_uninitialized: bool,
    /// `#rrggbb`, or nothing for the terminal's own colour.
    #[serde(default)]
    pub fg: String,
    /// The same for the background.
    #[serde(default)]
    pub bg: String,
}

impl AnsiOutput {
    /// The text alone: one line each, blanks at their ends left out.
    pub fn text(&self) -> String {
        let line = |tokens: &Vec<AnsiToken>| {
            let whole: String = tokens.iter().map(|token| token.text.as_str()).collect();
            whole.trim_end().to_owned()
        };
        self.0.iter().map(line).collect::<Vec<_>>().join("\n").trim_end().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn session_files_of_the_original_are_read() {
        let stored = json!([
            [
                {"text": "red", "bold": true, "italic": false, "underline": false, "dim": false, "inverse": false,
                 "isUninitialized": false, "fg": "#800000", "bg": ""},
                {"text": " and more   "}
            ],
            [],
            [{"text": "   "}]
        ]);
        let output: AnsiOutput = serde_json::from_value(stored).unwrap();
        assert_eq!(output.text(), "red and more");
        assert!(output.0[0][0].bold && output.0[0][0].fg == "#800000");
        let written = serde_json::to_value(&output).unwrap();
        assert_eq!(written[0][0]["isUninitialized"], false);
        assert_eq!(serde_json::from_value::<AnsiOutput>(written).unwrap(), output);
    }
}
