//! What holds for every text.

use super::*;
use proptest::prelude::*;

/// One word of a shell that means this text.
fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Pieces of shell programs, to be put together in any order.
const PIECES: &[&str] = &[
    "ls",
    "rm -f x",
    " ",
    " ",
    "\n",
    ";",
    "&&",
    "||",
    "|",
    "&",
    "(",
    ")",
    "{ ",
    "; }",
    "$(",
    "`",
    "\"",
    "'",
    "\\",
    "$",
    "${x:-",
    "}",
    "$((",
    "))",
    "<<E",
    "E\n",
    "<(",
    ">",
    ">>",
    "<<<",
    "if ",
    "; then ",
    "; fi",
    "while ",
    "; do ",
    "; done",
    "case x in ",
    ") ",
    ";;",
    "esac",
    "for x in ",
    "[[ ",
    " ]]",
    "A=",
    "a[1]=",
    "sh -c ",
    "env ",
    "xargs ",
    "find . -exec ",
    "{} \\;",
    "#",
    "eval ",
    "trap ",
    "f() ",
    "function ",
    "time ",
    "!",
    "~",
    "*",
    "{a,b}",
    "é",
    "\u{a0}",
    "\t",
    "\r",
    "2>&1",
    "coproc ",
    "select ",
    "=",
    "+=",
    "(a b)",
    "$'\\x",
    "-exec",
];

fn pieces() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(PIECES);
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

fn is_bounded(command: &str, analysis: &Analysis) -> bool {
    let texts: usize = analysis.sub_commands.iter().map(|command| command.text.len()).sum();
    let positions = analysis.programs.iter().map(|program| program.position);
    texts <= 2 * 1024 * 1024 && positions.max().is_none_or(|position| position < command.len())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn any_text_is_analysed(text in any::<String>()) {
        prop_assert!(is_bounded(&text, &analyse(&text)));
    }

    #[test]
    fn any_pieces_are_analysed(text in pieces()) {
        prop_assert!(is_bounded(&text, &analyse(&text)));
        analyse_in(&text, crate::shell::Dialect::Posix);
    }

    #[test]
    fn a_quoted_name_is_itself(name in "[^\0'][^\0]{0,20}") {
        let analysis = analyse(&format!("{} a", quote(&name)));
        prop_assume!(analysis.built_ins.is_empty());
        prop_assert!(analysis.is_complete(), "{:?}", analysis);
        prop_assert_eq!(names(&analysis), name);
    }

    #[test]
    fn a_quoted_argument_is_itself(text in "[^\0]{0,40}") {
        let analysis = analyse(&format!("prog {}", quote(&text)));
        prop_assert!(analysis.is_complete(), "{:?}", analysis);
        prop_assert_eq!(&analysis.programs[0].arguments, &[Argument::Constant(text)]);
    }

    #[test]
    fn a_quoted_script_says_what_it_says_alone(text in pieces()) {
        let alone = analyse(&text);
        let inside = analyse(&format!("bash -c {}", quote(&format!("\n{text}"))));
        if alone.is_complete() {
            prop_assert!(inside.is_complete(), "{:?}", inside.unknown);
            prop_assert_eq!(inside.programs.len(), alone.programs.len() + 1);
        }
    }

    #[test]
    fn a_list_says_what_its_parts_say(left in commands(), right in commands()) {
        let (a, b) = (analyse(&left), analyse(&right));
        prop_assert!(a.is_complete() && b.is_complete(), "{:?} {:?}", a.unknown, b.unknown);
        for separator in ["; ", "\n", " && ", " || ", " | ", " & "] {
            let both = analyse(&format!("{left}{separator}{right}"));
            prop_assert!(both.is_complete(), "{:?}", both.unknown);
            prop_assert_eq!(names(&both), format!("{} {}", names(&a), names(&b)));
        }
    }
}

/// Names of commands in plain lines; each is read in a way of its own.
const NAMES: &[&str] = &[
    "ls", "rm", "./run", "/bin/x", "a.b", "sudo", "env", "xargs", "timeout", "sh", "bash", "cd",
    "echo", "test", "set", "eval", "trap", "exec", "command", "read", "alias", "find", "let",
    "printf", "git", "python", "sed", "awk", "nice", "busybox", "make", "true", "source",
    "builtin", "wait", "g++", "_x", "X", "ssh", "watch", "parallel",
];
/// Words that may follow.
const WORDS: &[&str] = &[
    "ls",
    "rm",
    "-rf",
    "--all=1",
    "A=1",
    "a.b/c",
    "./run",
    "..",
    "'a b'",
    "\"a b\"",
    "x'y'\"z\"",
    "''",
    "1",
    "2",
    "+x",
    "-",
    "--",
    "%1",
    "a@b",
    "a:b",
    "a,b",
    "=",
    "if",
    "then",
    "in",
    "do",
    "done",
    "time",
    "sudo",
    "env",
    "5",
    "sh",
    "bash",
    "-c",
    "'ls; rm x'",
    "\"a && b\"",
    "'$x'",
    "-exec",
    "-v",
    "'s/a/b/w f'",
    "'{print}'",
    "select",
    "function",
    "case",
    "esac",
    "a=b=c",
    "a+=b",
    "x=",
    "'it''s'",
    "export",
    "'a\"b'",
    "\"it's\"",
    "'#'",
    "a'&&'b",
    "-n5",
    "\"!\"",
    "--a='b c'",
];

