use std::path::PathBuf;

use clap::ValueEnum;
use clap_complete::Shell;
use pollux_protocol::ApprovalMode;
use pretty_assertions::assert_eq;
use proptest::prelude::*;

use super::*;

fn read(words: &[&str]) -> Result<Invocation, Exit> {
    let argv = ["/usr/bin/gemini"].iter().chain(words).map(OsString::from);
    parse(argv, "gemini")
}

fn run(words: &[&str]) -> Arguments {
    match read(words) {
        Ok(Invocation::Run(arguments)) => *arguments,
        other => panic!("{words:?} is no run: {other:?}"),
    }
}

/// Returns the message of a rejected line, without the hint after it.
fn refused(words: &[&str]) -> String {
    let exit = read(words).expect_err(&format!("{words:?} is refused"));
    assert_eq!((exit.code, exit.stdout.as_str()), (1, ""), "{words:?}");
    let message = exit.stderr.strip_suffix("\nFor the usage: gemini --help\n").expect("the hint");
    message.to_owned()
}

/// Returns the message of a rejected line of a subcommand, whose hint names this subcommand.
fn refused_by_subcommand(words: &[&str]) -> String {
    let exit = read(words).expect_err(&format!("{words:?} is refused"));
    assert_eq!((exit.code, exit.stdout.as_str()), (1, ""), "{words:?}");
    let (message, hint) = exit.stderr.split_once("\nFor the usage: gemini ").expect("the hint");
    assert!(hint.starts_with(words[0]) && hint.ends_with(" --help\n"), "{hint}");
    message.to_owned()
}

#[test]
fn a_misspelt_flag_has_a_suggestion() {
    for (words, message) in [
        (&["--modle", "x"][..], "Unknown argument: modle\nDid you mean --model?"),
        (&["--aproval-mode", "x"], "Unknown argument: aproval-mode\nDid you mean --approval-mode?"),
        (&["--full-auto"], "Unknown argument: full-auto\nDid you mean --approval-mode auto_edit?"),
        (&["--print", "x"], "Unknown argument: print\nDid you mean --prompt?"),
        (&["--fake-response", "x"], "Unknown argument: fake-response"),
    ] {
        assert_eq!(refused(words), message, "{words:?}");
    }
    let message = refused_by_subcommand(&["demo", "--keeep"]);
    assert_eq!(message, "Unknown argument: keeep\nDid you mean --keep?");
}

/// Returns the message of a line that is neither a subcommand nor a prompt.
fn unclear(words: &[&str]) -> String {
    let exit = read(words).expect_err(&format!("{words:?} is refused"));
    assert_eq!((exit.code, exit.stdout.as_str()), (42, ""), "{words:?}");
    exit.stderr
}

#[test]
fn subcommands_of_other_agents_are_no_prompts() {
    for (words, expected) in [
        (
            &["login"][..],
            "There is no subcommand \"login\". Keys are read from the environment, such as GEMINI_API_KEY, and from ~/.gemini/.env.\nTo send it as a prompt: gemini -p login\n",
        ),
        (
            &["review"],
            "There is no subcommand \"review\".\nTo send it as a prompt: gemini -p review\n",
        ),
        (
            &["confgi"],
            "There is no subcommand \"confgi\". Did you mean \"gemini config\"?\nTo send it as a prompt: gemini -p confgi\n",
        ),
        (
            &["exec", "say", "hi"],
            "There is no subcommand \"exec\". Use --prompt for a headless run: gemini -p \"say hi\"\n",
        ),
        (
            &["policy", "test", "git", "push"],
            "There is no subcommand \"policy test git push\". Did you mean \"gemini policy\" with list, lint, explain?\nTo send it as a prompt, quote it: gemini -p \"policy test git push\"\n",
        ),
    ] {
        assert_eq!(unclear(words), expected, "{words:?}");
    }
    for words in [
        &["explain", "this", "code"][..],
        &["run", "the", "tests"],
        &["review", "main.rs"],
        &["hi"],
        &["--", "login"],
        &["-r", "latest", "review"],
        &["-p", "login"],
        &["please login"],
    ] {
        assert!(run(words).prompt_text().is_some(), "{words:?}");
    }
}

/// Returns the message of a line that uses an unavailable feature.
fn postponed(words: &[&str]) -> String {
    let exit = read(words).expect_err(&format!("{words:?} is refused"));
    assert_eq!((exit.code, exit.stdout.as_str()), (1, ""), "{words:?}");
    exit.stderr
}

