//! The analysis against real shells: random programs run in a throw-away folder where every program
//! tells its name. Whatever ran must have been in the analysis, unless that said that it cannot tell.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use pollux_shell::Dialect;
use pollux_shell::analysis::{Analysis, analyse_in};

/// Programs that only tell their name; `false` fails, so that both branches of lists are taken.
const STUBS: &[&str] = &["alpha", "beta", "gamma", "my tool", "rm", "if", "no"];
/// Programs of the system that run others, and are wrapped so that they tell their name too.
const WRAPPERS: &[&str] = &["env", "xargs", "find", "timeout", "nice", "nohup", "sh", "bash"];
/// How many programs for each shell.
const COUNT: usize = 160;
/// How many of them run at the same time.
const BATCH: usize = 8;

/// Numbers that are the same in each run (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % end
    }

    fn pick<'t>(&mut self, table: &[&'t str]) -> &'t str {
        table[self.below(table.len())]
    }

    fn chance(&mut self, of: usize) -> bool {
        self.below(of) == 0
    }
}

/// Writes random programs.
struct Author {
    random: Random,
    /// Whether bash's own syntax may be used.
    is_bash: bool,
}

impl Author {
    /// The name of a program in one of the ways to write it.
    fn name(&mut self) -> String {
        let name = self.random.pick(STUBS);
        let quoted = match self.random.below(9) {
            0 => format!("'{name}'"),
            1 => format!("\"{name}\""),
            2 => format!("\\{}", name.replace(' ', "\\ ")),
            3 => format!("{}''{}", &name[..1], name[1..].replace(' ', "' '")),
            4 if self.is_bash => format!("$'\\x{:x}{}'", name.as_bytes()[0], &name[1..]),
            5 => format!("\"{}\"{}", &name[..1], name[1..].replace(' ', "\\ ")),
            6 => format!("{}\\\n{}", &name[..1], name[1..].replace(' ', "\\ ")),
            _ if name == "if" => "'if'".to_owned(),
            _ => name.replace(' ', "\\ "),
        };
        match self.random.below(30) {
            0 => "$X".to_owned(),
            1 => format!("\"$X\"{quoted}"),
            2 => format!("$(echo {quoted})"),
            _ => quoted,
        }
    }

    fn word(&mut self, depth: usize) -> String {
        match self.random.below(18) {
            0 if depth > 0 => format!("$({})", self.list(depth - 1)),
            1 if depth > 0 => format!("\"a $({}) b\"", self.list(depth - 1)),
            2 if depth > 0 => {
                let inner = self.list(depth - 1);
                let escaped = inner.replace('\\', "\\\\").replace('`', "\\`").replace('$', "\\$");
                format!("`{escaped}`")
            }
            3 if depth > 0 => format!("${{NONE:-$({})}}", self.list(depth - 1)),
            4 if depth > 0 && self.is_bash => format!("<({})", self.list(depth - 1)),
            5 => "'a; beta'".to_owned(),
            6 => "\"x | gamma\"".to_owned(),
            7 => "x#y".to_owned(),
            8 => "\\;".to_owned(),
            9 => "$X".to_owned(),
            10 => "\"$X\"".to_owned(),
            11 => "'$(rm)'".to_owned(),
            12 => "\\$\\(rm\\)".to_owned(),
            13 => "{}".to_owned(),
            14 => "a=b".to_owned(),
            15 => "*".to_owned(),
            _ => self.random.pick(&["x", "-l", "./y", "7", "do", "done", "if", "}"]).to_owned(),
        }
    }

    fn words(&mut self, depth: usize) -> String {
        let mut words = String::new();
        for _ in 0..self.random.below(3) {
            write!(words, " {}", self.word(depth)).unwrap();
        }
        words
    }

    fn redirect(&mut self) -> String {
        let table: &[&str] =
            &[" > out", " 2>&1", " >> out", " < /dev/null", " 2> /dev/null", " >&-", " > \"o ut\""];
        let bash: &[&str] = &[" &> out", " <<< rm", " >& out", " &>> out"];
        match self.random.below(4) {
            0 if self.is_bash => self.random.pick(bash).to_owned(),
            1 => self.random.pick(table).to_owned(),
            _ => String::new(),
        }
    }

    /// Something that runs a program, quoted as the argument of a shell.
    fn script(&mut self, depth: usize) -> String {
        let is_bash = std::mem::take(&mut self.is_bash);
        let script = self.list(depth.saturating_sub(1));
        self.is_bash = is_bash;
        if self.random.chance(8) {
            return format!("\"{}\"", script.replace(['"', '\\', '`'], ""));
        }
        format!("'{}'", script.replace('\'', "'\\''"))
    }

