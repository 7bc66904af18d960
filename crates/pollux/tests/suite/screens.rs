//! The screens of the documentation, in `docs/screens`: each item, question and command, as text
//! and as SVG, in windows of several sizes. A test compares them with what the program shows;
//! `cargo xtask screens --update` writes them.

mod scenes;

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use pollux_testkit::{Key, ModelReply, Picture, Terminal};
use pretty_assertions::assert_eq;

use super::stage::{MODEL, Stage};

/// Timeout for all steps.
const SOON: Duration = Duration::from_secs(15);
/// Pause before the Enter key, which would otherwise be a line end of a pasted text.
const BEFORE_ENTER: Duration = Duration::from_millis(60);
/// Time without output after which a screen is complete.
const STILL: Duration = Duration::from_millis(200);
/// Variable with which the screens are written instead of compared.
const UPDATE: &str = "UPDATE_DOCS";
const READY: &str = "Type your message or @path/to/file";
const BUSY: &str = "\u{b7} Esc stops";
/// Largest size of all files, in bytes.
const LARGEST: u64 = 1_000_000;

/// Action of a user, or text that the user waits for.
enum Step {
    /// Types a line and presses Enter.
    Line(&'static str),
    /// Types text.
    Type(&'static str),
    /// Pastes text.
    Paste(String),
    /// Presses a key.
    Press(Key),
    /// Waits for a text.
    See(&'static str),
    /// Waits for the end of the work.
    Rest,
}

/// A screen of the documentation.
struct Scene {
    /// Name of its files.
    name: &'static str,
    replies: Vec<ModelReply>,
    arguments: &'static [&'static str],
    is_trusted: bool,
    steps: Vec<Step>,
}

impl Scene {
    fn new(name: &'static str, steps: Vec<Step>) -> Self {
        Self { name, replies: Vec::new(), arguments: &[], is_trusted: true, steps }
    }

    fn with(self, replies: impl IntoIterator<Item = ModelReply>) -> Self {
        Self { replies: replies.into_iter().collect(), ..self }
    }

    fn called_with(self, arguments: &'static [&'static str]) -> Self {
        Self { arguments, ..self }
    }

    fn in_an_unknown_folder(self) -> Self {
        Self { is_trusted: false, ..self }
    }

    /// Plays the scene in a window; returns its last screen.
    fn play(self, (columns, rows): (u16, u16)) -> Picture {
        let stage = Stage::with(self.replies);
        let shop = stage.home.home().join("shop");
        fs::create_dir(&shop).unwrap();
        for (name, text) in scenes::FILES {
            fs::write(shop.join(name), text).unwrap();
        }
        let program = stage.program().args(["-m", MODEL]).args(self.arguments).directory(&shop);
        let program = program.env("POLLUX_TERMINAL", "screen").env("XTERM_VERSION", "XTerm(390)");
        let program = program.env_remove("NO_COLOR").env("TERM", "xterm-256color");
        let program = if self.is_trusted {
            program
        } else {
            program.env_remove("GEMINI_CLI_TRUST_WORKSPACE")
        };
        let mut terminal = program.in_terminal(rows, columns);
        for step in self.steps {
            perform(step, &mut terminal);
        }
        wait_until_still(&terminal);
        let home = stage.home.home();
        let picture = terminal.picture().replaced(|text| stable(text, &home));
        // A scene may end in the middle of the work.
        stage.server.discard_replies();
        picture
    }
}

fn perform(step: Step, terminal: &mut Terminal) {
    match step {
        Step::Line(text) => {
            terminal.send(text);
            std::thread::sleep(BEFORE_ENTER);
            wait_until_still(terminal);
            terminal.send_key(Key::Enter);
        }
        Step::Type(text) => terminal.send(text),
        Step::Paste(text) => terminal.paste(&text),
        Step::Press(key) => {
            wait_until_still(terminal);
            terminal.send_key(key);
        }
        Step::See(text) => terminal.wait_for(|screen| shows(&screen.contents(), text), SOON),
        Step::Rest => terminal.wait_for(
            |screen| shows(&screen.contents(), READY) && !shows(&screen.contents(), BUSY),
            SOON,
        ),
    }
}

/// Returns true if a screen contains a text, which may be broken between its words.
fn shows(screen: &str, text: &str) -> bool {
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    words(screen).contains(&words(text))
}

/// Waits until the program has printed nothing for a while.
fn wait_until_still(terminal: &Terminal) {
    let (start, mut length, mut since) = (Instant::now(), 0, Instant::now());
    // Seconds that pass are printed, too.
    while since.elapsed() < STILL && start.elapsed() < SOON {
        let now = terminal.transcript().len();
        if now != length {
            (length, since) = (now, Instant::now());
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Replaces what is not the same in each run: times, the address of the model, the id of the
/// session, and the home.
fn stable(text: &str, home: &Path) -> String {
    let text = text.replace(&home.display().to_string(), "/home/ada");
    let mut words: Vec<String> = text.split(' ').map(str::to_owned).collect();
    for at in 0..words.len() {
        let is_number =
            |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
        if is_number(&words[at])
            && words.get(at + 1).is_some_and(|unit| unit == "s" || unit == "s,")
        {
            "1".clone_into(&mut words[at]);
        }
        if let Some((before, port)) = words[at].split_once("127.0.0.1:") {
            // Of the same length, so that the rows stay the same.
            let port: String = port
                .chars()
                .map(|letter| if letter.is_ascii_digit() { '0' } else { letter })
                .collect();
            words[at] = format!("{before}127.0.0.1:{port}");
        }
        let has_form = |word: &str, form: &str| {
            word.replace(|letter: char| letter.is_ascii_digit(), "0") == form
        };
        if has_form(&words[at], "0000-00-00")
            && words.get(at + 1).is_some_and(|time| has_form(time, "00:00"))
        {
            "2026-11-27".clone_into(&mut words[at]);
            "12:00".clone_into(&mut words[at + 1]);
        }
        if words[at].len() >= 36 && words[at].matches('-').count() == 4 {
            words[at] = words[at].replace(|letter: char| letter.is_ascii_hexdigit(), "0");
        }
    }
    // A time below a second is not shown.
    words.join(" ").replace(" \u{b7} 1 s", "")
}

/// Compares all screens of a size with their files, or writes them.
fn compare(size: (u16, u16)) {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/screens");
    let is_update = std::env::var_os(UPDATE).is_some();
    let mut stale = Vec::new();
    for scene in scenes::all() {
        let name = format!("{}-{}x{}", scene.name, size.0, size.1);
        let Ok(picture) = catch_unwind(AssertUnwindSafe(|| scene.play(size))) else {
            stale.push((name, "a screen".to_owned(), "none, see above".to_owned()));
            continue;
        };
        let (text, svg) = (folder.join(format!("{name}.txt")), folder.join(format!("{name}.svg")));
        if is_update {
            fs::create_dir_all(&folder).unwrap();
            fs::write(text, picture.text()).unwrap();
            fs::write(svg, picture.svg()).unwrap();
            continue;
        }
        let known = fs::read_to_string(&text).unwrap_or_default();
        if known != picture.text() {
            stale.push((name, known, picture.text()));
        } else if fs::read_to_string(&svg).unwrap_or_default() != picture.svg() {
            stale.push((name, "colours".to_owned(), "other colours".to_owned()));
        }
    }
    if let Some((name, known, shown)) = stale.first() {
        let names: Vec<&String> = stale.iter().map(|(name, ..)| name).collect();
        assert_eq!(known, shown, "{name}; `cargo xtask screens --update` writes {names:?}");
    }
}

#[test]
#[ignore = "takes long: `cargo xtask screens` runs it"]
fn screens_of_80_columns_are_those_of_the_documentation() {
    compare((80, 24));
}

#[test]
#[ignore = "takes long: `cargo xtask screens` runs it"]
fn screens_of_120_columns_are_those_of_the_documentation() {
    compare((120, 40));
}

#[test]
#[ignore = "takes long: `cargo xtask screens` runs it"]
fn screens_of_40_columns_are_those_of_the_documentation() {
    compare((40, 10));
}

#[test]
fn the_screens_of_the_documentation_are_small_and_all_in_use() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/screens");
    let names: Vec<&str> = scenes::all().iter().map(|scene| scene.name).collect();
    let mut size = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        size += entry.metadata().unwrap().len();
        let name = entry.file_name().into_string().unwrap();
        let scene = name.rsplit_once('-').map_or("", |(scene, _)| scene);
        assert!(names.contains(&scene) || name == "README.md", "{name} belongs to no scene");
    }
    assert!(size < LARGEST, "{size} bytes");
}

#[test]
fn text_that_differs_in_each_run_is_replaced() {
    let id = "00112233-4455-6677-8899-aabbccddeeff";
    for (text, expected) in [
        ("- Shell make \u{b7} done \u{b7} 12 s", "- Shell make \u{b7} done"),
        ("waiting \u{b7} 3 s \u{b7} Esc stops", "waiting \u{b7} Esc stops"),
        ("in 4 s, try 2", "in 1 s, try 2"),
        ("12 files", "12 files"),
    ] {
        assert_eq!(stable(text, Path::new("/tmp/home")), expected);
    }
    let text = format!("cd /tmp/home/shop --resume {id}");
    let expected = "cd /home/ada/shop --resume 00000000-0000-0000-0000-000000000000";
    assert_eq!(stable(&text, Path::new("/tmp/home")), expected);
}
