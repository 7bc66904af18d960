use std::sync::Arc;

use pollux_protocol::{
    ConsentItem, ItemDetail, Modification, QuestionChoice, QuestionSubject, TrustRequest,
};
use pretty_assertions::assert_eq;

use super::*;
use crate::palette::Palette;

/// A question, and the terminal that it is on.
struct Stage {
    asking: Asking,
    terminal: vt100::Parser,
}

impl Stage {
    fn new(subject: QuestionSubject, choices: Vec<QuestionChoice>, default: Option<usize>) -> Self {
        let question = Question::new(Arc::default(), subject, choices, default);
        let size = (80, 24);
        let asking = Asking {
            surface: Surface::new(size, Palette::none(), Narrowing::Cuts),
            dialog: Dialog::before_session(question),
            decoder: KeyDecoder::default(),
            escape_end: None,
            size,
            is_due: true,
            reply: None,
        };
        let mut stage = Self {
            asking,
            terminal: vt100::Parser::new(24_u16.try_into().unwrap(), 80_u16.try_into().unwrap(), 0),
        };
        stage.show();
        stage
    }

    fn show(&mut self) {
        let bytes = self.asking.show();
        self.process(&bytes);
    }

    fn process(&mut self, bytes: &[u8]) {
        let text = String::from_utf8_lossy(bytes).replace('\n', "\r\n");
        self.terminal.process(text.as_bytes());
    }

    /// Presses keys in one burst, and shows the state after them.
    fn keys(&mut self, keys: &str) {
        let keys = self.asking.decoder.decode(keys.as_bytes(), pollux_input::InputMode::Raw);
        self.asking.press(keys, Instant::now());
        self.show();
    }

    fn screen(&self) -> String {
        self.terminal.screen().contents()
    }

    fn left(&mut self) -> String {
        let bytes = self.asking.leave();
        self.process(&bytes);
        self.screen().trim_end().to_owned()
    }
}

fn trust() -> Stage {
    let request =
        TrustRequest { folder: "/home/ann/shop".into(), items: Vec::new(), problems: Vec::new() };
    let choices = ["Trust folder (shop)", "Trust parent folder (ann)", "Don't trust"];
    let choices = QuestionChoice::options(choices.map(str::to_owned));
    Stage::new(QuestionSubject::Trust(request), choices, Some(2))
}

fn item(name: &str, detail: &str) -> ConsentItem {
    ConsentItem {
        kind: "MCP server".to_owned(),
        name: name.to_owned(),
        detail: ItemDetail::from(detail.to_owned()),
        hash: "0123".to_owned(),
        needs_user: false,
    }
}

fn consents(items: Vec<ConsentItem>) -> Stage {
    Stage::new(QuestionSubject::Consent(items), Vec::new(), None)
}

fn answers(stage: &Stage) -> Option<Vec<bool>> {
    match stage.asking.reply()?.modification? {
        Modification::Consents(answers) => Some(answers),
        _ => None,
    }
}

#[test]
fn a_folder_is_trusted_on_the_screen() {
    let mut stage = trust();
    let screen = stage.screen();
    assert!(screen.starts_with("! Do you trust the files in this folder?\n"), "{screen}");
    assert!(screen.contains("\u{25cf} 3. Don't trust"), "{screen}");
    stage.keys("1");
    assert_eq!(stage.asking.reply().unwrap().outcome, QuestionOutcome::Option(0));
    let left = "- Do you trust the files in this folder? \u{b7} Trust folder (shop)";
    assert_eq!(stage.left(), left);
}

#[test]
fn escape_decides_nothing() {
    let mut stage = trust();
    stage.keys("\x1b");
    stage.asking.escape_ended();
    assert_eq!(stage.asking.reply().unwrap().outcome, QuestionOutcome::Cancel);
    assert_eq!(stage.left(), "- Do you trust the files in this folder? \u{b7} no answer");
}

#[test]
fn what_was_typed_before_the_question_does_not_answer_it() {
    let mut stage = trust();
    for (mode, is_answer) in
        [(pollux_input::InputMode::Canonical, false), (pollux_input::InputMode::Raw, true)]
    {
        stage.asking.typed(&TypedBytes { bytes: b"1\n".to_vec(), mode, at: Instant::now() });
        assert_eq!(stage.asking.reply().is_some(), is_answer);
    }
}

#[test]
fn a_withdrawn_question_leaves_nothing() {
    assert_eq!(trust().left(), "");
}

#[test]
fn items_are_decided_about_one_by_one() {
    let mut stage = consents(vec![item("files", "npx files"), item("web", "npx web")]);
    let screen = stage.screen();
    assert!(screen.contains("npx files") && screen.contains("npx web"), "{screen}");
    assert!(screen.contains("Allow 1, files?\n  1. Allow\n\u{25cf} 2. Refuse\n"), "{screen}");
    // Several characters at once were not typed to choose.
    stage.keys("11");
    assert!(stage.screen().contains("Allow 1, files?"), "{}", stage.screen());
    // One burst of keys answers one item.
    stage.keys("1\r");
    assert!(stage.screen().contains("Allow 2, web?"), "{}", stage.screen());
    assert_eq!(answers(&stage), None);
    stage.keys("2");
    assert_eq!(answers(&stage), Some(vec![true, false]));
    assert_eq!(
        stage.left(),
        "- MCP server: files \u{b7} allowed\n- MCP server: web \u{b7} refused"
    );
}

#[test]
fn the_rest_can_be_allowed_if_all_of_it_was_shown() {
    let mut stage = consents(vec![item("files", "npx files"), item("web", "npx web")]);
    assert!(stage.screen().contains("3. Allow the rest of this group"), "{}", stage.screen());
    stage.keys("3");
    assert_eq!(answers(&stage), Some(vec![true, true]));
    let long = "x\n".repeat(40);
    let mut stage = consents(vec![item("files", &long), item("web", "npx web")]);
    for _ in 0..5 {
        stage.keys(" ");
    }
    assert!(!stage.screen().contains("Allow the rest"), "{}", stage.screen());
    assert!(stage.screen().contains("3. Refuse everything that remains"), "{}", stage.screen());
    stage.keys("3");
    assert_eq!(answers(&stage), Some(vec![false, false]));
    assert!(stage.asking.refuses_rest());
}
