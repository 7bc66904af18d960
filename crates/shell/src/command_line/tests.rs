use pretty_assertions::assert_eq;

use super::*;

mod known;
mod risks;
mod standard_input;
mod values;

fn line(text: &str) -> CommandLine {
    read(text, Dialect::Bash)
}

/// Returns the commands of a line, each with its words joined by one space.
fn commands(text: &str) -> Vec<String> {
    line(text).commands.iter().map(SimpleCommand::shown).collect()
}

#[test]
fn files_that_a_line_changes_are_listed() {
    let table: [(&str, &[&str]); 23] = [
        ("ls -l", &[]),
        ("make > log 2>> log", &["log"]),
        ("make | tee -a out.txt ~/b > c", &["out.txt", "~/b", "c"]),
        ("sort -o x a", &["x"]),
        ("sort -ox a && sort --output=y a; sort --output z a", &["x", "y", "z"]),
        ("cp a b", &["b"]),
        ("cp -r a b /tmp/c", &["/tmp/c"]),
        ("mv -f a b", &["a", "b"]),
        ("ln -s a b", &["b"]),
        ("sed -i 's/a/b/' x.rs y.rs", &["x.rs", "y.rs"]),
        ("sed 's/a/b/' x.rs", &[]),
        ("dd if=a of=b bs=1", &["b"]),
        ("gcc -o prog a.c", &["prog"]),
        ("curl -s -o page.html https://example.com", &["page.html"]),
        ("rm -r build ./*.o", &["build", "./*.o"]),
        ("rm -r build *.o", &["build", "?"]),
        ("tee \"$FILE\"", &["?"]),
        ("ls | xargs rm", &["?"]),
        ("find . -name x | xargs touch", &["?"]),
        ("bash -c 'touch a; cp b c'", &["a", "c"]),
        ("env A=b touch x", &["x"]),
        ("git checkout -- a.rs", &["a.rs"]),
        ("unheard-of -o x", &[]),
    ];
    for (line, expected) in table {
        assert_eq!(read(line, Dialect::Bash).writes(), expected, "{line}");
    }
}

#[test]
fn lines_of_the_small_grammar_are_parsed() {
    for (text, expected) in [
        ("ls", vec!["ls"]),
        ("ls -la && cat package.json", vec!["ls -la", "cat package.json"]),
        ("git log --oneline -20 | head", vec!["git log --oneline -20", "head"]),
        ("a; b\nc || d", vec!["a", "b", "c", "d"]),
        ("a;\n\nb\n", vec!["a", "b"]),
        ("a |\n wc", vec!["a", "wc"]),
        ("rg -n foo src 2>/dev/null | head -50 # all", vec!["rg -n foo src", "head -50"]),
        ("make test 2>&1 | tail", vec!["make test", "tail"]),
        ("cd src && ls", vec!["cd src", "ls"]),
        ("echo 'a b' \"c d\" e\\ f \"g\\\"h\"", vec!["echo a b c d e f g\"h"]),
        ("wc -l src/*.rs ./* /etc/?", vec!["wc -l src/*.rs ./* /etc/?"]),
        ("ls ~/x ~ \"$HOME/y\" \"$PWD\"", vec!["ls ~/x ~ ~/y $PWD"]),
        ("ls \\\n  -l", vec!["ls -l"]),
        ("git show HEAD@{1} stash^{} a{}b {}", vec!["git show HEAD@{1} stash^{} a{}b {}"]),
        ("grep 'a$' f; echo $ \"5$\"", vec!["grep a$ f", "echo $ 5$"]),
        ("[ -f x ] && echo y", vec!["[ -f x ]", "echo y"]),
        ("sort < in > out", vec!["sort"]),
        ("timeout 5 ls -l", vec!["timeout 5 ls -l", "ls -l"]),
        ("sh -c 'a; b' x", vec!["sh -c a; b x", "a", "b"]),
        (
            "find . -name '*.rs' -exec grep -l x {} +",
            vec!["find . -name *.rs -exec grep -l x {} +", "grep -l x {}"],
        ),
    ] {
        let read = line(text);
        assert_eq!((read.beyond, read.hidden), (None, None), "{text}");
        assert_eq!(commands(text), expected, "{text}");
    }
}

