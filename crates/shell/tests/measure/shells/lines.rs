//! Making lines from fragments.

/// Commands, and quoted words that are equal to one.
const NAMES: [&str; 22] = [
    "ls",
    "cat",
    "git",
    "wc",
    "rm",
    "head",
    "l's'",
    "\"ls\"",
    "\\ls",
    "l\\s",
    "''ls",
    "ls\"\"",
    "timeout 5 ls",
    "env ls",
    "nice ls",
    "env timeout 5 cat",
    "sh -c 'ls a; cat b'",
    "sh -c \"git 'x y' | wc\"",
    "bash -c 'rm \"a\"'",
    "sh -c 'sh -c \"ls b\"'",
    "sh -c ls",
    "timeout 5 sh -c 'ls > out'",
];
const WORDS: [&str; 96] = [
    "a",
    "b",
    "-l",
    "a.txt",
    "--foo=bar",
    "1",
    "2",
    "{}",
    "[",
    "]",
    "!",
    "=",
    "%",
    "@",
    ":",
    "+",
    ",",
    "^",
    "~",
    "~/a",
    "~root",
    "*",
    "?",
    "sub/*",
    "./*",
    "a*b",
    "a*",
    "a?txt",
    "'*'",
    "\"*\"",
    "sub/'*'",
    "sub/\"?\"*",
    "\\*",
    "$",
    "$HOME",
    "\"$HOME\"",
    "\"$HOME/a\"",
    "\"$HOME\"/a",
    "\"$PWD\"",
    "\"$PWD/a b\"",
    "${HOME}",
    "\"$HOMEx\"",
    "\"$\"",
    "a$",
    "\"a$ b\"",
    "$'a'",
    "$\"a\"",
    "'a b'",
    "\"a b\"",
    "\"a'b\"",
    "'a\"b'",
    "a\\ b",
    "\\'",
    "\\\"",
    "\\\\",
    "\"\\\\\"",
    "\"\\\"\"",
    "\"\\$\"",
    "\"\\a\"",
    "\"\\`\"",
    "\"a\\\nb\"",
    "a\\\nb",
    "'a\\\nb'",
    "''",
    "\"\"",
    "`ls a`",
    "$(ls a)",
    "\"$(ls a)\"",
    "$((1))",
    "{a,b}",
    "{a..c}",
    "a{b",
    "a}b",
    "#a",
    "a#b",
    "'#'",
    "é",
    "a=b",
    "a=~/b",
    "a:~",
    "x[1]",
    "'\na'",
    "\"\nb\"",
    "HEAD@{1}",
    "a^{}",
    "-",
    "--",
    "-a*",
    "./-*",
    "$1",
    "\"$@\"",
    "\"$1\"",
    "~/*",
    "\"$HOME\"/*",
    "\\~/a",
    "'~/a'",
];
const BETWEEN: [&str; 16] = [
    " | ", " ; ", " && ", " || ", "\n", "|", ";", "&&", "||", " |& ", ";; ", " & ", " |\n",
    " &&\n ", "\n\n", " ||\n",
];
const REDIRECTIONS: [&str; 40] = [
    "> out",
    ">out",
    ">> out",
    ">>new",
    "< in",
    "<in",
    "2>/dev/null",
    "2>&1",
    ">&2",
    "1>&2",
    "> /dev/null",
    "</dev/null",
    "2> new",
    "2>>out",
    "0<in",
    "> 'o u'",
    "> \"out\"",
    "> o\\ut",
    "> ~/out",
    "> \"$HOME/new\"",
    "> \"$PWD/out\"",
    "&> out",
    "&>out",
    ">| out",
    "<> out",
    ">& out",
    "<&0",
    "<&-",
    ">&-",
    "3>out",
    "11>out",
    "{a}>out",
    "<<< a",
    "<<a",
    "<(ls)",
    ">(ls)",
    "> *",
    "> a*",
    ">&1",
    "2 >out",
];
const BLANKS: [&str; 10] = [" ", " ", " ", "  ", "\t", " \\\n", "\\\n", "", " \\\n ", "\n"];
const COMMENTS: [&str; 6] = [" # x", " #x; rm a", "# y", " # 'a", " #\\", "\n# z\n"];
/// Beginnings of compound commands and other lines that must be rejected, and attacks that
/// succeeded earlier.
const STRANGE: [&str; 46] = [
    "<&-eval ls '; rm C'",
    "<& -eval ls",
    "3<&-rm ls -rf src",
    "git log <&---output=C",
    ">&-eval ls '; rm C'",
    "<\\\n&-rm ls",
    "<&-'rm' ls",
    "ls {a['$(rm C)']}</dev/null",
    "ls {PATH}</dev/null",
    "ls $((PATH=1))",
    "((PATH=1)); ls",
    "x[PATH=1]=2",
    "if ls; then rm a; fi",
    "for i in a b; do rm $i; done",
    "while ls; do rm a; done",
    "case a in a) rm x;; esac",
    "f() { rm a; }; f",
    "function f { rm a; }; f",
    "{ ls; rm a; }",
    "(ls; rm a)",
    "! ls",
    "time ls",
    "time -p rm a",
    "coproc rm a",
    "[[ a = a ]] && rm a",
    "A=1 rm a",
    "A=1",
    "A=`rm a`",
    "cd sub && ls *",
    "cd sub && cat \"$PWD/a\" > out",
    "cd && ls",
    "cd -- sub && ls",
    "cat <<E\nrm a\nE\n",
    "cat <<'E'\n$(rm a)\nE",
    "cat <<E\n$(rm a)\nE",
    "ls\\\n;rm a",
    "ls '\\'; rm a",
    "ls \"\\\\\"; rm a",
    "ls $'\\'; rm a'",
    "ls \\'; rm a\\'",
    "ls \\#; rm a",
    "ls a#; rm a",
    "ls \"#\" # ; rm a",
    "sh -c 'rm \"$1\"' x",
    "sh -c 'ls' rm a",
    "env A=1 rm a",
];

