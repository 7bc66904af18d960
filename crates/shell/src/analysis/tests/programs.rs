//! Which programs run, when everything can be told.

use super::*;

#[test]
fn simple_commands_and_lists() {
    check_known(&[
        ("", ""),
        ("   ", ""),
        ("# only a comment", ""),
        ("ls", "ls"),
        ("ls -la /tmp", "ls"),
        ("ls; pwd; date", "ls date"),
        ("make && make test || cat log", "make make cat"),
        ("ls | sort | uniq -c", "ls sort uniq"),
        ("sleep 5 & date", "sleep date"),
        ("sleep 5 &", "sleep"),
        ("ls\ndate\n", "ls date"),
        ("cd src && ls", "ls"),
        ("ls # rm -rf /", "ls"),
        ("ls a#b ; date", "ls date"),
        ("! grep -q x f", "grep"),
        ("./run --fast", "./run"),
        ("/usr/bin/env", "/usr/bin/env"),
        ("~/bin/tool x", "~/bin/tool"),
        ("ls \\\n  -la \\\n  /tmp", "ls"),
        ("ls |\n sort &&\n date", "ls sort date"),
    ]);
}

#[test]
fn names_are_read_without_quotes_and_escapes() {
    check_known(&[
        ("'ls' -l", "ls"),
        ("\"ls\" -l", "ls"),
        ("l''s", "ls"),
        ("l\"s\" x", "ls"),
        ("\\ls", "ls"),
        ("l\\s", "ls"),
        ("l\\\ns", "ls"),
        ("$'ls' x", "ls"),
        ("$'\\x6cs'", "ls"),
        ("$'\\154s'", "ls"),
        ("\"my tool\" x", "my tool"),
        ("my\\ tool x", "my tool"),
        ("'if' x", "if"),
        ("ls{}", "ls{}"),
        ("[x] y".trim_start_matches("[x] "), "y"),
        ("grün --x", "grün"),
    ]);
}

#[test]
fn compound_commands() {
    check_known(&[
        ("if test -f x; then cat x; else touch x; fi", "cat touch"),
        ("if a; then b; elif c; then d; else e; fi", "a b c d e"),
        ("for f in *.rs; do wc -l \"$f\"; done", "wc"),
        ("for f in a b\ndo\n  wc $f\ndone", "wc"),
        ("for f; do wc $f; done", "wc"),
        ("while sleep 1; do date; done", "sleep date"),
        ("until a; do b; done", "a b"),
        ("case $x in a) ls;; b|c) date;; *) id;; esac", "ls date id"),
        ("case \"$(uname)\" in\n  Linux) ls ;;\n  *) ;;\nesac", "uname ls"),
        ("{ ls; date; }", "ls date"),
        ("(ls; date)", "ls date"),
        ("(cd x && ls) | sort", "ls sort"),
        ("{ ls; } > out 2>&1", "ls"),
        ("while read -r line; do grep x <<< \"$line\"; done < in", "grep"),
        ("[[ -f x && $y == z* ]] && ls", "ls"),
        ("[ -f x ] && ls", "ls"),
        ("[ \"$x\" = y ] || ls", "ls"),
        ("for ((i = 0; i < 3; i++)); do ls; done", "ls"),
        ("for i in 1 2 3; do sleep $((i + 1)); done", "sleep"),
        ("echo $((1 + 2))", ""),
        ("time ls", "ls"),
        ("time -p ls | sort", "ls sort"),
        ("coproc cat", "cat"),
        ("select x in a b; do ls; done", "ls"),
    ]);
}