fn plain_lines() -> impl Strategy<Value = String> {
    let words = prop::collection::vec(prop::sample::select(WORDS), 0..5);
    let joint = prop::sample::select(vec![
        " && ", " || ", "; ", " | ", "&&", ";", "|", "||", " \n ", " \n \n  ",
    ]);
    let command = (prop::sample::select(NAMES), words, joint);
    prop::collection::vec(command, 1..6).prop_map(|commands| {
        let mut line = String::new();
        for (number, (name, words, joint)) in commands.into_iter().enumerate() {
            line.push_str(if number == 0 { "" } else { joint });
            line.push_str(name);
            line.extend(words.into_iter().flat_map(|word| [" ", word]));
        }
        line
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    /// With a line end behind a semicolon the grammar is asked. It stumbles over some lists of several lines, so it is
    /// given them on one.
    #[test]
    fn a_plain_line_is_what_the_grammar_says(line in plain_lines()) {
        prop_assert!(super::super::plain::read(&line).is_some());
        let on_one = line.replace(" \n \n  ", " ;    ").replace('\n', ";");
        prop_assert_eq!(analyse(&line), analyse(&format!("{on_one};\n")));
    }
}

#[test]
fn common_lines_are_plain() {
    for line in [
        "ls",
        " cd src && cargo test --all 'a b' || echo \"no luck\" | tee x.log; git add a=b  ",
        "./a.out -x=1 'it''s'",
        "grep \"$x\" *.rs 2>/dev/null > out; ls ~",
        "ls | wc -l\n\n  rm x 2>&1\n",
    ] {
        assert!(super::super::plain::read(line).is_some(), "{line}");
    }
    for line in [
        "",
        "ls &",
        "ls;",
        "a |& b",
        "ls &> x",
        "x=1 ls",
        "'ls'",
        "$x",
        "> x",
        "ls ${x}",
        "ls \"$(x)\"",
        "ls 'a",
        "if x",
        "\nls",
        "ls |\nls",
        "ls;\nls",
        "ls 'a\nb'",
        "a && && b",
        "&& a",
        "a ;; b",
        "ls ?",
        "time ls",
        "export a",
        "unsetenv a",
        "é",
        "ls é",
        "a |",
        "(a)",
        "a\tb",
        "a # b",
        "a << E",
        "a <<< b",
        "a <> b",
        "a >| b",
        "a >&x",
        "a 2>&1x",
        "a >",
        "a > > b",
        "ls $1",
        "ls $",
    ] {
        assert!(super::super::plain::read(line).is_none(), "{line}");
    }
}

/// Commands that stand by themselves, in groups of all kinds.
fn commands() -> impl Strategy<Value = String> {
    let simple = prop::sample::select(vec![
        "ls -l",
        "A=1 make x",
        "sudo env B=2 git push",
        "xargs -n1 rm",
        "sh -c 'ls; date'",
        "grep \"$(date)\" f",
        "cat < x > y",
        "find . -exec rm {} \\;",
        "'my tool' \"$x\"",
        "wc <(ls)",
        "sort `id`",
        "timeout 5 ls",
    ]);
    simple.prop_map(str::to_owned).prop_recursive(3, 12, 2, |inner| {
        let pair = (inner.clone(), inner.clone());
        prop_oneof![
            pair.clone().prop_map(|(a, b)| format!("{{ {a}; {b}; }}")),
            pair.clone().prop_map(|(a, b)| format!("( {a} && {b} )")),
            pair.clone().prop_map(|(a, b)| format!("if {a}; then {b}; fi")),
            pair.prop_map(|(a, b)| format!("while {a}; do {b}; done")),
            inner.clone().prop_map(|a| format!("case $x in a|b) {a};; esac")),
            inner.clone().prop_map(|a| format!("for x in 1 2; do {a}; done")),
            inner.prop_map(|a| format!("tail \"x $( {a} )\"")),
        ]
    })
}
