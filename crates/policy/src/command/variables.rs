//! Variables that change what programs do.

use pollux_shell::analysis::{Assignment, Scope};

use crate::facts::Facts;

/// For one command: they change how it looks, not what it does.
const HARMLESS: &[&str] = &[
    "CI",
    "COLUMNS",
    "FORCE_COLOR",
    "LANG",
    "LINES",
    "NODE_ENV",
    "NO_COLOR",
    "RUST_BACKTRACE",
    "TZ",
];

/// For everything that follows: programs read them, and some run what they say.
const READ_BY_PROGRAMS: &[&str] = &[
    "ALL_PROXY",
    "BROWSER",
    "CC",
    "CXX",
    "EDITOR",
    "GREP_OPTIONS",
    "HOME",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "LESS",
    "LESSCLOSE",
    "LESSOPEN",
    "MAKEFLAGS",
    "MANPAGER",
    "NODE_OPTIONS",
    "PAGER",
    "PERL5LIB",
    "PERL5OPT",
    "PYTHONPATH",
    "PYTHONSTARTUP",
    "RIPGREP_CONFIG_PATH",
    "RUBYLIB",
    "RUBYOPT",
    "RUSTC",
    "RUSTC_WRAPPER",
    "SUDO_ASKPASS",
    "SYSTEMD_EDITOR",
    "TAR_OPTIONS",
    "TERMINFO",
    "TMPDIR",
    "VISUAL",
    "ZDOTDIR",
    "PWD",
    "OLDPWD",
    "CDPATH",
];
const PREFIXES: &[&str] = &[
    "GIT_", "SSH_", "NPM_", "npm_", "CARGO_", "PIP_", "UV_", "BASH_", "XDG_", "GEMINI_", "LESS_",
    "PYTHON", "JAVA_",
];

/// True when a rule that allows a command also allows it with this variable set for it.
pub(super) fn is_harmless(name: &str) -> bool {
    HARMLESS.contains(&name) || name.starts_with("LC_")
}

/// The first variable that is set for commands to come and that may change what they do.
pub(super) fn sensitive<'a>(assignments: &'a [Assignment], facts: &Facts) -> Option<&'a str> {
    let found = assignments.iter().find(|assignment| match assignment.scope {
        // Judged with its command.
        Scope::Command => false,
        Scope::Exported => !is_harmless(&assignment.name),
        Scope::Shell => {
            let name = assignment.name.as_str();
            !is_harmless(name)
                && (facts.environment.contains(name)
                    || READ_BY_PROGRAMS.contains(&name)
                    || name.ends_with("_proxy")
                    || PREFIXES.iter().any(|prefix| name.starts_with(prefix)))
        }
    });
    found.map(|assignment| assignment.name.as_str())
}