/// Source of lines. The same seed gives the same lines.
pub(crate) struct Source(u64);

impl Source {
    pub(crate) fn new(seed: u64, thread: usize) -> Self {
        let mut source =
            Self((seed << 8) ^ (thread as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        for _ in 0..8 {
            source.next(2);
        }
        source
    }

    fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % below
    }

    fn one<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.next(from.len())]
    }

    pub(crate) fn line(&mut self) -> String {
        let mut line = self.command();
        for _ in 0..self.next(4) {
            let kinds = if self.next(8) == 0 { &BETWEEN[..] } else { &BETWEEN[..9] };
            let between = self.one(kinds);
            line += between;
            line += &self.command();
        }
        if self.next(12) == 0 {
            line += self.one(&COMMENTS);
        }
        while self.next(4) == 0 {
            self.mutate(&mut line);
        }
        line
    }

    fn command(&mut self) -> String {
        if self.next(10) == 0 {
            return self.one(&STRANGE).to_owned();
        }
        let mut command = String::new();
        if self.next(20) == 0 {
            command += self.one(&REDIRECTIONS);
            command += self.one(&BLANKS);
        }
        command += self.one(&NAMES);
        for _ in 0..self.next(5) {
            command += self.one(&BLANKS);
            match self.next(8) {
                0 => command += self.one(&REDIRECTIONS),
                // Adjacent fragments form one word.
                1 | 2 => {
                    command += self.one(&WORDS);
                    command += self.one(&WORDS);
                }
                _ => command += self.one(&WORDS),
            }
        }
        command
    }

    /// Deletes, doubles, moves or inserts a character.
    fn mutate(&mut self, line: &mut String) {
        let places: Vec<usize> = line.char_indices().map(|(place, _)| place).collect();
        let Some(place) = (!places.is_empty()).then(|| places[self.next(places.len())]) else {
            return;
        };
        match self.next(5) {
            0 => {
                line.remove(place);
            }
            1 => {
                let other = line[place..].chars().next().unwrap_or(' ');
                line.insert(place, other);
            }
            2 => {
                let fragment = self.one(&WORDS);
                line.insert_str(place, fragment);
            }
            3 => {
                let fragment = self.one(&REDIRECTIONS);
                line.insert_str(place, fragment);
            }
            _ => {
                let letters = b"'\"\\$`;&|<>(){}[]#~*? \t\n=!-a";
                line.insert(place, char::from(letters[self.next(letters.len())]));
            }
        }
    }
}

/// Returns true if no misreading of the line by a shell can write outside its folder.
pub(crate) fn is_harmless(line: &str) -> bool {
    let is_end = |rest: &str| {
        !rest
            .starts_with(|letter: char| letter.is_alphanumeric() || "._-/~$\\'\"{".contains(letter))
    };
    let mut parts = line.split("/dev/null");
    let first = parts.next().unwrap_or_default().to_owned();
    let mut others = first;
    for part in parts {
        if !is_end(part) || !others.ends_with(['<', '>', ' ', '\t', '\n']) {
            return false;
        }
        others += part;
    }
    let slashes = others.match_indices('/');
    let mut slashes = slashes.map(|(place, _)| &others[..place]);
    !others.contains("..")
        && slashes.all(|before| {
            before.ends_with(|letter: char| letter.is_ascii_alphanumeric() || ".~".contains(letter))
                || before.ends_with("$HOME\"")
        })
}
