//! Where the text does not tell what runs, and where readers disagree.

use super::*;

#[test]
fn computed_names() {
    use Reason::{Arithmetic, CommandName, Indirection, PromptExpansion};
    check_unknown(&[
        ("$x", "", CommandName),
        ("\"$x\" a", "", CommandName),
        ("$x ls", "", CommandName),
        ("l$x", "", CommandName),
        ("$(echo ls)", "", CommandName),
        ("`which ls` x", "which", CommandName),
        ("./r*", "", CommandName),
        ("/bin/l?", "", CommandName),
        ("/bin/[l]s", "", CommandName),
        ("x{ls,-l}", "", CommandName),
        ("l{s,x}", "", CommandName),
        ("<(ls)", "ls", CommandName),
        ("A=1 $x", "", CommandName),
        ("$\"ls\"", "", CommandName),
        ("a | $x | b", "a b", CommandName),
        ("echo ${!x}", "", Indirection),
        ("echo ${x@P}", "", PromptExpansion),
        ("echo $((x))", "", Arithmetic),
        ("x=$1; echo $((x + 1))", "", Arithmetic),
        ("((x++))", "", Arithmetic),
        ("echo ${a[x]}", "", Arithmetic),
        ("echo ${x:y}", "", Arithmetic),
        ("echo $[x]", "", Arithmetic),
        ("x='a[$(ls)]'; echo $((x))", "", Arithmetic),
        ("echo $(($(ls)))", "ls", Arithmetic),
        // Regression: indices of assignments are evaluated, too.
        ("x='a[$(ls)]'; y[x]=1", "", Arithmetic),
        ("x='a[$(ls)]'; y[x]+=1", "", Arithmetic),
        ("x='a[$(ls)]'; y=([x]=1)", "", Arithmetic),
        // Regression: this is the shell itself.
        ("/proc/self/exe -c ls", "/proc/self/exe", CommandName),
        ("/bin/../proc/$$/exe -c ls", "", CommandName),
    ]);
}

#[test]
fn text_that_is_no_program_or_read_in_several_ways() {
    for line in [
        "ls (",
        "ls )",
        "if ls; then",
        "fi",
        "done",
        "ls; }",
        "'unfinished",
        "\"unfinished",
        "`ls",
        "$(ls",
        "${x",
        "cat <<EOF\nx",
        "cat <<EOF\nx\n EOF\nls",
        "cat <<EOF\nE\\\nOF\nls\nEOF",
        "cat <<A <<B\nx\nA\ny\nB\nls",
        "ls &&",
        "&& ls",
        "ls;; date",
        "coproc X { ls; }",
        "ls\u{a0}x",
        "ls\u{b}x",
        "ls\r\ndate\r\n",
        "ls\0",
        "a[ 1 ]=2 ls",
        "\\ #x\nls; \\ ls#",
        "\"${x:-'}'}\"",
        "echo `echo \"# `",
    ] {
        let analysis = analyse(line);
        assert!(!analysis.is_complete(), "{line:?}: {analysis:#?}");
    }
}

#[test]
fn too_much_is_said_so_and_soon() {
    let started = std::time::Instant::now();
    let nested = |open: &str, close: &str, count: usize| {
        format!("{}ls{}", open.repeat(count), close.repeat(count))
    };
    let lines = [
        "a".repeat(300_000),
        format!("ls {}", "x ".repeat(150_000)),
        nested("(", ")", 3000),
        nested("$(", ")", 3000),
        nested("{ ", "; }", 3000),
        nested("\"$(", ")\"", 3000),
        nested("${x:-", "}", 3000),
        nested("$((", "))", 3000),
        nested("a=(", ")", 3000),
        nested("if ", "; then x; fi", 3000),
        "env ".repeat(2000),
        "ls && ".repeat(3000) + "ls",
        "eval ".repeat(2000),
        "cat <<E ".repeat(3000),
        "`".repeat(5001),
        "<(".repeat(5000),
        "'\\''".repeat(20_000),
        "[[ ".repeat(3000),
        "find . ".to_owned() + &"-exec find ".repeat(3000),
    ];
    for line in &lines {
        let one = std::time::Instant::now();
        let start: String = line.chars().take(30).collect();
        let analysis = analyse(line);
        println!("{start}: {:?} {:?}", one.elapsed(), reasons(&analysis));
        assert!(!analysis.is_complete() || line.starts_with("ls x"), "{start}");
    }
    println!("{:?}", started.elapsed());
    assert!(analyse("ls").is_complete());
}

/// The grammar's C code crashed on some of these.
#[test]
fn characters_of_all_planes_are_read() {
    for letter in ['é', 'ß', '漢', '\u{10ffff}', '\u{e0100}', '😀', '\u{fffd}', '\u{80}'] {
        for before in
            ["", "$", "${", "${x:-", "${x/", "${x#", "[[ a =~ ", "<<", "case x in ", "$(("]
        {
            analyse(&format!("{before}{letter}"));
            analyse(&format!("{before} {letter}; {before}a{letter}\n"));
        }
    }
    assert_eq!(names(&analyse("漢字 x; é")), "漢字 é");
    assert!(analyse("漢字 'é' > \"ü\"").is_complete());
}

#[test]
fn powershell_is_not_read() {
    let analysis = analyse_in("Get-ChildItem", crate::shell::Dialect::PowerShell);
    assert_eq!(reasons(&analysis), [Reason::ForeignShell]);
}

#[test]
fn the_posix_reading_doubts_what_only_bash_knows() {
    use crate::shell::Dialect::Posix;
    for line in ["ls; date | sort", "x=1 ls > y 2>&1", "f() { ls; }; f", "echo \"$(date)\" `id`"] {
        let (posix, bash) = (analyse_in(line, Posix), analyse(line));
        assert_eq!(posix, bash, "{line}");
        assert!(posix.is_complete(), "{line}");
    }
    for line in ["[[ x ]]", "((1))", "a <(b)", "a <<< b", "a &> b", "a |& b", "x=(1)", "${x//a}"] {
        let analysis = analyse_in(line, Posix);
        assert!(reasons(&analysis).contains(&Reason::ShellDependent), "{line}");
    }
    let analysis = analyse_in("time ls", Posix);
    assert_eq!(names(&analysis), "time ls");
}
