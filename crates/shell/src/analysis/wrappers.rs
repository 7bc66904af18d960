//! Programs that run the command in their arguments, as data.

use super::options::Spec;

/// Wrappers that need nothing but their options and operands to be passed over.
const SPECS: &[Spec] = &[
    Spec {
        names: &["env", "genv"],
        flags: "i0v",
        values: "uCaSP",
        long_flags: &["ignore-environment", "null", "debug", "list-signal-handling"],
        long_values: &["unset", "chdir", "argv0", "split-string"],
        long_attached: &["block-signal", "default-signal", "ignore-signal"],
        has_assignments: true,
        ..Spec::BARE
    },
    Spec {
        names: &["sudo"],
        flags: "AbBEHknNPS",
        values: "aCcDgpRrtTu",
        long_flags: &[
            "askpass",
            "background",
            "bell",
            "set-home",
            "reset-timestamp",
            "non-interactive",
            "no-update",
            "preserve-groups",
            "stdin",
        ],
        long_values: &[
            "auth-type",
            "close-from",
            "login-class",
            "chdir",
            "group",
            "prompt",
            "chroot",
            "role",
            "type",
            "command-timeout",
            "user",
        ],
        long_attached: &["preserve-env"],
        has_assignments: true,
        without_program: &["help", "version", "V", "K", "v", "validate", "remove-timestamp"],
        ..Spec::BARE
    },
    Spec { names: &["doas"], flags: "n", values: "au", without_program: &["L"], ..Spec::BARE },
    Spec {
        names: &["nice", "gnice"],
        values: "n",
        long_values: &["adjustment"],
        has_numbers: true,
        ..Spec::BARE
    },
    Spec {
        names: &["ionice"],
        flags: "t",
        values: "cn",
        long_flags: &["ignore"],
        long_values: &["class", "classdata"],
        without_program: &["help", "version", "h", "V"],
        ..Spec::BARE
    },
    Spec { names: &["nohup", "gnohup"], ..Spec::BARE },
    Spec {
        names: &["setsid"],
        flags: "cfw",
        long_flags: &["ctty", "fork", "wait"],
        without_program: &["help", "version", "h", "V"],
        ..Spec::BARE
    },
    Spec {
        names: &["stdbuf", "gstdbuf"],
        values: "ioe",
        long_values: &["input", "output", "error"],
        ..Spec::BARE
    },
    Spec {
        names: &["timeout", "gtimeout"],
        flags: "fpv",
        values: "ks",
        long_flags: &["foreground", "preserve-status", "verbose"],
        long_values: &["kill-after", "signal"],
        operands: 1,
        ..Spec::BARE
    },
    Spec {
        names: &["time", "gtime"],
        flags: "apqvl",
        values: "fo",
        long_flags: &["append", "portability", "quiet", "verbose"],
        long_values: &["format", "output"],
        without_program: &["help", "version", "V"],
        ..Spec::BARE
    },
    Spec {
        names: &["chroot"],
        long_flags: &["skip-chdir"],
        long_values: &["userspec", "groups"],
        operands: 1,
        ..Spec::BARE
    },
    Spec {
        names: &["xargs", "gxargs"],
        flags: "0rtpxo",
        values: "adEILnPsRSJ",
        attached: "eil",
        long_flags: &[
            "null",
            "no-run-if-empty",
            "verbose",
            "interactive",
            "exit",
            "open-tty",
            "show-limits",
        ],
        long_values: &[
            "arg-file",
            "delimiter",
            "max-args",
            "max-procs",
            "max-chars",
            "process-slot-var",
        ],
        long_attached: &["eof", "max-lines", "replace"],
        ..Spec::BARE
    },
    Spec {
        names: &["flock"],
        flags: "sxeunoFv",
        values: "wE",
        long_flags: &[
            "shared",
            "exclusive",
            "unlock",
            "nonblock",
            "nb",
            "close",
            "no-fork",
            "verbose",
        ],
        long_values: &["timeout", "wait", "conflict-exit-code"],
        operands: 1,
        without_program: &["help", "version", "h", "V"],
        ..Spec::BARE
    },
    Spec {
        names: &["watch"],
        flags: "bcCegprtwx",
        values: "n",
        attached: "d",
        long_flags: &[
            "beep", "color", "no-color", "errexit", "chgexit", "precise", "no-rerun", "no-title",
            "no-wrap", "exec",
        ],
        long_values: &["interval"],
        long_attached: &["differences"],
        without_program: &["help", "version", "h", "v"],
        ..Spec::BARE
    },
    Spec {
        names: &["script"],
        flags: "aefq",
        values: "cEIBOTmo",
        attached: "t",
        long_flags: &["append", "return", "flush", "force", "quiet"],
        long_values: &[
            "command",
            "echo",
            "log-in",
            "log-out",
            "log-io",
            "log-timing",
            "logging-format",
            "output-limit",
        ],
        long_attached: &["timing"],
        without_program: &["help", "version", "h", "V"],
        ..Spec::BARE
    },
];

/// How this program reads its arguments.
pub(super) fn spec(name: &str) -> Option<&'static Spec> {
    SPECS.iter().find(|spec| spec.names.contains(&name))
}

/// Programs that run other programs in ways that are not read here.
const LAUNCHERS: &[&str] = &[
    "at",
    "batch",
    "bwrap",
    "caffeinate",
    "capsh",
    "cgexec",
    "choom",
    "chpst",
    "chrt",
    "coresched",
    "crontab",
    "dbus-run-session",
    "eatmydata",
    "entr",
    "envdir",
    "envuidgid",
    "execlineb",
    "expect",
    "fakechroot",
    "fakeroot",
    "faketime",
    "firejail",
    "gdb",
    "gnome-terminal",
    "hyperfine",
    "i386",
    "inotifywait",
    "ld.so",
    "linux32",
    "linux64",
    "lldb",
    "ltrace",
    "nsenter",
    "numactl",
    "parallel",
    "perf",
    "pgrphack",
    "pkexec",
    "prlimit",
    "proxychains",
    "proxychains4",
    "rlwrap",
    "run-parts",
    "runsv",
    "runuser",
    "s6-setsid",
    "screen",
    "sem",
    "setarch",
    "setpriv",
    "setuidgid",
    "softlimit",
    "start-stop-daemon",
    "strace",
    "su",
    "sudoedit",
    "systemd-inhibit",
    "systemd-run",
    "taskset",
    "tmux",
    "torsocks",
    "tsocks",
    "uclampset",
    "unbuffer",
    "unshare",
    "valgrind",
    "watchexec",
    "x86_64",
    "xterm",
    "xvfb-run",
];

/// Whether this program is one of those.
pub(super) fn is_launcher(name: &str) -> bool {
    LAUNCHERS.contains(&name) || name.starts_with("ld-linux") || name.starts_with("qemu-")
}
