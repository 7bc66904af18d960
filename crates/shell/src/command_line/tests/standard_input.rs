//! Programs that run their standard input as a script.

use pretty_assertions::assert_eq;

use super::line;

#[test]
fn programs_that_may_run_their_standard_input_are_hidden() {
    for program in super::known::lines(include_str!("run_input.txt")) {
        for text in [
            format!("printf 'rm victim' | {program}"),
            format!("cat f |& {program}"),
            format!("{program} <<< 'rm victim'"),
            format!("{program} <<E\nrm victim\nE"),
            format!("{program} < f"),
            format!("cat f | {{ ls; {program}; }}"),
            format!("cat f | (ls; {program})"),
            format!("cat f | while true; do {program}; done"),
            format!("cat f | if true; then {program}; fi"),
            format!("{{ ls; {program}; }} < f"),
            format!("exec < f; {program}"),
            format!("cat f | sh -c '{}'", program.replace('\'', "\"")),
        ] {
            assert!(line(&text).hidden.is_some(), "{text}");
        }
    }
    for text in ["cd /dev/fd && bash 0", "cd /dev; bash stdin", "cd /proc/self/fd && . ./0"] {
        assert!(line(text).hidden.is_some(), "{text}");
    }
}

#[test]
fn filters_interpreters_and_files_of_the_project_are_not_hidden() {
    for text in [
        "printf x | head | grep -c a | sort | uniq -c | awk '{ print $1 * $2 / 3 }'",
        "cat f | python3 -c 'print(1)'",
        "cat f | python3.12 -m json.tool",
        "cat f | node -e 1",
        "cat f | perl -pe s/a/b/ | jq . | less",
        "cat f | ./target/debug/tool --flag",
        "cat f | xargs -0 grep x",
        "cat f | sudo tee g",
        "cat f | bash x.sh",
        "cat f | sh -c 'cat'",
        "cat f | while read x; do echo \"$x\"; done",
        "cat f | for x in a b; do cat; done",
        "cat f | sed -f x.sed | wc -l; a-program-that-nobody-knows",
        "git commit -F - <<E\nx\nE",
        "git apply < x.patch",
        "a-program-that-nobody-knows x | head",
        "bash dev/setup.sh",
        ". ./env.sh",
        "source venv/bin/activate",
        "unshare -r ls",
        "make -f x.mk",
        "cat f | sed -e s/the/e/ -e '/e/d' | sed -n '/a/,/b/{p;d}'",
        "cat f | sed 's/a e/b e/g; s/e$//'",
        "cat f | split -l 100 - part",
        "BASH_ENV=./env.sh bash x.sh",
        "ENV=production node x.js",
        "hash -r",
    ] {
        assert_eq!(line(text).hidden, None, "{text}");
    }
}
