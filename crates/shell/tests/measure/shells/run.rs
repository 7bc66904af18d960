//! Running lines in a shell.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Programs that are functions in the shells and record their arguments.
pub(crate) const PROGRAMS: [&str; 6] = ["ls", "cat", "git", "wc", "rm", "head"];
/// Programs that record their arguments and then run them as a command or script.
pub(crate) const WRAPPERS: [&str; 5] = ["sh", "bash", "timeout", "env", "nice"];

/// Files in the folder in which each line runs.
const FILES: [&str; 7] = ["a", "b", "in", "a.txt", "sub/a", "sub/b.txt", "sub/c d"];

/// Effects of a line when all programs end with one status.
#[derive(Debug, Default)]
pub(crate) struct Observed {
    /// Words of each command, sorted.
    pub(crate) commands: Vec<Vec<String>>,
    /// Paths of new files.
    pub(crate) files: BTreeSet<String>,
}

/// A shell with a private folder.
pub(crate) struct ShellBox {
    pub(crate) name: &'static str,
    pub(crate) folder: PathBuf,
    shell: PathBuf,
    _folder: tempfile::TempDir,
}

impl ShellBox {
    pub(crate) fn new(name: &'static str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap();
        for file in FILES {
            let file = path.join("home/work").join(file);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, "").unwrap();
        }
        std::fs::write(path.join("home/note"), "").unwrap();
        let shell = which::which(name).unwrap_or_else(|_| panic!("{name} is not installed"));
        Self { name, folder: path, shell, _folder: folder }
    }

    /// Runs the lines; all programs end with `status`.
    pub(crate) fn run(&self, lines: &[&str], status: u8) -> Vec<Observed> {
        let record = self.folder.join("record");
        std::fs::write(&record, "").unwrap();
        let script = self.folder.join("script");
        std::fs::write(&script, self.script(lines, status)).unwrap();
        let mut command = Command::new(which::which("timeout").unwrap());
        command.arg("120").arg(&self.shell);
        if self.name == "bash" {
            command.args(["--norc", "--noprofile"]);
        }
        let ended = command
            .arg(&script)
            .env_clear()
            .env("PATH", "/nonexistent")
            .env("HOME", self.folder.join("home"))
            .current_dir(self.folder.join("home/work"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .unwrap();
        let observed = parse(&std::fs::read_to_string(&record).unwrap());
        assert_eq!(observed.len(), lines.len(), "{} ended early: {ended}", self.name);
        observed
    }

    fn script(&self, lines: &[&str], status: u8) -> String {
        let top = self.folder.display();
        let mut script = format!("exec 9>>'{top}/record'\n");
        for name in PROGRAMS {
            script += &format!(
                "{name}() {{ printf '%s\\001' {name} \"$@\" '\u{2}' >&9; return {status}; }}\n"
            );
        }
        for name in WRAPPERS {
            let run = match name {
                // An operand before `-c` is a script file, and there is no such file.
                "sh" | "bash" => {
                    "while [ $# -gt 1 ]; do case $1 in -c) eval \"$2\"; break ;; -*) shift ;; \
                     *) break ;; esac; done"
                }
                "timeout" => "shift; \"$@\"",
                _ => "\"$@\"",
            };
            script += &format!(
                "{name}() {{ printf '%s\\001' {name} \"$@\" '\u{2}' >&9; {run}; return {status}; }}\n"
            );
        }
        // Only new files are recorded: the initial files are constant. The command substitution
        // also waits for commands in the background, because all of them hold its pipe open.
        script += &format!(
            "files() {{ set -- '{top}/home'/* '{top}/home'/.[!.]* '{top}/home/work'/* \
             '{top}/home/work'/.[!.]* '{top}/home/work/sub'/* '{top}/home/work/sub'/.[!.]*; \
             local IFS; IFS='\u{1}'; now=\"$*\"; }}\nfiles\nbefore=$now\n\
             L() {{ printf '\u{3}\\001' >&9; unused=$( ( eval \"$1\" ) 8>&1 >/dev/null 2>&1 ); }}\n\
             W() {{ L \"$1\"; files\n\
             if [ \"$now\" != \"$before\" ]; then printf '\u{4}\\001%s\\001\u{2}\\001' \"$now\" >&9; \
             clean; fi; }}\n"
        );
        let kept: Vec<String> =
            FILES.iter().map(|file| format!("'{top}/home/work/{file}'")).collect();
        script += &format!(
            "clean() {{ for file in '{top}/home'/* '{top}/home'/.[!.]* '{top}/home/work'/* \
             '{top}/home/work'/.[!.]* '{top}/home/work/sub'/* '{top}/home/work/sub'/.[!.]*; do\n\
             case $file in {}|'{top}/home/note'|'{top}/home/work'|'{top}/home/work/sub') ;;\n\
             *) [ ! -f \"$file\" ] || {} -f -- \"$file\" ;; esac; done; }}\n",
            kept.join("|"),
            which::which("rm").unwrap().display(),
        );
        for line in lines {
            // A line without `>` writes no file.
            let run = if line.contains('>') { 'W' } else { 'L' };
            script += &format!("{run} '{}'\n", line.replace('\'', "'\\''"));
        }
        script
    }

    /// Returns the path of a new file without the folder.
    pub(crate) fn relative(&self, path: &str) -> String {
        let home = format!("{}/home/", self.folder.display());
        let inner = path.strip_prefix(&home).unwrap_or(path);
        inner.strip_prefix("work/").map_or_else(|| format!("~/{inner}"), str::to_owned)
    }

    /// Returns true for an initial file, and for a glob without a match.
    pub(crate) fn is_old(&self, path: &str) -> bool {
        let relative = self.relative(path);
        FILES.contains(&relative.as_str())
            || ["sub", "~/note", "~/work"].contains(&relative.as_str())
            || relative.ends_with(".[!.]*")
    }
}

fn parse(record: &str) -> Vec<Observed> {
    let mut all: Vec<Observed> = Vec::new();
    let mut words: Vec<String> = Vec::new();
    for word in record.split('\u{1}') {
        match word {
            "\u{3}" => all.push(Observed::default()),
            "\u{2}" => {
                let words = std::mem::take(&mut words);
                let observed = all.last_mut().unwrap();
                if words[0] == "\u{4}" {
                    observed.files.extend(words[1..].iter().cloned());
                } else {
                    observed.commands.push(words);
                }
            }
            _ => words.push(word.to_owned()),
        }
    }
    for observed in &mut all {
        observed.commands.sort_unstable();
    }
    all
}