#[test]
fn constant_words_are_those_that_nothing_changes_before_the_line_runs() {
    for (text, expected) in [
        ("sh 'a b.sh' > log", Some(vec!["sh", "a b.sh", "log"])),
        ("cat < \"$PWD/in\"", Some(vec!["cat", "./in"])),
        ("cd x && ./a", Some(vec!["x/cd", "cd", "x/x", "x", "x/./a", "./a"])),
        ("sh -c 'node b.js'", Some(vec!["sh", "-c", "node b.js", "node", "b.js"])),
        ("sh ~/a.sh", None),
        ("sh ./*.sh", None),
        ("sh \"$X\"", None),
        ("ls | xargs sh", None),
        ("cat a.sh | sh", None),
        ("cd \"$X\" && sh a.sh", None),
        ("python3 -m pm", None),
        ("python3 -Im pm", None),
        ("node .", None),
        ("python3 src/", None),
        ("node --test", None),
        ("cargo test", None),
        ("pytest", None),
        ("./gradlew build", None),
        ("env npx x", None),
        ("xargs -a l sh", None),
    ] {
        let expected = expected.map(|words| words.into_iter().map(str::to_owned).collect());
        assert_eq!(constant_words(text, Dialect::Bash), expected, "{text}");
    }
    assert_eq!(constant_words("ls", Dialect::PowerShell), None);
}

#[test]
fn lines_that_only_send_signals_start_no_other_program() {
    for text in [
        "kill 12",
        "kill -9 12 2>/dev/null || true",
        "sleep 1 && pkill -f server; ls",
        "kill $X",
        "kill -- -$PGID",
    ] {
        assert!(only_signals(text, Dialect::Bash), "{text}");
    }
    for text in [
        "ls",
        "kill $(./x)",
        "kill $(cat pid)",
        "PATH=. pkill 12",
        "$X 12",
        "cat() { ./x; }; kill $X; cat",
        "PATH=.; kill 12; cat x",
        "trap ./x EXIT; kill 12",
        "if ./x; then kill 12; fi",
        "kill 12; make",
        "kill 12; touch x",
        "kill 12 > x",
        "kill 12; sh x.sh",
        "./kill 12",
        "kill 12 | ./x",
    ] {
        assert!(!only_signals(text, Dialect::Bash), "{text}");
    }
}

#[test]
fn files_that_programs_run_by_convention_are_among_the_words() {
    for (text, file) in [
        ("make -s test", "Makefile"),
        ("make", "GNUmakefile"),
        ("make -C sub", "sub/Makefile"),
        ("make -Csub", "sub/Makefile"),
        ("make --directory=sub", "sub/Makefile"),
        ("timeout 5 make", "Makefile"),
        ("cd sub && make", "sub/Makefile"),
        ("npm test", "package.json"),
        ("npm --prefix sub run x", "sub/package.json"),
        ("yarn build", "package.json"),
        ("just x", "justfile"),
        ("rake", "Rakefile"),
        ("composer install", "composer.json"),
    ] {
        let words = constant_words(text, Dialect::Bash).unwrap();
        assert!(words.contains(&file.to_owned()), "{text}: {words:?}");
    }
}

#[test]
fn an_unquoted_variable_and_all_arguments_may_become_several_words() {
    for (text, expected) in [
        ("ls $X", true),
        ("ls ${X}", true),
        ("ls a$X", true),
        ("ls \"$X\"", false),
        ("ls \"$X\"b", false),
        ("ls \"$X\"$Y", true),
        ("ls \"$@\"", true),
        ("ls \"$#\"", false),
        ("ls $#", true),
        ("ls $((1))", true),
        ("ls \"$((1))\"", false),
    ] {
        assert_eq!(line(text).commands[0].has_more, expected, "{text}");
    }
}

