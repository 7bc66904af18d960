//! Commands and the operators that join them.

use super::model::{CommandLine, Construct, Gap, RedirectionKind, SimpleCommand, Word};

/// Reads a line of bash or dash.
pub(super) fn read(text: &str) -> CommandLine {
    let mut reader = Reader {
        text,
        at: 0,
        line: CommandLine::default(),
        command: None,
        end: 0,
        state: State::Start,
        follows_pipe: false,
        is_in_pipe: false,
        here_documents: Vec::new(),
        subshells: 0,
    };
    reader.script();
    feed(&mut reader.line.commands);
    reader.line
}

/// Notes the commands whose standard input the line redirects.
fn feed(commands: &mut [SimpleCommand]) {
    let is_fed = |command: &SimpleCommand| {
        let mut redirections = command.redirections.iter();
        !command.input.is_empty() || redirections.any(|it| it.kind == RedirectionKind::Read)
    };
    // The input of a compound command, or of the shell itself, reaches other commands.
    let reaches_others = |command: &SimpleCommand| {
        is_fed(command) && (command.words.is_empty() || command.name() == "exec")
    };
    let reaches_all = commands.iter().any(reaches_others);
    for command in commands {
        command.receives_input |= reaches_all || is_fed(command);
    }
}

/// State of reading a line, between two tokens.
pub(super) struct Reader<'a> {
    pub(super) text: &'a str,
    /// Byte offset of the next token.
    pub(super) at: usize,
    pub(super) line: CommandLine,
    /// Command that is being read.
    command: Option<SimpleCommand>,
    /// End of the last token of that command.
    end: usize,
    state: State,
    /// True if the next command follows `|`.
    follows_pipe: bool,
    /// True within and after a compound command that follows `|`.
    is_in_pipe: bool,
    /// Here-documents whose bodies follow after the end of the line.
    pub(super) here_documents: Vec<HereDocument>,
    /// Number of subshells that are open.
    subshells: usize,
}

/// A here-document whose body has not been read yet.
pub(super) struct HereDocument {
    /// Index of its command.
    pub(super) command: usize,
    /// Line that ends the body.
    pub(super) end: String,
    /// True if the body is not expanded.
    pub(super) is_quoted: bool,
    pub(super) strips_tabs: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// A command may begin.
    Start,
    /// A command must begin, because an operator comes before.
    Operand,
    /// Within a simple command.
    Command,
    /// After a compound command, where only redirections and operators are allowed.
    Compound,
}

/// Reserved words that are followed by a command.
const OPENING: [&str; 8] = ["if", "then", "elif", "else", "while", "until", "do", "{"];
/// Reserved words that end a compound command.
const CLOSING: [&str; 3] = ["fi", "done", "}"];
/// Reserved words whose syntax is not read.
const UNREAD: [&str; 6] = ["case", "esac", "in", "select", "function", "coproc"];

impl<'a> Reader<'a> {
    pub(super) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Notes a construct outside the small grammar whose commands can still be read.
    pub(super) fn pass_over(&mut self, construct: Construct, position: usize) {
        self.line.beyond.get_or_insert(Gap { construct, position });
    }

    /// Notes a construct that may run commands which cannot be read, and ends reading.
    pub(super) fn hide(&mut self, construct: Construct) {
        let gap = Gap { construct, position: self.at };
        self.line.beyond.get_or_insert(gap);
        self.line.hidden.get_or_insert(gap);
    }

    /// Returns true if reading has ended before the end of the text.
    pub(super) fn is_over(&self) -> bool {
        self.line.hidden.is_some()
    }

    /// Returns the command that is being read, or begins a new one.
    pub(super) fn command(&mut self) -> &mut SimpleCommand {
        let position = self.at;
        self.command.get_or_insert_with(|| SimpleCommand { position, ..SimpleCommand::default() })
    }

    /// Ends a token of the command that is being read.
    pub(super) fn extend_command(&mut self) {
        self.end = self.at;
        if self.state != State::Compound {
            self.state = State::Command;
        }
    }