#[test]
fn nothing_is_a_run_with_defaults() {
    let arguments = run(&[]);
    assert_eq!(arguments.prompt_text(), None);
    assert_eq!(arguments.model, None);
    assert_eq!(arguments.output_format, None);
    assert!(!arguments.yolo && !arguments.debug && !arguments.rules.skip_trust);
}

#[test]
fn prompts() {
    let table: &[(&[&str], Option<&str>)] = &[
        (&["fix", "the", "test"], Some("fix the test")),
        (&["fix  it"], Some("fix  it")),
        (&["-p", "hi"], Some("hi")),
        (&["-phi"], Some("hi")),
        (&["-p=hi"], Some("hi")),
        (&["--prompt", "hi"], Some("hi")),
        (&["--prompt=hi"], Some("hi")),
        (&["--prompt=--yolo"], Some("--yolo")),
        (&["--p", "hi"], Some("hi")),
        (&["-p", ""], Some("")),
        (&["-p", "-"], Some("-")),
        (&["-p", "-5"], Some("-5")),
        (&["-p", "- a list"], Some("- a list")),
        (&["-p", "--debug does what?"], Some("--debug does what?")),
        (&["-p", "a", "-p", "b"], Some("b")),
        (&["-dp", "hi"], Some("hi")),
        (&["--", "--yolo", "mcp"], Some("--yolo mcp")),
        (&["what", "is", "-5", "-"], Some("what is -5 -")),
        (&["@src/a.rs", "--debug", "explain"], Some("@src/a.rs explain")),
        (&["explain", "mcp"], Some("explain mcp")),
        (&["-p", "", "word"], Some("word")),
        (&["--yolo", "true", "word"], Some("word")),
    ];
    for (words, expected) in table {
        assert_eq!(run(words).prompt_text().as_deref(), *expected, "{words:?}");
    }
}

#[test]
fn every_flag_that_works() {
    let arguments = run(&[
        "-m",
        " pro ",
        "-o",
        "stream-json",
        "--approval-mode",
        "auto_edit",
        "--include-directories",
        "a, b,,c",
        "--includeDirectories=d",
        "--skip-trust",
        "--sessionId",
        "x-1_Y",
        "--raw-output",
        "--accept-raw-output-risk",
        "-d",
        "--fake-responses",
        "r.jsonl",
        "--fake-responses-non-strict=n.jsonl",
        "--recordResponses",
        "w.jsonl",
        "--isCommand",
        "--screen-reader",
        "--list-sessions",
        "--delete-session",
        "2",
    ]);
    assert_eq!(arguments.model.as_deref(), Some("pro"));
    assert_eq!(arguments.output_format, Some(OutputFormat::StreamJson));
    assert_eq!(arguments.approval_mode, Some(ApprovalMode::AutoEdit));
    assert_eq!(arguments.include_directories, ["a", "b", "c", "d"]);
    assert_eq!(arguments.session_id.as_deref(), Some("x-1_Y"));
    assert_eq!(arguments.fake_responses, Some(PathBuf::from("r.jsonl")));
    assert_eq!(arguments.fake_responses_non_strict, Some(PathBuf::from("n.jsonl")));
    assert_eq!(arguments.record_responses, Some(PathBuf::from("w.jsonl")));
    assert_eq!(arguments.delete_session.as_deref(), Some("2"));
    assert!(arguments.rules.skip_trust && arguments.raw_output && arguments.accept_raw_output_risk);
    assert!(arguments.debug && arguments.is_command && arguments.list_sessions);
    let file = run(&["--session-file", "s.jsonl"]).session_file;
    assert_eq!(file, Some(PathBuf::from("s.jsonl")));
}

#[test]
fn switches() {
    let table: &[(&[&str], bool)] = &[
        (&["-y"], true),
        (&["--yolo"], true),
        (&["--yolo=true"], true),
        (&["--yolo", "false"], false),
        (&["--yolo=false"], false),
        (&["--no-yolo"], false),
        (&["--yolo=1"], false),
        (&["--yolo", "--no-yolo"], false),
        (&["--no-yolo", "-y"], true),
        (&["-yd"], true),
        (&["-y=false"], false),
        (&["-dy", "false"], false),
    ];
    for (words, expected) in table {
        assert_eq!(run(words).yolo, *expected, "{words:?}");
    }
}

