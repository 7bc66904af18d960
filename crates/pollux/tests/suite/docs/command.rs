//! Commands of the program in a page, as a reader would type them.

use pollux_shell::Dialect;
use pollux_shell::command_line::{self, Construct, SimpleCommand};

use super::page::{CodeBlock, Passage};

/// Placeholders of a page, with a value that a reader could write.
const PLACEHOLDERS: &[(&str, &str)] = &[
    ("KEY", "model.name"),
    ("VALUE", "gemini-2.5-pro"),
    ("EVENT", "BeforeTool"),
    ("NAME", "read_file"),
    ("JSON", "{}"),
    ("DIR", "."),
    ("SHELL", "bash"),
    ("COMMAND", "ls"),
    ("SUBCOMMAND", "config"),
    ("SESSION", "latest"),
    ("N", "3"),
    ("USD", "0.5"),
    ("SECONDS", "20"),
];

/// One start of the program.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct DocumentedCommand {
    pub(super) line: usize,
    /// Words after the name of the program.
    pub(super) words: Vec<String>,
    /// Variables that the line sets for it.
    pub(super) variables: Vec<(String, String)>,
    /// True if the line gives it a standard input.
    pub(super) receives_input: bool,
}

/// Returns the commands of a block for a shell, with the variables that it exports: every line of a
/// block in `sh`, the lines with a prompt of a block in `console`, and the lines of an indented
/// block that begin with the program.
///
/// # Errors
/// The position and the text of a line that is not a line of a shell.
pub(super) fn in_block(block: &CodeBlock) -> Result<Vec<DocumentedCommand>, Passage> {
    let mut commands = Vec::new();
    let mut exported = Vec::new();
    let mut lines = (block.line..).zip(block.text.lines());
    while let Some((line, text)) = lines.next() {
        let text = match block.language.as_str() {
            "sh" => Some(text),
            "console" => text.strip_prefix("$ "),
            "" => text.starts_with("pollux ").then_some(text),
            _ => None,
        };
        let Some(text) = text else { continue };
        let mut text = text.to_owned();
        while let Some(start) = text.strip_suffix('\\') {
            let next = lines.next().map(|(_, next)| next).unwrap_or_default();
            text = format!("{start}{next}");
        }
        exported.extend(export(&text));
        for mut command in read(&Passage { line, text })? {
            command.variables.splice(..0, exported.iter().cloned());
            commands.push(command);
        }
    }
    Ok(commands)
}

/// Returns the variable that a line sets for the following ones.
fn export(text: &str) -> Option<(String, String)> {
    let (name, value) = text.strip_prefix("export ")?.split_once('=')?;
    Some((name.to_owned(), value.split_whitespace().next().unwrap_or_default().to_owned()))
}

/// Returns the command of a code inside of a sentence, if it begins with the name of the program.
/// Parts in brackets are included.
///
/// # Errors
/// The code, if it is not a line of a shell.
pub(super) fn in_code(code: &Passage) -> Result<Vec<DocumentedCommand>, Passage> {
    if code.text != "pollux" && !code.text.starts_with("pollux ") {
        return Ok(Vec::new());
    }
    let text = code.text.replace(['[', ']'], "");
    let mut commands = read(&Passage { text, line: code.line })?;
    for word in commands.iter_mut().flat_map(|command| &mut command.words) {
        for (placeholder, value) in PLACEHOLDERS {
            if word == placeholder {
                (*value).clone_into(word);
            }
        }
    }
    Ok(commands)
}

fn read(code: &Passage) -> Result<Vec<DocumentedCommand>, Passage> {
    let line = command_line::read(&code.text, Dialect::Posix);
    if line.beyond.is_some_and(|gap| gap.construct == Construct::Syntax) {
        return Err(code.clone());
    }
    let is_pollux = |command: &&SimpleCommand| command.base_name() == "pollux";
    let documented = |command: &SimpleCommand| {
        // A value that only the shell knows, such as `"$KEY"`, is as good as any other.
        let words = command.words[1..].iter().map(|word| word.shown().into_owned());
        let variables = command.assignments.iter();
        DocumentedCommand {
            line: code.line,
            words: words.collect(),
            variables: variables
                .map(|(name, value)| (name.clone(), value.clone().unwrap_or_default()))
                .collect(),
            receives_input: command.receives_input,
        }
    };
    let commands: Vec<_> = line.commands.iter().filter(is_pollux).map(documented).collect();
    // A construct that is not understood may hide commands.
    let mentions = code.text.split_whitespace().filter(|word| *word == "pollux").count();
    let is_incomplete = line.hidden.is_some() && commands.len() < mentions;
    if is_incomplete { Err(code.clone()) } else { Ok(commands) }
}

#[test]
fn commands_are_read_as_a_shell_reads_them() {
    let block = |language: &str, text: &str| CodeBlock {
        line: 5,
        language: language.to_owned(),
        text: text.to_owned(),
    };
    let words = |commands: Vec<DocumentedCommand>| -> Vec<(usize, String)> {
        commands.iter().map(|command| (command.line, command.words.join("|"))).collect()
    };
    let text =
        "export B=2  # x\ngit diff | pollux -p \"a b\"  # why\nA=1 pollux \\\n  --yolo | jq .x\n";
    let read = in_block(&block("sh", text)).unwrap();
    let variables =
        [("B", "2"), ("A", "1")].map(|(name, value)| (name.to_owned(), value.to_owned()));
    assert_eq!(read[1].variables, variables);
    assert_eq!((read[0].receives_input, read[1].receives_input), (true, false));
    assert_eq!(words(read), [(6, "-p|a b".to_owned()), (7, "--yolo".to_owned())]);
    let read = in_block(&block("console", "$ pollux trust\npollux is trusted\n")).unwrap();
    assert_eq!(words(read), [(5, "trust".to_owned())]);
    assert_eq!(words(in_block(&block("text", "pollux x\n")).unwrap()), []);
    assert!(in_block(&block("sh", "pollux 'a\n")).is_err());
    let code = |text: &str| in_code(&Passage { line: 1, text: text.to_owned() });
    let read = code("pollux hooks test EVENT [--tool NAME]").unwrap();
    assert_eq!(words(read), [(1, "hooks|test|BeforeTool|--tool|read_file".to_owned())]);
    assert_eq!(code("polluxes").unwrap(), []);
}
