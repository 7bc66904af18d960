//! What programs run: the command behind a wrapper, the script of a shell.

use super::command::{Call, Judge};
use super::model::{Program, Reason, Scope, Via};
use super::options::{Options, Spec};
use super::word::Word;
use super::wrappers::{is_launcher, spec};

impl Judge<'_> {
    /// What a program runs besides itself. `name` is without folders.
    pub(super) fn effects_of_program(&mut self, name: &str, words: &[Word], call: &Call) {
        let first = &words[0];
        match name {
            "sh" | "dash" | "ash" | "bash" | "rbash" | "ksh" | "mksh" | "zsh" => {
                self.shell(name, words, call);
            }
            "fish" | "csh" | "tcsh" | "nu" | "xonsh" | "elvish" | "pwsh" | "powershell"
            | "powershell.exe" | "cmd" | "cmd.exe" | "rc" | "es" | "yash" => {
                self.note(Reason::ForeignShell, first);
            }
            "busybox" | "toybox" | "busybox.static" => self.applet(name, words, call),
            "find" | "gfind" | "bfind" => self.find(name, words, call),
            "fd" | "fdfind" => self.fd(words, call),
            _ if is_launcher(name) => self.note(Reason::Launcher, first),
            _ => {
                if let Some(spec) = spec(name) {
                    self.wrapper(name, spec, words, call);
                }
            }
        }
    }

    fn wrapper(&mut self, name: &str, spec: &Spec, words: &[Word], call: &Call) {
        let first = &words[0];
        let options = match Options::read(spec, words) {
            Ok(options) => options,
            Err(reason) => return self.note(reason, first),
        };
        if options.has_any(spec.without_program) {
            return;
        }
        let mut at = options.end;
        let mut inner = call.through(name);
        for _ in 0..spec.operands {
            match words.get(at) {
                Some(word) if word.is_operand() || (at > options.end && word.is_single) => at += 1,
                Some(word) => return self.note(Reason::WrapperOption, word),
                None if call.has_more => return self.note(Reason::CommandName, first),
                None => return,
            }
        }
        if name.ends_with("env") && words.get(at).is_some_and(|word| word.constant() == Some("-")) {
            at += 1;
        }
        if spec.has_assignments {
            match self.environment(words, at, &mut inner) {
                Some(end) => at = end,
                None => return,
            }
        }
        let rest = &words[at.min(words.len())..];
        match name {
            "env" | "genv" if options.has_any(&["S", "split-string", "P"]) => {
                self.note(Reason::WrapperOption, first);
            }
            "xargs" | "gxargs" => self.xargs(&options, rest, first, inner),
            "flock" => self.flock(rest, first, &inner),
            "watch" if !options.has_any(&["x", "exec"]) => self.watch(rest, first, call),
            "script" => self.typescript(&options, words, rest),
            _ if !rest.is_empty() => self.inner(rest, &inner),
            _ if call.has_more => self.note(Reason::CommandName, first),
            // Without a command these start the user's shell.
            "chroot" => self.note(Reason::ScriptFile, first),
            _ => {}
        }
    }

    /// `NAME=value` in front of a command. Gives back where that begins.
    fn environment(&mut self, words: &[Word], start: usize, call: &mut Call) -> Option<usize> {
        let mut at = start;
        while let Some(word) = words.get(at) {
            let Some((name, value)) = word.known_prefix().split_once('=') else {
                if word.is_constant {
                    break;
                }
                // It might be an assignment, or the command.
                self.note(Reason::CommandName, word);
                return None;
            };
            if !word.is_single {
                self.note(Reason::CommandName, word);
                return None;
            }
            let value = word.is_constant.then(|| value.to_owned());
            self.analyser.assign(name, value.as_deref(), false);
            let position = self.frame.position(word.start);
            self.analyser.push_assignment(name.to_owned(), value, Scope::Command, position);
            call.environment.push(name.to_owned());
            at += 1;
        }
        Some(at)
    }

    fn xargs(&mut self, options: &Options, rest: &[Word], first: &Word, mut inner: Call) {
        inner.has_more = true;
        let replaced: Vec<&str> = ["I", "J", "i", "replace"]
            .iter()
            .filter_map(|name| options.get(name))
            .map(|given| match given.value.as_deref() {
                None if given.name == "replace" => "{}",
                None | Some("") if given.name == "i" => "{}",
                Some(text) => text,
                None => "",
            })
            .collect();
        if replaced.contains(&"") {
            return self.note(Reason::WrapperOption, first);
        }
        let words = replaced.iter().fold(rest.to_vec(), |words, mark| with_unknown(&words, mark));
        self.inner(&words, &inner);
    }

    fn flock(&mut self, rest: &[Word], first: &Word, inner: &Call) {
        match rest.first() {
            Some(word) if matches!(word.constant(), Some("-c" | "--command")) => {
                match rest.get(1) {
                    Some(code) => {
                        self.code(code, Via::Script("flock".into()), true, Reason::Script);
                    }
                    None => self.note(Reason::Script, first),
                }
            }
            Some(_) => self.inner(rest, inner),
            None if inner.has_more => self.note(Reason::CommandName, first),
            None => {}
        }
    }

    /// The words become one script.
    fn watch(&mut self, rest: &[Word], first: &Word, call: &Call) {
        let parts: Option<Vec<&str>> = rest.iter().map(Word::code).collect();
        match parts.filter(|_| !call.has_more) {
            Some(parts) if !parts.is_empty() => {
                self.code_text(&parts.join(" "), first, Via::Script("watch".into()), true);
            }
            Some(_) => {}
            None => self.note(Reason::Script, first),
        }
    }

    fn typescript(&mut self, options: &Options, words: &[Word], rest: &[Word]) {
        let given = options.get("c").or_else(|| options.get("command"));
        let is_plain = rest.len() <= 1 && rest.iter().all(Word::is_operand);
        match given.filter(|_| is_plain) {
            Some(given) => match given.value.clone() {
                Some(code) => {
                    let word = &words[given.at.min(words.len() - 1)];
                    self.code_text(&code, word, Via::Script("script".into()), true);
                }
                None => self.note(Reason::Script, &words[0]),
            },
            // The user's shell, or the command in the way of other systems.
            None => self.note(Reason::ScriptFile, &words[0]),
        }
    }

    fn applet(&mut self, name: &str, words: &[Word], call: &Call) {
        match words.get(1) {
            None if call.has_more => self.note(Reason::CommandName, &words[0]),
            None => {}
            Some(word) if matches!(word.constant(), Some("--list" | "--help" | "--list-full")) => {}
            Some(word) if word.known_prefix().starts_with('-') => {
                self.note(Reason::WrapperOption, word);
            }
            Some(_) => {
                let mut inner = call.through(name);
                inner.has_more = call.has_more;
                self.inner(&words[1..], &inner);
            }
        }
    }

    /// `find … -exec command ;`, any number of times.
    fn find(&mut self, name: &str, words: &[Word], call: &Call) {
        if call.has_more {
            self.note(Reason::Launcher, &words[0]);
        }
        let mut at = 1;
        while let Some(word) = words.get(at) {
            at += 1;
            if !word.is_constant && !word.is_operand() && !follows_test(&words[at - 2], word) {
                // It may become `-exec`, and what follows a command.
                self.note(Reason::WrapperOption, word);
            }
            if word.constant() == Some("-delete") {
                self.deletion(name, word, call);
            }
            if !matches!(word.constant(), Some("-exec" | "-execdir" | "-ok" | "-okdir")) {
                continue;
            }
            let rest = &words[at.min(words.len())..];
            let ends = |index: &usize| {
                let before = index.checked_sub(1).and_then(|before| rest.get(before));
                let is_all = before.and_then(|word| word.constant()) == Some("{}");
                match rest[*index].constant() {
                    Some(";") => true,
                    Some("+") => is_all,
                    _ => false,
                }
            };
            let Some(length) = (0..rest.len()).find(ends) else {
                return self.note(Reason::WrapperOption, word);
            };
            let command = &rest[..length];
            if command.iter().any(|word| !word.is_constant && !word.is_single) {
                // It may hold the end of the command.
                self.note(Reason::WrapperOption, word);
            }
            let mut inner = call.through(name);
            inner.has_more = false;
            self.inner(&with_unknown(command, "{}"), &inner);
            at += length + 1;
        }
    }

    /// `find -delete` counts as the `rm` that it stands for, with the files that are found.
    fn deletion(&mut self, name: &str, word: &Word, call: &Call) {
        let position = self.frame.position(word.start);
        if self.analyser.spend(16, position) {
            self.analyser.analysis.programs.push(Program {
                name: "rm".to_owned(),
                arguments: Vec::new(),
                has_more_arguments: true,
                environment: call.environment.clone(),
                via: call.through(name).via,
                runs_code: false,
                code_writes: false,
                position,
            });
        }
    }

    fn fd(&mut self, words: &[Word], call: &Call) {
        let runs = |word: &Word| {
            let text = word.known_prefix();
            let is_group = text.starts_with('-') && !text.starts_with("--");
            text.starts_with("--e")
                || (is_group && text.contains(['x', 'X']))
                || (!word.is_constant && !word.is_operand())
        };
        if call.has_more || words[1..].iter().any(runs) {
            self.note(Reason::Launcher, &words[0]);
        }
    }

    /// A shell: its script is read when it stands in the arguments.
    fn shell(&mut self, name: &str, words: &[Word], call: &Call) {
        let first = &words[0];
        let (mut at, mut has_code) = (1, false);
        while let Some(word) = words.get(at) {
            let Some(text) = word.constant() else {
                return self.note(Reason::Script, word);
            };
            if !text.starts_with(['-', '+']) || text == "-" || text == "--" {
                break;
            }
            at += 1;
            match text {
                "--version" | "--help" => return,
                "--norc" | "--noprofile" | "--posix" | "--noediting" | "--verbose" => continue,
                "--login" => {
                    self.note(Reason::StartupFile, word);
                    continue;
                }
                _ if text.starts_with("--") => return self.note(Reason::WrapperOption, word),
                _ => {}
            }
            let letters = &text[1..];
            has_code |= letters.contains('c') && text.starts_with('-');
            if letters.contains(['i', 'l']) {
                self.note(Reason::StartupFile, word);
            }
            if !letters.bytes().all(|byte| b"abcefhiklmnprstuvxBCEHPToO".contains(&byte))
                || letters.contains(['k', 's'])
            {
                return self.note(Reason::WrapperOption, word);
            }
            for _ in letters.bytes().filter(|byte| matches!(byte, b'o' | b'O')) {
                if !words.get(at).is_some_and(is_harmless_setting) {
                    return self.note(Reason::WrapperOption, word);
                }
                at += 1;
            }
        }
        if words.get(at).is_some_and(|word| matches!(word.constant(), Some("-" | "--"))) {
            at += 1;
        }
        match words.get(at) {
            Some(code) if has_code => self.shell_code(name, code),
            None if has_code && !call.has_more => {}
            Some(_) | None => self.note(Reason::ScriptFile, first),
        }
    }

    fn shell_code(&mut self, name: &str, code: &Word) {
        if matches!(name, "ksh" | "mksh" | "zsh") {
            // Near enough to see the programs, not to be sure that these are all.
            self.note(Reason::ForeignShell, code);
        }
        let is_posix = !matches!(name, "bash" | "rbash");
        self.code(code, Via::Script(name.to_owned()), is_posix, Reason::Script);
    }
}