#[test]
fn resume_may_stand_alone() {
    let table: &[(&[&str], Option<&str>, Option<&str>)] = &[
        (&["-r"], Some("latest"), None),
        (&["--resume"], Some("latest"), None),
        (&["--resume="], Some("latest"), None),
        (&["--resume", ""], Some("latest"), None),
        (&["-r", "5"], Some("5"), None),
        (&["-r5"], Some("5"), None),
        (&["-r", "-p", "go on"], Some("latest"), Some("go on")),
        (&["--resume", "abc-1", "go", "on"], Some("abc-1"), Some("go on")),
        (&["-r", "1", "-r", "2"], Some("2"), None),
    ];
    for (words, resume, prompt) in table {
        let arguments = run(words);
        assert_eq!(arguments.resume.as_deref(), *resume, "{words:?}");
        assert_eq!(arguments.prompt_text().as_deref(), *prompt, "{words:?}");
    }
}

#[test]
fn unusable_lines() {
    let exclusive = "The flags --resume, --session-id, and --session-file are mutually exclusive. Please provide only one.";
    let table: &[(&[&str], &str)] = &[
        (&["--nosuch"], "Unknown argument: nosuch"),
        (&["-z"], "Unknown argument: z"),
        (&["--nosuch", "--nosuch=2", "-z"], "Unknown arguments: nosuch, z"),
        (&["--all-files"], "Unknown argument: all-files"),
        (&["--ignore-env"], "Unknown argument: ignore-env"),
        (&["--no-model"], "Unknown argument: model"),
        (&["--no-nosuch"], "Unknown argument: nosuch"),
        (&["--telemetry=true"], "Unknown argument: telemetry"),
        (&["--=x"], "Unknown argument: \"\""),
        (&["--keep", "x"], "Unknown argument: keep"),
        (&["--json"], "Unknown argument: json"),
        (&["-p"], "Not enough arguments following: p"),
        (&["--prompt"], "Not enough arguments following: prompt"),
        (&["-p", "--yolo"], "Not enough arguments following: p"),
        (&["-m", "-p", "x"], "Not enough arguments following: m"),
        (&["-m", "--prompt=x y"], "Not enough arguments following: m"),
        (&["--nosuch", "-p"], "Not enough arguments following: p"),
        (&["--approvalMode"], "Not enough arguments following: approvalMode"),
        (
            &["-o", "xml"],
            "Invalid values:\n  Argument: output-format, Given: \"xml\", Choices: \"text\", \"json\", \"stream-json\"",
        ),
        (
            &["--approval-mode", "autoEdit"],
            "Invalid values:\n  Argument: approval-mode, Given: \"autoEdit\", Choices: \"default\", \"auto_edit\", \"yolo\", \"plan\"",
        ),
        (&["-r", "--session-id", "x"], exclusive),
        (&["--session-file", "f", "--session-id", "x"], exclusive),
        (
            &["words", "-p", "x"],
            "Cannot use both a positional prompt and the --prompt (-p) flag together",
        ),
        (
            &["-p", "x", "-i", "y"],
            "Cannot use both --prompt (-p) and --prompt-interactive (-i) together",
        ),
        (
            &["-y", "--approval-mode", "plan"],
            "Cannot use both --yolo (-y) and --approval-mode together. Use --approval-mode=yolo instead.",
        ),
        (&["--session-id", " "], "The --session-id option cannot be empty."),
        (&["--policy", "", "-p", "x"], "The --policy option cannot be empty."),
        (&["--policy="], "The --policy option cannot be empty."),
        (&["--admin-policy", " , "], "The --admin-policy option cannot be empty."),
        (
            &["--session-id", "a/b"],
            "Invalid session ID \"a/b\": Only alphanumeric characters, dashes, and underscores are allowed.",
        ),
        (&["--skip-trust", "extensions", "list"], "Unknown argument: skip-trust"),
    ];
    for (words, expected) in table {
        assert_eq!(refused(words), *expected, "{words:?}");
    }
}

