//! Commands in a separate terminal.

use std::sync::{Arc, Mutex};
use std::time::Instant;

use pollux_shell::{
    BackgroundProcesses, CommandOp, Ended, OutputChunk, Ran, ShellCommand, ShellOutcome, Spill,
    TerminalSize, run, run_or_hand_over,
};
use pretty_assertions::assert_eq;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio_util::sync::CancellationToken;

use super::{Fifo, PROMPT, command, end, number, outcome, wait_until_gone};

fn in_terminal(line: &str) -> ShellCommand {
    ShellCommand { terminal: Some(TerminalSize::default()), attended: true, ..command(line) }
}

async fn sh(line: &str) -> ShellOutcome {
    outcome(in_terminal(line)).await
}

/// Runs a command with a simulated user, who is called with the contents of the screen, and with
/// the prompt when the command waits for input.
async fn with_person(
    command: ShellCommand,
    mut person: impl FnMut(Seen<'_>, &UnboundedSender<CommandOp>) + Send,
) -> ShellOutcome {
    let folder = tempfile::tempdir().unwrap();
    let processes = BackgroundProcesses::new(folder.path());
    let (op, ops) = unbounded_channel();
    let on_output = |chunk: OutputChunk<'_>| match chunk {
        OutputChunk::Screen { lines, .. } => person(Seen::Screen(&lines.text()), &op),
        OutputChunk::Input(Some(awaited)) => {
            person(Seen::Question(&awaited.prompt, awaited.secret), &op);
        }
        _ => {}
    };
    let ran = run_or_hand_over(command, CancellationToken::new(), on_output, ops, &processes).await;
    let Ran::Ended(outcome) = ran.unwrap() else { panic!("nobody op for that") };
    *outcome
}

#[derive(Debug, PartialEq)]
enum Seen<'a> {
    Screen(&'a str),
    Question(&'a str, bool),
}

fn keys(text: &str) -> CommandOp {
    CommandOp::Type(text.as_bytes().to_vec())
}

#[tokio::test]
async fn a_command_finds_a_terminal() {
    let outcome =
        sh("test -t 0 && test -t 1 && test -t 2 && echo all; stty size; tty </dev/tty").await;
    let text = outcome.text();
    assert!(text.starts_with("all\n24 80\n/dev/"), "{text}");
    assert_eq!((outcome.exit_code, outcome.ended), (Some(0), Ended::Exited));
    // The text that the user sees.
    assert_eq!(outcome.lines.unwrap().text(), text);
}

#[tokio::test]
async fn results_are_those_of_plain_commands() {
    let table = [
        ("echo hello", "hello", Some(0), None),
        ("true", "", Some(0), None),
        ("echo out; echo err >&2; exit 3", "out\nerr", Some(3), None),
        ("kill -9 $$", "", None, Some(9)),
        ("printf '10%%\\r20%%\\rdone\\n'", "done", Some(0), None),
        ("printf 'no end'", "no end", Some(0), None),
        ("cat </dev/null; echo over", "over", Some(0), None),
        ("head -c 3000 /dev/zero | tr '\\0' x", &"x".repeat(3000), Some(0), None),
    ];
    for (line, text, exit_code, signal) in table {
        let outcome = sh(line).await;
        assert_eq!(outcome.text(), text, "{line}");
        assert_eq!((outcome.exit_code, outcome.signal), (exit_code, signal), "{line}");
    }
}

#[tokio::test]
async fn binary_output_is_no_text() {
    let outcome = sh("head -c 5000 /dev/zero").await;
    assert!(outcome.binary && outcome.text().contains("Binary output"));
}

#[tokio::test]
async fn a_person_answers_a_question() {
    let questions = Arc::new(Mutex::new(Vec::new()));
    let asked = Arc::clone(&questions);
    let command = in_terminal("printf 'Your name? '; read name; echo \"Hello, $name.\"");
    let outcome = with_person(command, move |seen, op| {
        if let Seen::Question(prompt, secret) = seen {
            asked.lock().unwrap().push((prompt.to_owned(), secret));
            op.send(keys("Ada\r")).unwrap();
        }
    })
    .await;
    assert_eq!(*questions.lock().unwrap(), [("Your name?".to_owned(), false)]);
    assert_eq!(outcome.text(), "Your name? Ada\nHello, Ada.");
    assert_eq!(outcome.awaited, None);
}

#[tokio::test]
async fn a_password_is_a_secret() {
    let questions = Arc::new(Mutex::new(Vec::new()));
    let asked = Arc::clone(&questions);
    let line = "printf 'Password: '; stty -echo; read word; stty echo; echo; test \"$word\" = open && echo in";
    let outcome = with_person(in_terminal(line), move |seen, op| {
        if let Seen::Question(prompt, secret) = seen {
            asked.lock().unwrap().push((prompt.to_owned(), secret));
            op.send(keys("open\r")).unwrap();
        }
    })
    .await;
    assert_eq!(*questions.lock().unwrap(), [("Password:".to_owned(), true)]);
    assert_eq!(outcome.text(), "Password: \nin");
}

#[tokio::test]
async fn python_asks_too() {
    let line = "python3 -c 'print(int(input(\"n = \")) * 2)'";
    let outcome = with_person(in_terminal(line), |seen, op| {
        if let Seen::Question("n =", false) = seen {
            op.send(keys("21\r")).unwrap();
        }
    })
    .await;
    assert_eq!(outcome.text(), "n = 21\n42");
}

#[tokio::test]
async fn an_editor_is_used_and_left() {
    if which("vim").is_none() && which("vi").is_none() {
        pollux_testkit::cannot_run("vim is not installed");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("note");
    let line = format!(
        "echo before; $(command -v vim || command -v vi) -u NONE -N {}; echo after",
        file.display()
    );
    let mut typed = false;
    let outcome = with_person(in_terminal(&line), move |seen, op| {
        if !typed && matches!(seen, Seen::Screen(screen) if screen.contains('~')) {
            typed = true;
            op.send(keys("ihello\x1b:wq\r")).unwrap();
        }
    })
    .await;
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "hello\n");
    assert_eq!(outcome.text(), "before\nafter");
}

fn which(program: &str) -> Option<std::path::PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|file| file.is_file())
}