    fn script(&mut self) {
        while !self.is_over() && self.at < self.text.len() {
            self.token();
        }
        let is_open = self.state == State::Operand || self.subshells > 0;
        self.end_command();
        if !self.is_over() && (is_open || !self.here_documents.is_empty()) {
            self.hide(Construct::Syntax);
        }
    }

    fn token(&mut self) {
        let rest = &self.text[self.at..];
        match rest.as_bytes()[0] {
            b' ' | b'\t' => self.at += 1,
            b'\n' => self.end_of_line(),
            b'\\' if rest.starts_with("\\\n") && self.follows_blank() => self.at += 2,
            b'#' if self.follows_blank() => self.at += rest.find('\n').unwrap_or(rest.len()),
            b';' => self.operator(1, State::Start),
            b'&' if rest.starts_with("&&") => self.operator(2, State::Operand),
            b'&' if rest.starts_with("&>") => self.redirection(),
            b'&' => {
                self.pass_over(Construct::Background, self.at);
                self.operator(1, State::Start);
            }
            b'|' if rest.starts_with("||") => self.operator(2, State::Operand),
            b'|' if rest.starts_with("|&") => {
                self.pass_over(Construct::Redirection, self.at);
                self.operator(2, State::Operand);
            }
            b'|' => self.operator(1, State::Operand),
            b'<' | b'>' => self.redirection(),
            b'(' => self.subshell(),
            b')' => self.end_of_subshell(),
            _ => self.word_of_command(),
        }
    }