#[test]
fn what_comes_later_is_never_ignored() {
    let yet = "is not available in this version of Pollux yet.\n";
    let table: &[(&[&str], &str)] = &[
        (&["-w"], "The flag --worktree"),
        (&["--worktree", "name"], "The flag --worktree"),
        (&["gemma", "setup", "--port", "1"], "The subcommand gemma"),
        (&["undo"], "The subcommand undo"),
        (&["sessions", "--json"], "The subcommand sessions"),
        (&["sessions", "list"], "The subcommand sessions"),
        (&["-m", "pro", "undo"], "The subcommand undo"),
    ];
    for (words, subject) in table {
        let message = postponed(words);
        assert!(message.starts_with(&format!("{subject} {yet}")), "{words:?}: {message}");
        assert!(message.ends_with('\n') && message.lines().count() <= 2, "{words:?}: {message}");
    }
}

#[test]
fn the_old_name_of_acp_means_the_same() {
    for (words, expected) in [
        (&["--acp"][..], true),
        (&["--experimental-acp"], true),
        (&["--experimentalAcp"], true),
        (&["--acp=false"], false),
        (&[], false),
    ] {
        assert_eq!(run(words).acp, expected, "{words:?}");
    }
}

#[test]
fn saying_no_to_what_comes_later_is_fine() {
    for words in [
        &["--sandbox=false"][..],
        &["--sandbox", "false"],
        &["--no-sandbox"],
        &["-e", "none"],
        &["--screen-reader"],
    ] {
        assert_eq!(run(words).prompt_text(), None, "{words:?}");
    }
}

#[test]
fn a_sandbox_is_asked_for_or_refused_or_left_to_the_settings() {
    let table: [(&[&str], Option<bool>); 6] = [
        (&["-s"], Some(true)),
        (&["--sandbox", "-p", "x"], Some(true)),
        (&["--sandbox=docker"], Some(true)),
        (&["--sandbox=false"], Some(false)),
        (&["--no-sandbox"], Some(false)),
        (&["-p", "x"], None),
    ];
    for (words, expected) in table {
        assert_eq!(run(words).sandbox, expected, "{words:?}");
    }
}

fn config(words: &[&str]) -> ConfigArguments {
    match read(&[&["config"], words].concat()) {
        Ok(Invocation::Subcommand(Subcommand::Config(arguments))) => arguments,
        other => panic!("{words:?} is not about settings: {other:?}"),
    }
}

#[test]
fn lines_about_settings() {
    use pollux_config::FileScope::{Project, System, User};
    for (words, scope) in [
        (&["list"][..], None),
        (&["list", "--all"], None),
        (&["get", "general.vimMode"], None),
        (&["get", "anything"], None),
        (&["set", "general.vimMode", "true"], Some(User)),
        (&["set", "general.vimMode", "-1", "--project"], Some(Project)),
        (&["set", "--system", "general.vimMode", "[1]"], Some(System)),
        (&["unset", "--user", "general.vimMode"], Some(User)),
        (&["explain", "general.vimMode"], None),
        (&["report"], None),
        (&["migrate", "--project"], Some(Project)),
    ] {
        let found = config(words);
        assert!(!found.json() && !found.skip_trust && found.given.is_empty(), "{words:?}");
        assert!(config(&[words, &["--json"]].concat()).json(), "{words:?}");
        let operand = |index: usize| {
            let operands = words[1..].iter().filter(|word| !word.starts_with("--"));
            operands.collect::<Vec<_>>()[index].to_string()
        };
        let (name, file) = match found.verb {
            ConfigVerb::List { all, .. } => {
                assert_eq!(all, words.contains(&"--all"));
                ("list", None)
            }
            ConfigVerb::Get { key, .. } => {
                assert_eq!(key, operand(0));
                ("get", None)
            }
            ConfigVerb::Explain { key, .. } => {
                assert_eq!(key, operand(0));
                ("explain", None)
            }
            ConfigVerb::Set { key, value, file, .. } => {
                assert_eq!((key, value), (operand(0), operand(1)));
                ("set", Some(file.scope()))
            }
            ConfigVerb::Unset { key, file, .. } => {
                assert_eq!(key, operand(0));
                ("unset", Some(file.scope()))
            }
            ConfigVerb::Report { .. } => ("report", None),
            ConfigVerb::Migrate { file, .. } => ("migrate", Some(file.scope())),
        };
        assert_eq!((name, file), (words[0], scope), "{words:?}");
    }
}

