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