#[test]
fn what_shells_could_read_differently_is_hidden() {
    for text in [
        "<&-eval ls '; touch C'",
        "ls <& -eval x",
        "3<&-rm ls",
        "$(<&-touch ls)",
        "<\\\n&-eval x",
        "echo x {a['$(touch C)']}</dev/null",
        "echo x {PATH}</dev/null; ls",
        "echo $((PATH=1)); ls",
        "echo $((x))",
        "echo $(($x))",
        "echo $((1 + a[$(rm x)]))",
        "echo $((1 + `rm x`))",
        "echo $((rm x) )",
        "echo $((1) )",
        "echo $((1); rm x))",
        "echo $((1",
        "echo $((1 2))",
        "echo $(())",
        "echo $((/))",
        "echo $((1\n))",
        "((PATH=1)); ls",
        "x[PATH=1]=2",
        "a=(b c)",
        "f(){ rm x; }; f",
        "echo `rm x`",
        "cat <(rm x)",
        "echo ${x:-$(rm y)}",
        "echo $'a\\'; rm x'",
        "case a in a) rm x;; esac",
        "coproc rm x",
        "$x y",
        "r{m,x} a",
        "./* a",
        "a &&",
        "a ; ; b",
        "| a",
        "a )",
        "( a",
        "'a",
        "\"a",
        "a\\",
        "a\u{a0}b",
        "a\rb",
        "time { rm x; }",
        "cat <<E\n$(rm x)\nE",
        "cat <<E\nfoo\\\nE\nrm x\nE",
        "cat <<E\nx",
        "echo x | sh",
        "sh -c -e 'rm x'",
        "sh --foo -c 'rm x'",
        "env -i rm x",
        "sh -c 'ls 'a*",
        "timeout 5 $x",
        "a 5>x",
    ] {
        assert!(line(text).hidden.is_some(), "{text}");
    }
}

#[test]
fn constructs_that_only_denials_read_are_beyond_the_small_grammar() {
    for (text, expected) in [
        ("for f in a b; do rm \"$f\"; done", vec!["for f in a b", "rm \"$f\""]),
        ("if a; then b; else c; fi > x", vec!["if", "b", "c", ""]),
        ("while a; do b; done", vec!["a", "b"]),
        ("! a", vec!["a"]),
        ("a & b", vec!["a", "b"]),
        ("(cd x; rm y)", vec!["cd x", "rm y"]),
        ("{ a; b; } 2>&1 | wc", vec!["a", "b", "", "wc"]),
        ("A=1 b $c", vec!["b $c"]),
        ("cat <<'E' | wc\nx $(y)\nE\nc", vec!["cat", "wc", "c"]),
        ("cat <<< x", vec!["cat"]),
        ("a &> f", vec!["a"]),
        ("ls *.rs", vec!["ls *.rs"]),
        ("ls {a,b}", vec!["ls {a,b}"]),
        ("a b=~/c ~d", vec!["a b=~/c ~d"]),
        ("echo x>f", vec!["echo"]),
        ("echo $((1+1)); b", vec!["echo $((1+1))", "b"]),
        ("echo \"a$(( 12 * 3 % 2 ))b\" | wc", vec!["echo \"a$(( 12 * 3 % 2 ))b\"", "wc"]),
    ] {
        let read = line(text);
        assert!(read.beyond.is_some(), "{text}");
        assert_eq!(read.hidden, None, "{text}");
        if !text.starts_with("if") && !text.starts_with("echo x>") {
            assert_eq!(commands(text), expected, "{text}");
        }
    }
}

#[test]
fn input_of_commands_is_kept() {
    let read = line("cat <<-E\n\trm x\n\tE\nb <<< 'y z'");
    assert_eq!(read.commands[0].input, ["rm x\n"]);
    assert_eq!(read.commands[1].input, ["y z"]);
}

#[test]
fn the_folder_of_a_cd_at_the_beginning_is_reported() {
    assert_eq!(line("cd src && ls").folder, Some(Word::Literal("src".into())));
    for text in ["cd src; ls", "cd -P x && ls", "ls && cd x && ls", "cd - && ls", "cd $x && ls"] {
        assert_eq!(line(text).folder, None, "{text}");
    }
}