#[test]
fn substitutions() {
    check_known(&[
        ("echo $(date)", "date"),
        ("echo \"today: $(date +%F) $(id -u)\"", "date id"),
        ("echo `date`", "date"),
        ("echo \"`date`\"", "date"),
        ("echo `echo \\`date\\``", "date"),
        ("diff <(sort a) <(sort b)", "diff sort sort"),
        ("tee >(gzip) < x", "tee gzip"),
        ("x=$(git rev-parse HEAD)", "git"),
        ("x=$(git log | head -n 1) ls", "git head ls"),
        ("echo ${x:-$(date)}", "date"),
        ("echo \"${x:-`date`}\"", "date"),
        ("echo $(ls $(pwd) $(date))", "ls date"),
        ("echo '$(date)' '`date`'", ""),
        ("echo \\$\\(date\\)", ""),
        ("echo \"\\$(date) \\`date\\`\"", ""),
        ("a=(1 $(date) 3)", "date"),
        ("for f in $(ls); do cat $f; done", "ls cat"),
        ("case $(uname) in *) ls;; esac", "uname ls"),
        ("echo \"$(cat < x)\"", "cat"),
        ("echo $(< x)", ""),
        ("ls ${x/a/b} ${x#y} ${x%%z*} ${#x} ${x:1:2} \"${a[@]}\"", "ls"),
    ]);
}

#[test]
fn here_documents() {
    check_known(&[
        ("cat <<EOF\nrm -rf /\nEOF\nls", "cat ls"),
        ("cat <<'EOF' > x\n$(date) `date`\nEOF\n", "cat"),
        ("cat <<\"EOF\"\n$(date)\nEOF", "cat"),
        ("cat <<EOF\n$(date)\nEOF", "cat date"),
        ("cat <<EOF\n`date`\nEOF", "cat date"),
        ("cat <<EOF\nx \\$(date) \\`date\\`\nEOF", "cat"),
        ("cat <<-EOF\n\tx\n\tEOF\nls", "cat ls"),
        ("cat <<EOF | sort\nx\nEOF", "cat sort"),
        ("cat <<EOF && ls\nx\nEOF", "cat ls"),
        ("if a; then cat <<EOF\nx\nEOF\nfi", "a cat"),
        ("python3 - <<'EOF'\nimport os\nEOF", "python3"),
        ("cat <<< \"$(date)\"", "cat date"),
    ]);
}

#[test]
fn redirections_and_assignments_do_not_hide_the_command() {
    check_known(&[
        ("> out ls -l", "ls"),
        ("2>/dev/null ls", "ls"),
        ("ls > out -la", "ls"),
        ("ls 2>&1 >/dev/null | sort", "ls sort"),
        ("ls &> all", "ls"),
        ("A=1 B=2 ls", "ls"),
        ("A=1", ""),
        ("A= ls", "ls"),
        ("A='x y' ls", "ls"),
        ("A=1 > out B=2 ls", "ls"),
        ("a[1]=2 ls", "ls"),
        ("A+=x ls", "ls"),
        ("exec 3>&1", ""),
        ("> out", ""),
    ]);
}

#[test]
fn functions_are_not_programs() {
    check_known(&[
        ("f() { ls; }; f", "ls"),
        ("f() { ls; }\nf | sort", "ls sort"),
        ("function f { ls; }; f a b", "ls"),
        ("f() { ls; }; g() { f; date; }; g", "ls date"),
        ("sudo() { ls; }; sudo rm x", "ls"),
        // Not surely defined when it is called.
        ("f; f() { ls; }", "f ls"),
        ("true && f() { ls; }; f", "ls f"),
        ("if a; then f() { ls; }; fi; f", "a ls f"),
        ("(f() { ls; }); f", "ls f"),
        ("f() { ls; } & f", "ls f"),
        ("f() { ls; }; unset -f f; f", "ls f"),
        // Called in ways that know no functions.
        ("f() { ls; }; command f", "ls f"),
        ("f() { ls; }; xargs f", "ls xargs f"),
        ("f() { ls; }; sh -c f", "ls sh f"),
    ]);
}