    fn wrapped(&mut self, depth: usize) -> String {
        let inner = if depth > 0 { self.simple(depth - 1) } else { self.name() };
        let is_plain = !inner.contains('=') && !inner.contains(['<', '>', '\n']);
        let inner = if is_plain { inner } else { self.name() };
        match self.random.below(22) {
            0 => format!("env {inner}"),
            1 => format!("env A=1 -- {inner}").replace(" -- ", " "),
            2 => format!("env -i PATH=\"$PATH\" LOG=\"$LOG\" {inner}"),
            3 => format!("env -u NONE {inner}"),
            4 => format!("env -S '{}'", inner.replace('\'', "")),
            5 => format!("echo x | xargs {inner}"),
            6 => format!("echo x y | xargs -n1 {inner}"),
            7 => format!("echo alpha | xargs -I {{}} {inner} {{}}"),
            8 => format!("echo alpha | xargs -I% {} %", self.random.pick(&["%", "env %", "beta"])),
            9 => format!("find . -maxdepth 0 -exec {inner} \\;"),
            10 => format!("find . -maxdepth 0 -exec {inner} {{}} + -exec {} ';'", self.name()),
            11 => format!("timeout 5 {inner}"),
            12 => format!("timeout -s KILL -k 1 5s {inner}"),
            13 => format!("nice -n 1 {inner}"),
            14 => format!("nice -1 {inner}"),
            15 => format!("nohup {inner}"),
            16 => format!("sh -c {}", self.script(depth)),
            17 => format!("sh -ec {} x", self.script(depth)),
            18 => format!("command {inner}"),
            19 => format!("(exec {inner})"),
            20 => format!("eval {}", self.script(depth)),
            _ => format!("env nice -n 2 timeout 5 {inner}"),
        }
    }

    fn simple(&mut self, depth: usize) -> String {
        match self.random.below(16) {
            0..=3 if depth > 0 => return self.wrapped(depth),
            4 => return format!("[ -n \"$X\" ]{}", self.redirect()),
            5 => return format!("echo{}", self.words(depth)),
            6 => {
                return self
                    .random
                    .pick(&["true", "false", ":", "cd .", "X=beta", "X=", ":", "cd"])
                    .to_owned();
            }
            7 => return format!("trap {} EXIT", self.script(depth)),
            8 if depth > 0 => return format!("Y={}", self.word(depth)),
            _ => {}
        }
        let (name, words, redirect) = (self.name(), self.words(depth), self.redirect());
        match self.random.below(12) {
            0 => format!("A=1 {name}{words}{redirect}"),
            1 => format!("> out {name}{words}"),
            2 => format!("{name} > out{words}"),
            3 => format!("A= {name}{words}"),
            4 => format!("! {name}{words}"),
            5 if self.is_bash => format!("time {name}{words}"),
            6 => format!("{name} \\\n {words}"),
            _ => format!("{name}{words}{redirect}"),
        }
    }

    fn compound(&mut self, depth: usize) -> String {
        let (a, b) = (self.list(depth - 1), self.list(depth - 1));
        let redirect = self.redirect();
        match self.random.below(17) {
            0 => format!("{{ {a}; }}{redirect}"),
            1 => format!("({a}){redirect}"),
            2 => format!("if {a}; then {b}; fi"),
            3 => format!("if {a}; then\n{b}\nelse\n{}\nfi", self.list(depth - 1)),
            4 => format!("for i in 1 {}; do {b}; done", self.word(depth - 1)),
            5 => format!("case {} in x) {a};; *) {b};; esac", self.word(depth - 1)),
            6 => format!("case y in\n  (x|y)\n {a}\n ;;\n  *) {b};;\nesac"),
            7 => format!("f() {{ {a}; }}; {b} ; f"),
            8 => format!("f() {{ {a}; }}\nf"),
            9 => format!("g() ( {a} ); {b}; g"),
            10 => format!("while {a}; do {b}; break; done; {}", self.simple(0)),
            11 => format!("cat() {{ :; }}; cat <<E\n$({a})\nE\n{b}"),
            12 => format!("cat() {{ :; }}; cat <<'E'\n$({a})\nE\n{b}"),
            13 => format!(": <<E | {}\nx `alpha`\nE\n{b}", self.simple(0)),
            14 if self.is_bash => format!("[[ -n $X && a == a ]] && {{ {a}; }}"),
            15 if self.is_bash => format!("for ((i = 0; i < 1; i++)); do {a}; done"),
            _ => format!("{a} # {b}").replace('\n', " ") + "\n:",
        }
    }

    fn list(&mut self, depth: usize) -> String {
        let mut list = String::new();
        for index in 0..=self.random.below(3) {
            if index > 0 {
                list.push_str(self.random.pick(&["; ", "\n", " && ", " || ", " | ", "; "]));
            }
            let is_compound = depth > 0 && self.random.chance(3);
            list += &if is_compound { self.compound(depth) } else { self.simple(depth) };
        }
        list
    }
}

/// A folder with nothing but programs that tell their names.
struct Stage {
    folder: tempfile::TempDir,
}