    /// Returns true if the position is the beginning of a separate token.
    fn follows_blank(&self) -> bool {
        let before = self.text[..self.at].bytes().next_back();
        before.is_none_or(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b';' | b'|' | b'&' | b'('))
    }

    fn end_of_line(&mut self) {
        if self.state != State::Operand {
            self.end_command();
            self.state = State::Start;
            self.follows_pipe = false;
        }
        self.at += 1;
        self.here_document_bodies();
    }

    fn operator(&mut self, length: usize, next: State) {
        if matches!(self.state, State::Start | State::Operand) {
            return self.hide(Construct::Syntax);
        }
        let is_first = self.line.commands.is_empty();
        self.end_command();
        let operator = &self.text[self.at..self.at + length];
        self.follows_pipe = matches!(operator, "|" | "|&");
        if is_first && self.text[self.at..].starts_with("&&") {
            self.line.folder = self.line.commands.first().and_then(directory);
        }
        self.at += length;
        self.state = next;
    }

    fn subshell(&mut self) {
        let can_begin = matches!(self.state, State::Start | State::Operand);
        if !can_begin || self.command.is_some() || self.text[self.at + 1..].starts_with('(') {
            return self.hide(Construct::Arithmetic);
        }
        self.pass_over(Construct::Subshell, self.at);
        self.is_in_pipe |= self.follows_pipe;
        self.subshells += 1;
        self.at += 1;
        self.state = State::Start;
    }

    fn end_of_subshell(&mut self) {
        if self.subshells == 0 || self.state == State::Operand {
            return self.hide(Construct::Syntax);
        }
        self.end_command();
        self.subshells -= 1;
        self.at += 1;
        self.state = State::Compound;
    }

    fn word_of_command(&mut self) {
        let start = self.at;
        let (word, draft) = self.word();
        if self.is_over() {
            return;
        }
        let written = &self.text[start..self.at];
        if matches!(self.peek(), Some(b'<' | b'>')) && self.is_descriptor(written, start) {
            return;
        }
        if matches!(self.peek(), Some(b'(')) {
            return self.hide(Construct::Keyword);
        }
        let has_words = self.command.as_ref().is_some_and(|command| !command.words.is_empty());
        if self.state == State::Compound {
            return self.hide(Construct::Syntax);
        }
        if !has_words {
            if self.command.is_none() && self.reserved(written, start) {
                return;
            }
            if self.assignment(written, &word, start) {
                return;
            }
            if !matches!(word, Word::Literal(_)) {
                return self.hide(Construct::CommandName);
            }
        }
        let command = self
            .command
            .get_or_insert_with(|| SimpleCommand { position: start, ..SimpleCommand::default() });
        command.words.push(word);
        command.has_more |= draft.may_split;
        self.extend_command();
    }

    /// Reads a number in front of a redirection. Returns true if the number belongs to the
    /// redirection.
    fn is_descriptor(&mut self, written: &'a str, start: usize) -> bool {
        if matches!(written, "0" | "1" | "2") {
            self.command.get_or_insert_with(|| SimpleCommand {
                position: start,
                ..SimpleCommand::default()
            });
            self.redirection();
            return true;
        }
        if written.starts_with('{') {
            self.hide(Construct::Arithmetic);
        } else if written.bytes().all(|byte| byte.is_ascii_digit()) {
            self.hide(Construct::Redirection);
        } else {
            self.pass_over(Construct::Redirection, start);
        }
        self.is_over()
    }

    /// Returns true for a reserved word at the beginning of a command.
    fn reserved(&mut self, written: &str, start: usize) -> bool {
        let is_compound = OPENING.contains(&written) || matches!(written, "for" | "!");
        self.is_in_pipe |= is_compound && self.follows_pipe;
        if UNREAD.contains(&written) {
            self.at = start;
            self.hide(Construct::Keyword);
        } else if OPENING.contains(&written) {
            self.pass_over(Construct::Compound, start);
            self.state = State::Operand;
        } else if CLOSING.contains(&written) {
            self.pass_over(Construct::Compound, start);
            self.state = State::Compound;
        } else if written == "!" {
            self.pass_over(Construct::Negation, start);
            self.state = State::Operand;
        } else {
            match written {
                // The name and the words of the loop are read like those of a command.
                "for" => self.pass_over(Construct::Compound, start),
                "[[" => self.pass_over(Construct::Keyword, start),
                _ => {}
            }
            return false;
        }
        true
    }

    /// Returns true for `NAME=value` in front of a command.
    fn assignment(&mut self, written: &str, word: &Word, start: usize) -> bool {
        let Some((name, _)) = written.split_once('=') else { return false };
        let name = name.strip_suffix('+').unwrap_or(name);
        let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        if name.contains('[') {
            self.hide(Construct::Arithmetic);
            return true;
        }
        let begins_well =
            name.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_');
        if !begins_well || !name.chars().all(is_name) {
            return false;
        }
        self.pass_over(Construct::Assignment, start);
        let value = word.literal().and_then(|text| text.split_once('='));
        let assigned = (name.to_owned(), value.map(|(_, value)| value.to_owned()));
        let command = self
            .command
            .get_or_insert_with(|| SimpleCommand { position: start, ..SimpleCommand::default() });
        command.assignments.push(assigned);
        self.extend_command();
        true
    }

    fn end_command(&mut self) {
        let Some(mut command) = self.command.take() else { return };
        // Bash reads the arguments of `time` as a pipeline.
        let is_pipeline = |word: &Word| {
            word.literal().is_some_and(|text| {
                text == "!"
                    || [&OPENING[..], &CLOSING, &UNREAD].iter().any(|set| set.contains(&text))
            })
        };
        if command.name() == "time" && command.words.iter().skip(1).any(is_pipeline) {
            self.hide(Construct::Keyword);
        }
        command.receives_input = self.follows_pipe || self.is_in_pipe;
        self.text[command.position..self.end.max(command.position)].clone_into(&mut command.text);
        self.line.commands.push(command);
    }
}

/// Returns the directory of a plain `cd DIRECTORY`.
fn directory(command: &SimpleCommand) -> Option<Word> {
    let [Word::Literal(name), directory] = command.words.as_slice() else { return None };
    let is_plain = name == "cd"
        && command.assignments.is_empty()
        && command.redirections.is_empty()
        && command.input.is_empty();
    let is_fixed = match directory {
        Word::Literal(text) => !text.starts_with('-') && !text.is_empty(),
        Word::InHome(_) | Word::InFolder(_) => true,
        Word::Pattern(_) | Word::Unknown(_) => false,
    };
    (is_plain && is_fixed).then(|| directory.clone())
}
