//! List of the tables in `programs/`; a test compares it with the directory.

/// Includes the tables of these names.
macro_rules! tables {
    ($($name:literal)*) => {
        &[$(($name, include_str!(concat!("../../programs/", $name, ".toml")))),*]
    };
}

/// Name and text of each table.
#[rustfmt::skip]
pub(super) const TABLES: &[(&str, &str)] = tables![
    "apt" "apt-cache" "ar" "arch" "awk" "base32" "base64" "basename" "bat" "bc" "black" "brew"
    "builtin" "bundle" "bzip2" "cal" "cargo" "cat" "chmod" "chown" "cksum" "cloc" "cmake" "cmp"
    "column" "comm" "command" "composer" "cp" "ctest" "curl" "cut" "date" "dc" "dd" "df" "diff"
    "diff3" "dirname" "docker" "dotnet" "dpkg" "dpkg-query" "du" "echo" "ed" "env" "eslint" "exec"
    "exit" "expand" "expr" "factor" "false" "fd" "file" "find" "flock" "flutter" "fmt" "fold"
    "free" "gcc" "getconf" "getent" "gh" "git" "go" "gofmt" "gradle" "grep" "groups" "gzip" "head"
    "helm" "hexdump" "hostname" "iconv" "id" "install" "ionice" "jest" "join" "journalctl" "jq"
    "just" "kill" "killall" "kubectl" "ldconfig" "ln" "locale" "ls" "lsattr" "lsb_release" "lsblk"
    "lscpu" "lsmod" "m4" "make" "md5sum" "meson" "mkdir" "mktemp" "mv" "mvn" "mypy" "netstat"
    "nice" "ninja" "nl" "nm" "nohup" "npm" "nproc" "numfmt" "nx" "objdump" "od" "paste" "patch"
    "pgrep" "pip" "pkill" "pnpm" "poetry" "pr" "prettier" "printenv" "printf" "ps" "psql" "pwd"
    "pytest" "readelf" "readlink" "realpath" "rev" "rg" "rm" "rmdir" "rsync" "ruff" "rustc"
    "rustfmt" "rustup" "sed" "seq" "setsid" "sh" "shuf" "sleep" "sort" "split" "sqlite3" "ss"
    "ssh" "stat" "stdbuf" "strings" "su" "sudo" "sum" "sw_vers" "systemctl" "tac" "tail" "tar"
    "tee" "terraform" "test" "time" "timeout" "tokei" "top" "touch" "tput" "tr" "tree" "true"
    "truncate" "tsc" "tsort" "tty" "type" "uname" "unexpand" "uniq" "unzip" "uptime" "users" "uv"
    "vim" "vmstat" "w" "watch" "wc" "wget" "whereis" "which" "who" "whoami" "xargs" "xxd" "yes"
    "zcat" "zip" "zipinfo"
];