#[test]
fn flags_over_settings_are_reported() {
    let flags = ["-m", "x", "-y", "--include-directories", "a,b", "--no-sandbox", "--skip-trust"];
    let found = config(&[&["explain", "model.name"][..], &flags].concat());
    let given: Vec<_> =
        found.given.iter().map(|given| (given.flag, given.value.to_string())).collect();
    let expected = [
        ("--model", "\"x\""),
        ("--yolo", "\"yolo\""),
        ("--include-directories", "[\"a\",\"b\"]"),
        ("--sandbox", "false"),
    ];
    assert_eq!(given, expected.map(|(flag, value)| (flag, value.to_owned())));
    assert!(found.skip_trust);
}

#[test]
fn incomplete_lines_of_subcommands() {
    for (words, message) in [
        (
            &["config"][..],
            "config needs a subcommand: list, get, set, unset, explain, report, migrate.",
        ),
        (
            &["-m", "pro", "config"],
            "config needs a subcommand: list, get, set, unset, explain, report, migrate.",
        ),
        (&["policy"], "policy needs a subcommand: list, lint, explain."),
        (&["prompt"], "prompt needs a subcommand: show."),
        (&["config", "set", "general.vimMode"], "config set takes KEY VALUE."),
        (&["config", "set", "general", "true", "false"], "config set takes KEY VALUE."),
        (&["config", "get"], "config get takes KEY."),
        (&["config", "get", "the", "server", "going"], "config get takes KEY."),
        (&["config", "report", "general"], "config report takes no further arguments."),
        (&["config", "set", "a.b", "c", "--user", "--project"], "Only one of --user, "),
        (&["config", "get", "a.b", "--all"], "Unknown argument: all"),
        (&["config", "get", "a.b", "--nope"], "Unknown argument: nope"),
        (&["demo", "-o", "xml"], "Invalid values:\n  Argument: output-format, Given: \"xml\""),
        (&["demo", "--yolo"], "Unknown argument: yolo"),
        (&["demo", "--keep", "it", "all"], "demo takes no further arguments."),
        (&["prompt", "show", "--yolo"], "Unknown argument: yolo"),
        (&["prompt", "show", "me"], "prompt show takes no further arguments."),
        (&["policy", "explain"], "policy explain requires a command line."),
        (&["policy", "list", "--policy", ""], "The --policy option cannot be empty."),
        (&["policy", "list", "them"], "policy list takes no further arguments."),
        (&["policy", "explain", "--nope", "ls"], "Unknown argument: nope"),
        (&["completions"], "completions takes the name of one shell: bash, elvish, "),
        (&["completions", "of", "bash"], "completions takes the name of one shell: "),
        (&["completions", "tcsh"], "Unknown shell tcsh. The shells are bash, "),
        (&["man", "overboard"], "man takes no further arguments."),
        (&["version", "--yolo", "it"], "version takes no further arguments."),
    ] {
        // The name of the subcommand may follow flags.
        let start = words.iter().position(|word| !word.starts_with('-') && *word != "pro");
        let found = if start == Some(0) {
            refused_by_subcommand(words)
        } else {
            read(words).unwrap_err().stderr
        };
        assert!(found.starts_with(message), "{words:?}: {found}");
    }
    assert_eq!(refused(&["--project", "x"]), "Unknown argument: project");
}

#[test]
fn mistyped_subcommands_are_not_prompts() {
    for (words, suggestion) in [
        (&["config", "lsit"][..], "Did you mean \"gemini config list\"?"),
        (&["config", "help"], "The subcommands of config are list, get, set, "),
        (&["config", "the", "server"], "The subcommands of config are "),
        (&["prompt", "shwo"], "Did you mean \"gemini prompt show\"?"),
        (&["prompt", "me", "for", "a", "name"], "The subcommands of prompt are show."),
        (&["policy", "explian", "git", "status"], "Did you mean \"gemini policy explain\"?"),
        (&["policy", "help"], "Did you mean \"gemini policy\" with list, lint, explain?"),
        (&["sandbox", "stauts"], "Did you mean \"gemini sandbox status\"?"),
        (&["demo", "now"], "Did you mean \"gemini demo\"?"),
        (&["undo", "it"], "Did you mean \"gemini undo\"?"),
        (&["auth", "logn"], "Did you mean \"gemini auth login\"?"),
        (&["help", "cofnig"], "Did you mean \"gemini help config\"?"),
        (&["version", "now"], "Did you mean \"gemini version\"?"),
    ] {
        let found = unclear(words);
        assert!(found.contains(suggestion), "{words:?}: {found}");
        assert!(found.contains("To send it as a prompt"), "{words:?}: {found}");
    }
}