impl Stage {
    fn new(shells: &[(&str, PathBuf)]) -> Self {
        let stage = Self { folder: tempfile::tempdir().unwrap() };
        std::fs::create_dir(stage.programs()).unwrap();
        let tell = "#!/bin/sh\nprintf '%s\\n' \"${0##*/}\" >> \"$LOG\"\n";
        for name in STUBS {
            let end = if *name == "no" { "exit 1\n" } else { "exit 0\n" };
            stage.write(name, &format!("{tell}{end}"));
        }
        for name in WRAPPERS {
            let shell =
                shells.iter().find(|(shell, _)| shell == name).map(|(_, path)| path.clone());
            let real = shell.or_else(|| locate(name));
            if let Some(real) = real {
                stage.write(name, &format!("{tell}exec '{}' \"$@\"\n", real.display()));
            }
        }
        stage
    }

    fn programs(&self) -> PathBuf {
        self.folder.path().join("programs")
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.programs().join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Runs these scripts, each in a shell and a folder of its own; the names of what ran, for each.
    fn run(&self, shell: &Path, scripts: &[String], first: usize) -> Vec<BTreeSet<String>> {
        let children: Vec<_> = scripts
            .iter()
            .enumerate()
            .map(|(index, script)| {
                let folder = self.folder.path().join(format!("run{}", first + index));
                std::fs::create_dir(&folder).unwrap();
                let log = folder.with_extension("log");
                let child = Command::new(shell)
                    .args(["-c", script])
                    .env_clear()
                    .env("PATH", self.programs())
                    .env("LOG", &log)
                    .current_dir(&folder)
                    .stdin(Stdio::null())
                    .stdout(Stdio::null())
                    .stderr(Stdio::null())
                    .process_group(0)
                    .spawn()
                    .unwrap();
                (child, log)
            })
            .collect();
        children
            .into_iter()
            .map(|(mut child, log)| {
                end(&mut child);
                let log = std::fs::read_to_string(log).unwrap_or_default();
                log.lines().map(str::to_owned).collect()
            })
            .collect()
    }
}

/// Waits for a shell, ten seconds at most, and ends what it left behind.
fn end(child: &mut Child) {
    let started = Instant::now();
    while child.try_wait().unwrap().is_none() && started.elapsed() < Duration::from_secs(10) {
        // Polls: try_wait is the one way that does not block.
        std::thread::sleep(Duration::from_millis(2));
    }
    let group = rustix::process::Pid::from_child(child);
    // Mostly nothing is left of the group.
    rustix::process::kill_process_group(group, rustix::process::Signal::KILL).ok();
    child.wait().unwrap();
}

/// Where the system keeps a program.
fn locate(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into());
    std::env::split_paths(&path)
        .map(|folder| folder.join(name))
        .find(|program| program.is_absolute() && program.is_file())
}

/// The names in an analysis, without folders.
fn names(analysis: &Analysis) -> BTreeSet<String> {
    let last = |name: &str| name.rsplit('/').next().unwrap_or_default().to_owned();
    analysis.programs.iter().map(|program| last(&program.name)).collect()
}

const INNER: &str = "suite::analysis::inner";

/// Elsewhere in this binary children are waited for that are not one's own: so this runs in a process
/// of its own, the test binary called again.
#[test]
fn whatever_runs_was_told() {
    let program = std::env::current_exe().unwrap();
    let inner = Command::new(program).args(["--exact", INNER, "--ignored", "--nocapture"]).output();
    let inner = inner.unwrap();
    let [text, errors] = [&inner.stdout, &inner.stderr].map(|text| String::from_utf8_lossy(text));
    assert!(inner.status.success() && text.contains("1 passed"), "{text}\n{errors}");
}

#[test]
#[ignore = "run by whatever_runs_was_told, in a process of its own"]
fn inner() {
    let sh = PathBuf::from("/bin/sh");
    let mut shells = vec![(sh.clone(), Dialect::Posix)];
    shells.extend(locate("bash").map(|bash| (bash, Dialect::Bash)));
    let stage = Stage::new(&[("sh", sh)]);
    let (mut told, mut ran, mut first) = (0, 0, 0);
    let count = std::env::var("POLLUX_ANALYSIS_CASES").ok().and_then(|text| text.parse().ok());
    let seed = std::env::var("POLLUX_ANALYSIS_SEED").ok().and_then(|text| text.parse().ok());
    let mut wrong = Vec::new();
    for (shell, dialect) in shells {
        let random = Random(seed.unwrap_or(0x5eed_0001));
        let mut author = Author { random, is_bash: dialect == Dialect::Bash };
        for _ in 0..count.unwrap_or(COUNT) / BATCH {
            let scripts: Vec<String> = (0..BATCH).map(|_| author.list(2)).collect();
            let logs = stage.run(&shell, &scripts, first);
            first += BATCH;
            for (script, log) in scripts.iter().zip(logs) {
                let analysis = analyse_in(script, dialect);
                let names = names(&analysis);
                ran += log.len();
                told += usize::from(analysis.is_complete());
                if analysis.is_complete() && !log.is_subset(&names) {
                    wrong.push(format!("{shell:?}\n{script}\n  ran  {log:?}\n  told {names:?}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n\n"));
    // The test means nothing if little runs, or little can be told.
    println!("{first} programs, {told} told completely, {ran} names");
    assert!(told > first / 4, "{told} of {first} could be told completely");
    assert!(ran > first, "only {ran} programs ran");
}