#[test]
fn every_table_can_be_read_and_is_listed() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("programs");
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    names.sort_unstable();
    let mut listed: Vec<&str> = tables::TABLES.iter().map(|(name, _)| *name).collect();
    listed.sort_unstable();
    assert_eq!(names, listed);
    let mut problems = Vec::new();
    for (name, text) in tables::TABLES {
        if let Err(error) = table::Usage::parse(text) {
            problems.push(format!("{name}: {error}"));
        }
        let further_names = text.lines().find(|line| line.starts_with("names = "));
        if further_names.is_some_and(|line| !line.ends_with(']')) {
            problems.push(format!("{name}: the names are not on one line"));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn commands_are_known_by_their_tables() {
    for (text, named, expected) in [
        ("ls -l", 0, Ok(Some(Does::Reads))),
        ("/usr/bin/ls -l", 0, Ok(Some(Does::Reads))),
        ("./ls -l", 0, Err(Unfamiliar::Program)),
        ("git status -sb", 0, Ok(Some(Does::Reads))),
        ("git -C x log --oneline -20 --format=%h", 0, Ok(Some(Does::Reads))),
        ("git log --outp=x", 0, Err(Unfamiliar::Option("--outp=x".into()))),
        ("git bisect run x", 0, Err(Unfamiliar::Subcommand("run".into()))),
        ("git bisect run x", 3, Ok(Some(Does::Changes))),
        ("git -c a=b log", 2, Ok(Some(Does::Changes))),
        ("git", 0, Err(Unfamiliar::Subcommand(String::new()))),
        ("git push origin", 0, Ok(Some(Does::Changes))),
        ("sed -n 1,20p f", 0, Ok(Some(Does::Reads))),
        ("sed -n 1,20w f", 0, Err(Unfamiliar::Operand("1,20w".into()))),
        ("sed -n '1e touch C' f", 0, Err(Unfamiliar::Operand("1e touch C".into()))),
        ("rm -rf src", 0, Err(Unfamiliar::Option("-rf".into()))),
        ("rm -rf src", 2, Ok(Some(Does::Changes))),
        ("rm a", 0, Ok(Some(Does::Changes))),
        ("timeout 5 foo", 0, Ok(None)),
        ("sh x.sh", 0, Ok(Some(Does::Changes))),
        ("find . -name x -delete", 0, Err(Unfamiliar::Option("-delete".into()))),
        ("python3 x.py", 0, Err(Unfamiliar::Program)),
    ] {
        let read = line(text);
        assert_eq!(read.commands[0].known(named).map(|known| known.does), expected, "{text}");
    }
}

#[test]
fn a_damaged_table_is_refused() {
    let pattern = |number| format!("p{number} = \"<p{0}><p{0}>\"\n", number + 1);
    let doubling = (1..40).map(pattern).collect::<Vec<_>>().concat();
    let bomb = format!("operands = [\"/<p1>/\"]\n[patterns]\n{doubling}p40 = \"xxxxxxxx\"\n");
    let long = format!("operands = [\"/<p>/\"]\n[patterns]\np = \"{}\"\n", "x".repeat(2000));
    for (text, reason) in [
        ("does = \"reads", "TOML"),
        ("does = \"nothing\"", "unknown variant"),
        ("flagz = []", "unknown field"),
        ("operands = [\"words\"]", "is not a kind of word"),
        ("operands = [\"/(/\"]", "unclosed group"),
        ("with = [\"x\"]", "there is no shared set x"),
        (&bomb, "an expression is longer than"),
        (&long, "a pattern is longer than"),
    ] {
        let error = check_table(text).unwrap_err();
        assert!(error.contains(reason), "{error}");
    }
}

#[test]
fn the_reach_of_a_program_is_what_its_table_knows() {
    for (text, greatest) in [
        ("git", Some(Does::ConfiguresUser)),
        ("git log", Some(Does::ConfiguresUser)),
        ("/usr/bin/rm", Some(Does::Changes)),
        ("ls", Some(Does::Reads)),
        ("sh", Some(Does::Changes)),
        ("sudo", Some(Does::NeedsPrivileges)),
        ("timeout", None),
        ("python3", None),
    ] {
        assert_eq!(line(text).commands[0].greatest_effect(), greatest, "{text}");
    }
    let git = line("git").commands[0].changing_subcommands();
    assert!(git.contains(&"commit") && !git.contains(&"status"), "{git:?}");
    assert!(line("rm").commands[0].changing_subcommands().is_empty());
}

#[test]
fn programs_that_run_what_a_project_configures_say_so() {
    for name in [
        "apt-get",
        "brew",
        "bun",
        "bundle",
        "cargo",
        "cmake",
        "composer",
        "ctest",
        "dotnet",
        "eslint",
        "flutter",
        "git",
        "go",
        "gmake",
        "gradle",
        "jest",
        "just",
        "make",
        "meson",
        "mvn",
        "mypy",
        "ninja",
        "npm",
        "nx",
        "pip",
        "pip3",
        "pnpm",
        "poetry",
        "prettier",
        "pytest",
        "ssh",
        "terraform",
        "uv",
        "yarn",
    ] {
        let starts = line(name).commands[0].starts().unwrap_or_default();
        assert!(!starts.is_empty() && !starts.ends_with('.'), "{name}: {starts:?}");
        assert!(starters().iter().any(|starter| starter.names.contains(&name)), "{name}");
    }
    assert_eq!(line("tsc").commands[0].starts(), None);
}