#[test]
fn prompts_that_begin_with_the_name_of_a_subcommand() {
    for (words, prompt) in [
        (&["demo", "mode", "does", "not", "start"][..], "demo mode does not start"),
        (&["undo", "my", "change"], "undo my change"),
        (&["help", "me", "out"], "help me out"),
        (&["version", "is", "missing"], "version is missing"),
        (&["sandbox", "the", "tests"], "sandbox the tests"),
        (&["policy", "of", "the", "house"], "policy of the house"),
        (&["--", "demo"], "demo"),
        (&["--", "config", "list"], "config list"),
        (&["man overboard"], "man overboard"),
        (&["config list the files"], "config list the files"),
    ] {
        assert_eq!(run(words).prompt_text().as_deref(), Some(prompt), "{words:?}");
    }
}

#[test]
fn a_command_line_to_explain_is_the_rest_of_the_line() {
    for (words, command, json) in [
        (&["ls"][..], "ls", false),
        (&["git", "status", "--short", "--json"], "git status --short --json", false),
        (&["--json", "git", "status", "--short"], "git status --short", true),
        (&["git status --short", "--json"], "git status --short", true),
        (&["--", "git", "-C", "a b", "log"], "git -C 'a b' log", false),
    ] {
        let line = [&["policy", "explain"], words].concat();
        let Ok(Invocation::Subcommand(Subcommand::Policy(arguments))) = read(&line) else {
            panic!("{line:?}")
        };
        let PolicyVerb::Explain { command: words, flags } = arguments.verb else {
            panic!("{line:?}")
        };
        assert_eq!((command_line(&words).as_str(), flags.json), (command, json), "{line:?}");
    }
}

#[test]
fn subcommands() {
    let demo = |words: &[&str]| match read(words) {
        Ok(Invocation::Subcommand(Subcommand::Demo(arguments))) => arguments,
        other => panic!("{words:?} is no demo: {other:?}"),
    };
    assert_eq!(demo(&["demo"]), DemoArguments::default());
    let expected =
        DemoArguments { keep: true, output_format: Some(OutputFormat::Json), debug: false };
    assert_eq!(demo(&["demo", "--keep", "-o", "json"]), expected);
    assert_eq!(demo(&["--output-format=json", "demo", "--keep=true"]), expected);
    let subcommand = |words: &[&str]| match read(words) {
        Ok(Invocation::Subcommand(subcommand)) => subcommand,
        other => panic!("{words:?} is no subcommand: {other:?}"),
    };
    assert_eq!(subcommand(&["man"]), Subcommand::Man);
    assert_eq!(subcommand(&["version", "--yolo"]), Subcommand::Version);
    assert_eq!(subcommand(&["help"]), Subcommand::Help { subcommand: Vec::new() });
    let about = ["policy", "explain"].map(str::to_owned).to_vec();
    assert_eq!(subcommand(&["help", "policy", "explain"]), Subcommand::Help { subcommand: about });
    for shell in Shell::value_variants() {
        let name = shell.to_string();
        let Subcommand::Completions(found) = subcommand(&["completions", &name]) else {
            panic!("{name}")
        };
        assert_eq!(found.shell, *shell);
    }
    // Flags may precede every subcommand that is read with the flags of the main command.
    let status = SandboxArguments { verb: SandboxVerb::Status { json: false } };
    assert_eq!(subcommand(&["--debug", "sandbox", "status"]), Subcommand::Sandbox(status));
}