/// Names for `-o` that change nothing about what runs.
fn is_harmless_setting(word: &Word) -> bool {
    matches!(
        word.constant(),
        Some("errexit" | "nounset" | "pipefail" | "xtrace" | "verbose" | "noclobber" | "noglob")
    )
}

/// Whether a word is the value of a test before it: `-name "$x"`.
fn follows_test(before: &Word, word: &Word) -> bool {
    const TESTS: &[&str] = &[
        "-name",
        "-iname",
        "-path",
        "-ipath",
        "-wholename",
        "-regex",
        "-iregex",
        "-lname",
        "-user",
        "-group",
        "-newer",
        "-size",
        "-mtime",
        "-mmin",
        "-ctime",
        "-cmin",
        "-atime",
        "-amin",
        "-perm",
        "-type",
        "-maxdepth",
        "-mindepth",
        "-samefile",
        "-printf",
    ];
    word.is_single && before.constant().is_some_and(|name| TESTS.contains(&name))
}

/// The words as a program will see them that puts something in the place of `mark`.
fn with_unknown(words: &[Word], mark: &str) -> Vec<Word> {
    let replace = |word: &Word| match word.text.find(mark) {
        Some(at) => Word { is_constant: false, prefix: word.prefix.min(at), ..word.clone() },
        None => word.clone(),
    };
    words.iter().map(replace).collect()
}
