//! Terminal output as data: lines of text with colours and styles.

use serde::{Deserialize, Serialize};

/// Lines of a terminal, from the top. The shape is that of the session files of Gemini CLI 0.61, in
/// which the result of a command may have this form.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AnsiOutput(pub Vec<Vec<AnsiToken>>);

/// Piece of a line with the same colours and style.
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
    /// True for a cell that nothing was ever printed to.
    #[serde(default)]
    pub is_uninitialized: bool,
    /// Text colour as `#rrggbb`; empty for the terminal's default colour.
    #[serde(default)]
    pub fg: String,
    /// Background colour in the same form.
    #[serde(default)]
    pub bg: String,
}

impl AnsiOutput {
    /// Returns the text only, one line for each row, without trailing spaces.
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