#[test]
fn help_and_version_answer_whatever_else_is_there() {
    for words in [&["--version"][..], &["-v"], &["--nosuch", "-v"], &["-v", "--help"]] {
        let exit = read(words).unwrap_err();
        assert_eq!(exit, Exit::answer(format!("{}\n", env!("CARGO_PKG_VERSION"))), "{words:?}");
    }
    for words in [&["--help"][..], &["-h"], &["words", "--help"], &["--help", "-v"]] {
        let exit = read(words).unwrap_err();
        assert_eq!((exit.code, exit.stderr.as_str()), (0, ""), "{words:?}");
        assert!(exit.stdout.contains("Usage: gemini [OPTIONS] [PROMPT]..."), "{}", exit.stdout);
        assert!(exit.stdout.contains("gemini <COMMAND>"), "{}", exit.stdout);
        assert!(exit.stdout.contains("--approval-mode <MODE>"), "{}", exit.stdout);
        for hidden in ["--sandbox", "--fake-responses", "--isCommand"] {
            assert!(!exit.stdout.contains(hidden), "{hidden}");
        }
    }
    for (words, usage) in [
        (&[][..], "Usage: gemini [OPTIONS] [PROMPT]..."),
        (&["config"], "Usage: gemini config "),
        (&["policy", "explain"], "Usage: gemini policy explain [OPTIONS] <COMMAND>..."),
    ] {
        let help = help_of(words, "gemini");
        assert!(help.contains(usage), "{words:?}: {help}");
        let exit = read(&[words, &["--help"]].concat()).unwrap_err();
        assert_eq!(exit, Exit::answer(help), "{words:?}");
    }
    let exit = read(&["demo", "--help"]).unwrap_err();
    assert!(exit.stdout.starts_with("Show the agent at work"), "{}", exit.stdout);
    assert!(exit.stdout.contains("Usage: gemini demo [OPTIONS]"), "{}", exit.stdout);
    assert_eq!(run(&["--help=false"]).prompt_text(), None);
}

#[test]
fn completions_and_man_page_know_the_flags() {
    for shell in Shell::value_variants() {
        let script = completions(*shell);
        for offered in ["approval-mode", "demo", "explain"] {
            assert!(script.contains(offered), "{shell}: {offered}");
        }
    }
    // The generators of the other shells offer no values of arguments.
    for shell in [Shell::Bash, Shell::Zsh] {
        let script = completions(shell);
        for offered in ["general.vimMode", "BeforeTool", "flash-lite"] {
            assert!(script.contains(offered), "{shell}: {offered}");
        }
    }
    let page = String::from_utf8(man()).unwrap();
    assert!(page.contains(".TH pollux 1") && page.contains("approval\\-mode"), "{page}");
}

#[test]
fn the_declaration_is_sound() {
    flags::whole("pollux").debug_assert();
}

#[test]
fn without_a_person() {
    type Row =
        (&'static [&'static str], (bool, bool), &'static [(&'static str, &'static str)], bool);
    // Columns: words, whether standard input and output are terminals, variables, expected headless
    // mode.
    let table: &[Row] = &[
        (&[], (true, true), &[], false),
        (&["words"], (true, true), &[], false),
        (&["words"], (false, true), &[], true),
        (&["words"], (true, false), &[], true),
        (&["-p", "x"], (true, true), &[], true),
        (&["-p", ""], (true, true), &[], true),
        (&["--isCommand"], (true, true), &[], true),
        (&[], (true, true), &[("CI", "true")], true),
        (&[], (true, true), &[("CI", "1")], false),
        (&[], (true, true), &[("GITHUB_ACTIONS", "true")], true),
        (&[], (true, true), &[("CI", "true"), ("GEMINI_CLI_INTEGRATION_TEST", "true")], false),
        (&[], (false, true), &[("GEMINI_CLI_INTEGRATION_TEST", "true")], true),
    ];
    for (words, (stdin, stdout), variables, expected) in table {
        let environment = Environment::from_pairs(variables.iter().copied());
        let headless = is_headless(&run(words), *stdin, *stdout, &environment);
        assert_eq!(headless, *expected, "{words:?} {stdin} {stdout} {variables:?}");
    }
}

proptest! {
    #[test]
    fn any_line_is_read_or_refused(words in prop::collection::vec("(--?)?(no-)?[a-zA-Z=, é-]{0,8}", 0..6)) {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match read(&words) {
            Ok(_) => {}
            Err(exit) => {
                prop_assert!(matches!(exit.code, 0 | 1 | 42));
                prop_assert!(!(exit.stdout.is_empty() && exit.stderr.is_empty()));
            }
        }
    }

    #[test]
    fn a_value_beside_its_flag_is_the_value_attached_to_it(value in "[^-].{0,12}") {
        let attached = run(&[&format!("--prompt={value}")]).prompt;
        prop_assert_eq!(run(&["--prompt", &value]).prompt, attached.clone());
        prop_assert_eq!(attached, Some(value));
    }

    #[test]
    fn words_after_two_dashes_are_the_prompt(words in prop::collection::vec(".{1,8}", 1..5)) {
        let line: Vec<&str> = std::iter::once("--").chain(words.iter().map(String::as_str)).collect();
        prop_assert_eq!(run(&line).prompt_text(), Some(words.join(" ")));
    }
}