#[tokio::test(start_paused = true)]
async fn nobody_answers_so_it_ends() {
    for (line, prompt, secret) in [
        ("printf 'Go on? '; read answer", "Go on?", false),
        ("printf 'Password: '; stty -echo; cat", "Password:", true),
        ("cat", "", false),
    ] {
        let run = || outcome(ShellCommand { attended: false, ..in_terminal(line) });
        let mut outcome = run().await;
        // With the paused clock the patience ends after milliseconds. On a busy machine the kernel
        // may pass on the prompt later than that.
        for _ in 0..5 {
            if outcome.awaited.as_ref().is_some_and(|awaited| awaited.prompt == prompt) {
                break;
            }
            outcome = run().await;
        }
        assert_eq!(outcome.ended, Ended::Unanswered, "{line}");
        let awaited = outcome.awaited.unwrap();
        assert_eq!((awaited.prompt.as_str(), awaited.secret), (prompt, secret), "{line}");
        wait_until_gone(outcome.process_group).await;
    }
}

#[cfg(target_os = "linux")]
#[tokio::test(start_paused = true)]
async fn a_terminal_inside_a_plain_command_is_noticed() {
    if which("script").is_none() {
        pollux_testkit::cannot_run("script is not installed");
        return;
    }
    // The standard input stays open, so that `script` does not pass on an end of input.
    let line = "sleep 60 | script -qc 'printf \"Name? \"; read name' /dev/null";
    let outcome = outcome(command(line)).await;
    assert_eq!(outcome.ended, Ended::Unanswered);
}

/// The paused clock advances while the command sleeps, so many checks happen in that time.
#[tokio::test(start_paused = true)]
async fn what_only_works_silently_is_left_alone() {
    let line = "printf 'Downloading: '; sleep 0.5; echo done";
    let outcome = outcome(ShellCommand { attended: false, ..in_terminal(line) }).await;
    assert_eq!((outcome.ended, outcome.text().as_str()), (Ended::Exited, "Downloading: done"));
}

/// Returns true if interrupts are ignored. A shell cannot trap a signal that was ignored when it
/// started (POSIX), as for a script started with `&`.
fn interrupts_are_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    ignored.is_some_and(|mask| mask & 2 != 0)
}

