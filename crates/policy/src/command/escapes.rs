//! Programs that people allow for what they say on the tin, and the arguments by which they run other programs.
//!
//! A rule that allows `tar` does not mean `--checkpoint-action=exec=…`, nor does one that allows `git` mean an alias that
//! runs anything. A rule that names the argument itself does. Interpreters and build tools are not here: whoever allows
//! `python` or `make` has allowed whatever code they run.

use super::classify::is_option;
use super::part::Part;

/// Options of a program that make it run others, or write where nobody would look.
struct Escape {
    program: &'static str,
    options: &'static [&'static str],
    /// A first word that is no option, with the same effect.
    verbs: &'static [&'static str],
}

const fn escape(program: &'static str, options: &'static [&'static str]) -> Escape {
    Escape { program, options, verbs: &[] }
}

const fn verbs(program: &'static str, verbs: &'static [&'static str]) -> Escape {
    Escape { program, options: &[], verbs }
}

#[rustfmt::skip]
const ESCAPES: &[Escape] = &[
    escape("tar", &["--checkpoint-action", "--to-command", "-I", "--use-compress-program", "--rsh-command", "-F", "--info-script", "--new-volume-script", "--rmt-command", "--index-file"]),
    escape("bsdtar", &["--use-compress-program"]),
    escape("rg", &["--pre", "--hostname-bin", "--search-zip", "-z"]),
    escape("find", &["-fprint", "-fprint0", "-fprintf", "-fls", "-delete"]),
    escape("sort", &["--compress-program", "-o", "--output", "--files0-from"]),
    escape("split", &["--filter"]),
    escape("sed", &["-f", "--file"]),
    escape("awk", AWK_OPTIONS), escape("gawk", AWK_OPTIONS), escape("mawk", AWK_OPTIONS), escape("nawk", AWK_OPTIONS),
    escape("man", &["-P", "--pager", "-H", "--html", "-C", "--config-file"]),
    escape("uniq", &[]), escape("less", &["-k", "--lesskey-file", "--lesskey-src", "--lesskey-content", "-o", "-O", "--log-file"]),
    escape("rsync", &["-e", "--rsh", "--rsync-path", "--config"]),
    escape("ssh", &["-o", "-F", "-I", "-S", "-D", "-L", "-R", "-w"]),
    escape("scp", &["-o", "-F", "-S", "-D"]), escape("sftp", &["-o", "-F", "-S", "-D", "-b"]),
    escape("ssh-keygen", &["-D", "-w"]), escape("ssh-add", &["-s"]),
    escape("zip", &["-T", "--test", "-TT", "--unzip-command"]),
    escape("wget", &["--use-askpass", "-e", "--execute", "--config", "--rejected-log", "-O", "--output-document"]),
    escape("curl", &["-K", "--config", "-o", "--output", "-O", "--remote-name", "--remote-name-all", "-D", "--dump-header", "-c", "--cookie-jar", "--trace", "--trace-ascii", "--libcurl", "--stderr", "--engine"]),
    escape("gcc", COMPILER), escape("g++", COMPILER), escape("cc", COMPILER), escape("c++", COMPILER), escape("clang", COMPILER), escape("clang++", COMPILER),
    escape("cpio", &["--rsh-command"]),
    escape("hg", &["--config", "--cwd", "-R", "--repository"]),
    escape("svn", &["--diff-cmd", "--editor-cmd", "--config-option", "--config-dir", "--diff3-cmd"]),
    escape("nmap", &["--script", "-oN", "-oG", "-oX", "-oA"]), escape("tcpdump", &["-z", "-w"]),
    escape("nc", &["-e", "-c"]), escape("ncat", &["-e", "-c", "--exec", "--sh-exec", "--lua-exec"]), escape("netcat", &["-e", "-c"]),
    escape("vim", VIM), escape("vi", VIM), escape("view", VIM), escape("nvim", VIM), escape("ex", VIM),
    escape("emacs", &["--eval", "-eval", "--load", "-l", "--funcall", "-f", "--script", "--batch"]),
    escape("bat", &["--pager"]), escape("ag", &["--pager"]), escape("ack", &["--pager", "--ackrc"]), escape("delta", &["--pager", "--config"]),
    escape("fzf", &["--preview", "--bind", "--with-shell", "--listen"]),
    escape("gpg", &["--exec-path", "--photo-viewer", "--keyserver-options", "-o", "--output"]),
    escape("php", &["-d", "-c"]), escape("openssl", &["-engine", "-provider", "-provider-path"]),
    escape("patch", &["-e", "--ed", "-o", "--output"]), escape("date", &["-s", "--set"]),
    escape("tee", &[]), escape("xz", &["--files"]), escape("m4", &[]), escape("dc", &["-e", "--expression", "-f", "--file"]),
    escape("sqlite3", &["-cmd", "-init"]), escape("psql", &["-c", "--command", "-f", "--file"]), escape("mysql", &["-e", "--execute", "--pager"]),
    verbs("npm", &["exec", "x", "explore", "edit", "config", "set"]), escape("npm", &["--script-shell", "--node-options", "-c", "--call", "--editor", "--git", "--viewer", "--prefix"]),
    verbs("pnpm", &["exec", "dlx", "config"]), escape("pnpm", &["--script-shell"]), verbs("yarn", &["exec", "dlx", "node", "config"]), verbs("bun", &["x"]),
    verbs("uv", &["run", "tool"]), verbs("poetry", &["run"]), verbs("pipenv", &["run", "shell"]), verbs("pdm", &["run"]), verbs("hatch", &["run"]), verbs("conda", &["run"]),
    verbs("bundle", &["exec"]), verbs("rbenv", &["exec"]), verbs("pyenv", &["exec"]), verbs("mise", &["exec", "x"]), verbs("asdf", &["exec"]), verbs("direnv", &["exec"]), verbs("volta", &["run"]),
    verbs("rustup", &["run"]), escape("cargo", &["--config", "-C", "-Z"]), escape("go", &["-exec", "-toolexec", "-vettool"]),
    verbs("ip", &["netns", "vrf"]), verbs("nix", &["run", "shell", "develop"]), verbs("op", &["run"]), verbs("dotnet", &["exec", "script"]),
];

const AWK_OPTIONS: &[&str] = &[
    "-f",
    "--file",
    "-E",
    "--exec",
    "-i",
    "--include",
    "-l",
    "--load",
    "-e",
    "--source",
    "-o",
    "--pretty-print",
    "-p",
    "--profile",
    "-d",
    "--dump-variables",
    "-D",
    "--debug",
];
const COMPILER: &[&str] = &["-wrapper", "-B", "-fplugin", "-specs", "-Xclang", "-load"];
const VIM: &[&str] = &["-c", "--cmd", "-S", "-s", "-u", "-U", "-W", "-w"];

/// The first word behind the first `covered` ones by which the program runs something else, or may; in words.
pub(super) fn escape_of(part: &Part<'_>, covered: usize) -> Option<String> {
    let name = part.name();
    if name == "git" {
        return super::git::escape_of(part, covered);
    }
    let mut is_known = false;
    for escape in ESCAPES.iter().filter(|escape| escape.program == name) {
        is_known = true;
        for (index, word) in part.words.iter().enumerate().skip(covered.max(1)) {
            let Some(word) = word else { continue };
            if escape.options.iter().any(|option| is_option(word, option) || joined(word, option)) {
                return Some(format!("`{word}` makes {name} run or write something else"));
            }
            let is_first = part.words[1..index].iter().flatten().all(|word| word.starts_with('-'));
            if is_first && escape.verbs.contains(word) {
                return Some(format!("`{name} {word}` runs something else"));
            }
            if word.starts_with('+') && escape.options == VIM {
                return Some(format!("`{word}` makes {name} run something else"));
            }
        }
    }
    if is_text_tool(name) && covered < part.words.len() && (part.runs_code || part.code_writes) {
        return Some(format!("the code that {name} is given may run programs or write files"));
    }
    let operands = || part.constants().filter(|word| !word.starts_with('-')).count();
    if name == "uniq" && covered < 3 && operands() > 1 {
        return Some("with two files uniq writes the second".to_owned());
    }
    let is_open = is_known && may_be_option(part, covered);
    is_open.then(|| format!("{name} may get an option that is only known when it runs"))
}

/// Compilers and others take values without a sign between: `-fplugin=x`, `-Bdir`.
fn joined(word: &str, option: &str) -> bool {
    option.len() > 2 && !option.starts_with("--") && word.starts_with(option)
}

/// Its code is read by the analysis, which tells what it starts and writes.
pub(super) fn is_text_tool(name: &str) -> bool {
    matches!(name, "awk" | "gawk" | "mawk" | "nawk" | "original-awk" | "sed" | "gsed")
}

/// The way by which it surely runs something else, whatever the words become that are only known when it runs.
pub(super) fn certain(part: &Part<'_>) -> Option<String> {
    let known = part.words.iter().zip(&part.shown).filter_map(|(word, shown)| match word {
        Some(word) => Some(*word),
        // The name of an option is known, its value is not.
        None => shown.split(['=', '"', '$', '`']).next().filter(|name| name.starts_with('-')),
    });
    let shown: Vec<&str> = known.collect();
    let words = shown.iter().map(|word| Some(*word)).collect();
    escape_of(&part.with_words(words, shown, false), 1)
}

/// A word that is only known when it runs may be an option, or may come apart into several.
pub(super) fn may_be_option(part: &Part<'_>, covered: usize) -> bool {
    part.has_more
        || part
            .words
            .iter()
            .zip(&part.shown)
            .skip(covered.max(1))
            .any(|(word, shown)| word.is_none() && !is_one_operand(shown))
}

/// One word in quotes that begins like no option: `"dir/$name"`.
fn is_one_operand(shown: &str) -> bool {
    let Some(inner) = shown.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) else {
        return false;
    };
    inner.starts_with(|first: char| first.is_alphanumeric() || "./_,:@%".contains(first))
        && !inner.contains('"')
        && !inner.contains("$@")
        && !inner.contains("[@]")
}