#[test]
fn the_parts_of_a_command_are_told() {
    let line = "A=1 sudo env B=\"$x\" git push \"$y\" origin >>log 2>&1";
    let analysis = analyse(line);
    let git = analysis.programs.iter().find(|program| program.name == "git").unwrap();
    assert_eq!(
        git,
        &Program {
            name: "git".into(),
            arguments: vec![
                Argument::Constant("push".into()),
                Argument::Unknown("\"$y\"".into()),
                Argument::Constant("origin".into()),
            ],
            has_more_arguments: false,
            environment: vec!["A".into(), "B".into()],
            via: vec![Via::Wrapper("sudo".into()), Via::Wrapper("env".into())],
            runs_code: false,
            code_writes: false,
            position: line.find("git").unwrap(),
        }
    );
    let kinds: Vec<_> = analysis
        .redirections
        .iter()
        .map(|found| (found.kind, found.target.as_deref(), found.position))
        .collect();
    assert_eq!(
        kinds,
        [
            (RedirectionKind::Append, Some("log"), line.find(">>").unwrap()),
            (RedirectionKind::Duplicate, Some("1"), line.rfind(">&").unwrap()),
        ]
    );
    assert!(analysis.writes_by_redirection());
    let assigned: Vec<_> = analysis
        .assignments
        .iter()
        .map(|found| (found.name.as_str(), found.value.as_deref(), found.scope))
        .collect();
    assert_eq!(assigned, [("A", Some("1"), Scope::Command), ("B", None, Scope::Command)]);
}

#[test]
fn redirections_have_a_kind_and_a_target() {
    use RedirectionKind::{Append, Duplicate, HereDocument, HereString, Read, ReadWrite, Write};
    let table = [
        ("a > f", Write, Some("f")),
        ("a >| 'f g'", Write, Some("f g")),
        ("a 2> f", Write, Some("f")),
        ("a &> f", Write, Some("f")),
        ("a >& f", Write, Some("f")),
        ("a >> f", Append, Some("f")),
        ("a &>> f", Append, Some("f")),
        ("a < f", Read, Some("f")),
        ("a <> f", ReadWrite, Some("f")),
        ("a 2>&1", Duplicate, Some("1")),
        ("a 2>&-", Duplicate, Some("-")),
        ("a <&3", Duplicate, Some("3")),
        ("a <<< w", HereString, Some("w")),
        ("a <<E\nx\nE", HereDocument, Some("E")),
        ("a > $f", Write, None),
        ("a > \"$f\"", Write, None),
        ("{ a; } > f", Write, Some("f")),
        ("if a; then b; fi > f", Write, Some("f")),
        ("sh -c 'a > f'", Write, Some("f")),
        ("echo \"$(a > f)\"", Write, Some("f")),
    ];
    for (line, kind, target) in table {
        let analysis = analyse(line);
        let found: Vec<_> = analysis
            .redirections
            .iter()
            .map(|found| (found.kind, found.target.as_deref()))
            .collect();
        assert_eq!(found, [(kind, target)], "{line}");
    }
}

#[test]
fn code_for_interpreters_is_marked() {
    let table = [
        ("python3 -c 'print(1)'", true),
        ("python3.12 -c x", true),
        ("python x.py", false),
        ("perl -ne 'print'", true),
        ("perl x.pl", false),
        ("ruby -e 1", true),
        ("node -e 1", true),
        ("node --eval=1", true),
        ("node x.js", false),
        ("awk '{ system($1) }' f", true),
        ("awk -f x.awk f", false),
        ("awk -F: '/a|b/ { print $2 > 5 }' f", false),
        ("awk -v x=\"$y\" '{ print x }' \"$f\"", false),
        ("awk $x '{ print }'", true),
        ("awk \"$x\"", true),
        ("mawk -W exec f", true),
        ("sed -i s/a/b/g f", false),
        ("sed 's/a/b/e' f", true),
        ("sed '1e id' f", true),
        ("sed -n \"$x\" f", true),
        ("php -r 1", true),
        ("ls -e", false),
    ];
    for (line, expected) in table {
        assert_eq!(analyse(line).programs[0].runs_code, expected, "{line}");
    }
}