#[tokio::test]
async fn keys_can_interrupt_and_end_input() {
    if !interrupts_are_ignored() {
        // Until `cat` reads, there is no process that the interrupt would end.
        let interrupted = in_terminal("trap 'echo caught; exit 5' INT; cat");
        let outcome = with_person(interrupted, |seen, op| {
            if let Seen::Question(..) = seen {
                op.send(keys("\x03")).unwrap();
            }
        })
        .await;
        assert_eq!(outcome.exit_code, Some(5));
    }
    let outcome = with_person(in_terminal("cat; echo over"), |seen, op| {
        if let Seen::Question(..) = seen {
            op.send(keys("said\r\x04")).unwrap();
        }
    })
    .await;
    assert_eq!(outcome.text(), "said\nsaid\nover");
}

#[tokio::test]
async fn the_size_can_change() {
    let line = "trap 'stty size; exit' WINCH; echo ready; while :; do sleep 0.05; done";
    let outcome = with_person(in_terminal(line), |seen, op| {
        if let Seen::Screen("ready") = seen {
            op.send(CommandOp::Resize(TerminalSize::new(132, 50))).unwrap();
        }
    })
    .await;
    assert!(outcome.text().ends_with("50 132"), "{}", outcome.text());
}

#[tokio::test]
async fn a_cancelled_command_leaves_nothing() {
    let _alone = pollux_testkit::timed_test();
    for line in [
        "sleep 1000 & echo child=$!; trap '' TERM INT HUP; sleep 1001; sleep 1002",
        "sleep 1000 & echo child=$!; vim || sleep 1000",
        "(setsid sleep 1000 & echo child=$!); read answer",
    ] {
        let cancel = CancellationToken::new();
        let token = cancel.clone();
        let at = Arc::new(Mutex::new(None));
        let cancelled_at = Arc::clone(&at);
        let outcome = run(in_terminal(line), cancel, move |chunk| {
            if let OutputChunk::Screen { lines, .. } = chunk
                && lines.text().contains("child=")
            {
                cancelled_at.lock().unwrap().get_or_insert_with(Instant::now);
                token.cancel();
            }
        })
        .await
        .unwrap();
        let took = at.lock().unwrap().unwrap().elapsed();
        assert!(took < PROMPT, "{took:?} {line}");
        assert_eq!(outcome.ended, Ended::Cancelled);
        wait_until_gone(outcome.process_group).await;
        if line.contains("trap") {
            wait_until_gone(number(&outcome.text(), "child")).await;
        }
    }
}

#[tokio::test]
async fn background_jobs_outlive_the_terminal_of_their_command() {
    let folder = tempfile::tempdir().unwrap();
    let [go, done] = ["go", "done"].map(|name| Fifo::new(folder.path().join(name)));
    let (wait, tell) = (go.path().display(), done.path().display());
    let line =
        format!("(read line <'{wait}'; echo alive >'{tell}'; exec sleep 1000) & echo child=$!");
    let outcome = sh(&line).await;
    let child = number(&outcome.text(), "child");
    assert_eq!(outcome.background_pids, [child]);
    // The child did not end on the hang-up of its shell.
    go.go();
    assert_eq!(done.line().await, "alive");
    end(child);
}

#[tokio::test]
async fn closed_output_is_no_end() {
    let outcome = sh("exec <&- >&- 2>&-; sleep 0.5; exit 7").await;
    assert_eq!((outcome.exit_code, outcome.text().as_str()), (Some(7), ""));
}

#[tokio::test]
async fn a_flood_is_cut_in_the_middle_and_whole_in_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("output");
    let mut command = in_terminal("seq 1 1000000");
    command.limits = pollux_shell::OutputLimits { head: 1 << 20, tail: 1 << 20 };
    command.spill = Some(Spill::new(&path, 1 << 20));
    let outcome = outcome(command).await;
    let text = outcome.text();
    assert!(text.starts_with("1\n2\n3\n") && text.contains("\n1000000\n"), "{}", &text[..200]);
    assert!(outcome.output.omitted() > 0);
    let whole = std::fs::read_to_string(&path).unwrap();
    assert_eq!(whole.lines().count(), 1_000_000);
    assert!(whole.ends_with("\n1000000\n") && !whole.contains('\r'));
}

#[tokio::test]
async fn keys_for_a_program_that_reads_nothing_cost_nothing() {
    let mut sent = false;
    let outcome = with_person(in_terminal("echo ready; sleep 1; echo end"), move |seen, op| {
        if !sent && matches!(seen, Seen::Screen(_)) {
            sent = true;
            for _ in 0..1000 {
                op.send(CommandOp::Type(vec![b'x'; 10_000])).unwrap();
            }
        }
    })
    .await;
    assert_eq!((outcome.ended, outcome.exit_code), (Ended::Exited, Some(0)));
}
