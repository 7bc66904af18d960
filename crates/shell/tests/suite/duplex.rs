//! Servers that communicate over their standard streams.

use pollux_shell::{Duplex, OutputLimits, ProcessState, Program, ShellError, spawn_duplex};
use tokio::io::{
    AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader, Lines,
};

use super::{child, is_running, number, wait_until_gone};

const LIMITS: OutputLimits = OutputLimits { head: 100, tail: 100 };

fn serve(script: &str) -> Duplex {
    spawn_duplex(&child(Program::Script(script.to_owned())), LIMITS).unwrap()
}

/// A client like that of an SDK, which only has two streams.
struct Client<R, W> {
    lines: Lines<BufReader<R>>,
    writer: W,
}

impl<R: AsyncRead + Unpin + Send + 'static, W: AsyncWrite + Unpin + Send + 'static> Client<R, W> {
    fn new(reader: R, writer: W) -> Self {
        Self { lines: BufReader::new(reader).lines(), writer }
    }

    async fn ask(&mut self, line: &str) -> String {
        self.writer.write_all(line.as_bytes()).await.unwrap();
        self.next().await
    }

    async fn next(&mut self) -> String {
        self.lines.next_line().await.unwrap().unwrap()
    }
}

fn exited(code: i32) -> ProcessState {
    ProcessState::Exited { code: Some(code), signal: None }
}

#[tokio::test]
async fn requests_are_answered_until_the_input_is_closed() {
    let script = "while read -r line; do echo \"got $line\"; done; echo bye >&2; exit 3";
    let Duplex { stdin, stdout, mut process } = serve(script);
    let mut client = Client::new(stdout, stdin);
    for number in 0..100 {
        assert_eq!(client.ask(&format!("{number}\n")).await, format!("got {number}"));
    }
    drop(client);
    assert_eq!(process.ended().await, exited(3));
    assert_eq!(process.ended().await, exited(3), "asked again");
    assert_eq!(process.stderr().text(), "bye");
}

#[tokio::test]
async fn standard_error_is_bounded() {
    let Duplex { mut process, .. } = serve("echo first >&2; seq 1 100000 >&2; echo last >&2");
    assert_eq!(process.ended().await, exited(0));
    let stderr = process.stderr();
    assert_eq!(stderr.len(), 200);
    assert!(stderr.omitted() > 500_000, "{}", stderr.omitted());
    let text = stderr.text();
    assert!(text.starts_with("first\n1\n2\n") && text.contains("\n100000\nlast"), "{text}");
}

#[tokio::test]
async fn dropping_it_ends_everything_that_it_started() {
    let script = "trap '' TERM; sleep 1000 & echo child=$!; \
                  (setsid sh -c 'echo daemon=$$; exec sleep 1000' &); wait";
    let Duplex { stdin, stdout, process } = serve(script);
    let mut client = Client::new(stdout, stdin);
    let said = format!("{} {}", client.next().await, client.next().await);
    let ids = [process.id(), number(&said, "child"), number(&said, "daemon")];
    assert!(ids.iter().all(|&id| is_running(id)));
    drop(process);
    for id in ids {
        wait_until_gone(id).await;
    }
}

#[tokio::test]
async fn what_an_ended_server_left_ends_with_its_handle() {
    let Duplex { stdout, stdin, mut process } = serve("sleep 1000 & echo child=$!");
    let child = number(&Client::new(stdout, stdin).next().await, "child");
    // The child keeps standard error open.
    assert_eq!(process.ended().await, exited(0));
    assert!(is_running(child));
    drop(process);
    wait_until_gone(child).await;
}

#[tokio::test]
async fn a_program_file_gets_its_arguments_unchanged() {
    let arguments = ["-c", "echo \"$1\"", "sh", "a b$c"].map(Into::into).to_vec();
    let program = Program::File { path: "/bin/sh".into(), arguments };
    let Duplex { stdin, stdout, mut process } = spawn_duplex(&child(program), LIMITS).unwrap();
    assert_eq!(Client::new(stdout, stdin).next().await, "a b$c");
    assert_eq!(process.ended().await, exited(0));
}

#[tokio::test]
async fn what_cannot_start_says_why() {
    let missing = Program::File { path: "/no/such/server".into(), arguments: Vec::new() };
    let error = spawn_duplex(&child(missing), LIMITS).unwrap_err();
    assert!(matches!(error, ShellError::Spawn { .. }), "{error}");
}
