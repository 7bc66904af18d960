//! Test stage: a home and a project, a model server, and functions to run the program.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use pollux_testkit::{
    CapturedRequest, Endpoint, Finished, ModelReply, ModelServer, Pollux, TestHome,
};
use serde_json::Value;

/// Model of most runs. Its name is in the settings' default aliases, so there is no routing.
pub(crate) const MODEL: &str = "gemini-2.5-pro";

/// Timeout of a wait for an event: long enough for a busy machine.
pub(crate) const SOON: Duration = Duration::from_secs(30);

/// Tools that a headless run offers without an approval.
pub(crate) const FREE_TOOLS: [&str; 9] = [
    "update_topic",
    "list_directory",
    "read_file",
    "grep_search",
    "glob",
    "read_many_files",
    "google_web_search",
    "enter_plan_mode",
    "invoke_agent",
];

/// Names of the three output formats.
pub(crate) const FORMATS: [&str; 3] = ["text", "json", "stream-json"];

/// A home with a trusted project, and a model server. Dropping the stage fails the test if a
/// request violated the rules of the service, or if a scripted reply was never requested and not
/// [discarded](ModelServer::discard_replies).
pub(crate) struct Stage {
    pub(crate) home: TestHome,
    pub(crate) server: ModelServer,
}

impl Stage {
    /// Creates a stage whose model has no replies yet.
    pub(crate) fn new() -> Self {
        Self { home: TestHome::new(), server: ModelServer::start() }
    }

    /// Creates a stage whose model answers with these replies, in order.
    pub(crate) fn with(replies: impl IntoIterator<Item = ModelReply>) -> Self {
        let stage = Self::new();
        for reply in replies {
            stage.server.stream(reply);
        }
        stage
    }

    /// Returns the program with the server as its model and no arguments.
    pub(crate) fn program(&self) -> Pollux {
        self.alone().server(&self.server)
    }

    /// Returns the program without the address of the server.
    pub(crate) fn alone(&self) -> Pollux {
        Pollux::new(env!("CARGO_BIN_EXE_pollux")).home(&self.home)
    }

    /// Returns the program started by a shell script, in which `"$0" "$@"` is its command line.
    pub(crate) fn redirected(&self, script: &str) -> Pollux {
        let shell = Pollux::new("/bin/sh").home(&self.home).server(&self.server);
        shell.args(["-c", script, env!("CARGO_BIN_EXE_pollux")])
    }

    /// Returns the program with the usual model and these arguments.
    pub(crate) fn pollux(&self, arguments: &[&str]) -> Pollux {
        self.program().args(["-m", MODEL]).args(arguments)
    }

    /// Runs one prompt to its end in a format: `text`, `json` or `stream-json`.
    pub(crate) fn prompt(&self, format: &str, prompt: &str) -> Finished {
        self.pollux(&["-o", format, "-p", prompt]).run()
    }

    /// Runs one prompt as text with every tool allowed, and expects exit code 0.
    pub(crate) fn yolo(&self, prompt: &str) -> Finished {
        let run = self.pollux(&["--yolo", "-p", prompt]).run();
        run.assert_code(0);
        run
    }

    /// Returns the requests for a streamed answer.
    pub(crate) fn requests(&self) -> Vec<CapturedRequest> {
        self.server.requests_to(Endpoint::StreamGenerateContent)
    }

    /// Returns the `functionResponse.response` objects of the latest request, in order.
    pub(crate) fn responses(&self) -> Vec<Value> {
        let request = self.server.last_request();
        let parts = request.last_parts().iter();
        let responses = parts.filter_map(|part| part.get("functionResponse"));
        responses.map(|response| response["response"].clone()).collect()
    }

    /// Returns the only response of the latest request as text: its output, or its error.
    pub(crate) fn response(&self) -> String {
        let responses = self.responses();
        let [response] = &responses[..] else { panic!("not one response: {responses:?}") };
        let text = response["output"].as_str().or(response["error"].as_str());
        text.unwrap_or_else(|| panic!("neither output nor error: {response}")).to_owned()
    }

    /// Returns the project's folder for temporary files.
    pub(crate) fn project_temporary(&self) -> PathBuf {
        self.home.gemini().join("tmp/project")
    }

    /// Returns the session files, oldest name first.
    pub(crate) fn session_files(&self) -> Vec<PathBuf> {
        let folder = self.project_temporary().join("chats");
        let Ok(entries) = fs::read_dir(&folder) else { return Vec::new() };
        let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
        files.retain(|file| file.extension().is_some_and(|extension| extension == "jsonl"));
        files.sort();
        files
    }

    /// Returns the only session file.
    pub(crate) fn session_file(&self) -> PathBuf {
        let files = self.session_files();
        let [file] = &files[..] else { panic!("not one session file: {files:?}") };
        file.clone()
    }

    /// Returns the lines of the only session file.
    pub(crate) fn session_lines(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.session_file()).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.server.assert_all_valid();
            self.server.assert_script_done();
        }
    }
}

/// Returns the `result` line of a stream-json run; fails the test unless it is unique and the last
/// line.
pub(crate) fn terminal_result(run: &Finished) -> Value {
    let lines = run.json_lines();
    let results = lines.iter().filter(|line| line["type"] == "result").count();
    assert_eq!(results, 1, "not one result\n{}", run.report());
    let last = lines.last().unwrap();
    assert_eq!(last["type"], "result", "the result is not last\n{}", run.report());
    last.clone()
}

/// Returns the lines of this type of a stream-json run.
pub(crate) fn lines_of(run: &Finished, kind: &str) -> Vec<Value> {
    run.json_lines().into_iter().filter(|line| line["type"] == kind).collect()
}

/// Returns the assistant's text of a stream-json run, without void lines.
pub(crate) fn spoken(run: &Finished) -> String {
    let mut said = Vec::new();
    for line in run.json_lines() {
        if line["role"] == "assistant" {
            said.push(line["content"].as_str().unwrap().to_owned());
        } else if line["type"] == "tool_use" {
            said.push(String::new());
        } else if let Some(voids) = line["voids"].as_u64() {
            said.truncate(said.len() - usize::try_from(voids).unwrap());
        }
    }
    said.concat()
}

/// Returns the texts of a content's parts.
pub(crate) fn texts(content: &Value) -> Vec<&str> {
    let parts = content["parts"].as_array().map(Vec::as_slice).unwrap_or_default();
    parts.iter().filter_map(|part| part["text"].as_str()).collect()
}

/// Replaces every duration by 0, so that figures can be compared.
pub(crate) fn without_times(mut value: Value) -> Value {
    fn clear(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                for (name, value) in fields {
                    if name.ends_with("Ms") || name == "duration_ms" {
                        *value = 0.into();
                    } else {
                        clear(value);
                    }
                }
            }
            Value::Array(items) => items.iter_mut().for_each(clear),
            _ => {}
        }
    }
    clear(&mut value);
    value
}

/// Creates a named pipe that is not opened.
pub(crate) fn make_pipe(path: &Path) {
    let made = Command::new("mkfifo").arg(path).status().unwrap();
    assert!(made.success(), "mkfifo {}", path.display());
}

/// Waits until a condition is true; fails the test after [`SOON`]. Polls, because other processes
/// send no events.
pub(crate) fn wait_until(what: &str, mut is_true: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_true() {
        assert!(start.elapsed() < SOON, "waited {SOON:?} until {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Returns true if a process with this id exists and is not a zombie.
pub(crate) fn is_alive(process: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let state = status.rsplit_once(')').map(|(_, rest)| rest.trim_start().chars().next());
    state.flatten().is_some_and(|state| state != 'Z')
}
