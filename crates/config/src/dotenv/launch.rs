//! Variables that a `.env` file cannot set, because they make ordinary programs load code or start
//! other programs.
//!
//! The environment of Pollux passes to everything that it starts: commands, hooks, servers, the
//! editor. A file could therefore run a program through a hook that is `true`. All other variables
//! are passed on, because a project's tests need its `DATABASE_URL`. Also passed on are variables
//! that name configuration files of single tools (`KUBECONFIG`, `AWS_CONFIG_FILE`): their usual
//! place is a `.env` file, and nothing reads them unless that tool is started.

/// Names in capitals, by the reason for which they are refused. A `*` at the start or the end
/// stands for any characters.
#[rustfmt::skip]
const LAUNCH_VARIABLES: [&[&str]; 11] = [
    // The dynamic loader and the C library load the named libraries into every program.
    &["LD_*", "DYLD_*", "LIBPATH", "SHLIB_PATH", "GCONV_PATH", "GLIBC_TUNABLES", "LOCPATH"],
    // Libraries that many programs use load the named modules.
    &[
        "OPENSSL_CONF", "OPENSSL_ENGINES", "OPENSSL_MODULES", "KRB5_CONFIG", "GTK_MODULES",
        "GTK_PATH", "GIO_EXTRA_MODULES", "GIO_MODULE_DIR", "GST_PLUGIN*", "QT_PLUGIN_PATH",
        "QT_QPA_*", "SSH_SK_PROVIDER",
    ],
    // Shells run the named files, or read these values as code.
    &[
        "BASH_*", "BASHOPTS", "SHELLOPTS", "ENV", "ZDOTDIR", "FPATH", "PS0", "PS1", "PS2", "PS4",
        "PROMPT_COMMAND", "IFS", "CDPATH", "INPUTRC", "PSMODULEPATH",
    ],
    // Places in which programs search for programs and for their configuration.
    &[
        "PATH", "PATHEXT", "COMSPEC", "SHELL", "HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA",
        "XDG_*",
    ],
    // Programs that other programs start.
    &[
        "*EDITOR", "VISUAL", "*PAGER", "BROWSER", "GH_BROWSER", "*ASKPASS", "*_RSH", "TERMINAL",
        "DBUS_*", "GIT_*", "SVN_SSH", "HG", "HGRCPATH", "GNUPGHOME",
    ],
    // Options and start-up files of everyday programs, which can name programs.
    &[
        "LESS", "LESSOPEN", "LESSCLOSE", "LESSKEY*", "MANOPT", "TAR_OPTIONS", "ZIPOPT", "RSYNC_*",
        "RIPGREP_CONFIG_PATH", "FZF_*", "CURL_HOME", "WGETRC", "VIMINIT", "GVIMINIT", "EXINIT",
        "MYVIMRC", "VIMRUNTIME", "EMACSLOADPATH", "PSQLRC",
    ],
    // Interpreters load the named code at their start.
    &[
        "NODE_OPTIONS", "NODE_PATH", "NODE_REPL_EXTERNAL_MODULE", "BUN_OPTIONS", "TS_NODE_*",
        "PYTHONBREAKPOINT", "PYTHONEXECUTABLE", "PYTHONHOME", "PYTHONINSPECT", "PYTHONPATH",
        "PYTHONPLATLIBDIR", "PYTHONPYCACHEPREFIX", "PYTHONSTARTUP", "PYTHONUSERBASE",
        "PYTHONWARNINGS", "PERL*", "RUBYLIB", "RUBYOPT", "RUBYSHELL", "GEM_HOME", "GEM_PATH",
        "BUNDLE_*", "PHPRC", "PHP_INI_SCAN_DIR", "AWKPATH", "AWKLIBPATH", "LUA_*", "TCLLIBPATH",
        "GUILE_*", "R_ENVIRON*", "R_HOME", "R_LIBS*", "R_PROFILE*", "JULIA_*", "ERL_*",
        "ELIXIR_ERL_OPTIONS",
    ],
    // Virtual machines load the named code at their start.
    &[
        "JAVA_TOOL_OPTIONS", "*JAVA_OPTIONS", "*JAVAC_OPTIONS", "*JAVA_OPTS", "JAVA_HOME", "CLASSPATH",
        "MAVEN_ARGS", "MAVEN_OPTS", "GRADLE_OPTS", "GRADLE_USER_HOME", "SBT_OPTS", "ANT_ARGS", "ANT_HOME",
        "ANT_OPTS", "DOTNET_ADDITIONAL_DEPS", "DOTNET_ROOT*", "DOTNET_SHARED_STORE",
        "DOTNET_STARTUP_HOOKS", "CORECLR_*", "COR_ENABLE_PROFILING", "COR_PROFILER*", "COMPLUS_*",
    ],
    // Builds start the named compilers and tools, or pass them options that load code.
    &[
        "MAKE", "MAKEFILES", "MAKEFLAGS", "MFLAGS", "GNUMAKEFLAGS", "CC", "CXX", "CPP", "AR", "AS",
        "LD", "NM", "RANLIB", "HOSTCC", "CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS",
        "COMPILER_PATH", "GCC_EXEC_PREFIX", "LIBRARY_PATH", "PKG_CONFIG*", "CMAKE_*", "CCACHE_*",
        "CARGO*", "RUSTC*", "RUSTDOC*", "RUSTFLAGS", "RUSTFMT", "RUSTUP_*", "GOBIN", "GOENV",
        "GOFLAGS", "GOPATH", "GOROOT", "GOTOOLCHAIN", "CGO_*",
    ],
    // Package managers: sources of packages, scripts, and the programs that they start.
    &["NPM_CONFIG_*", "YARN_*", "COREPACK_*", "BUN_CONFIG_*", "PIP_*", "PIPX_*", "UV_*", "CONDA_*"],
    // Test runners load the named plug-ins.
    &["PYTEST_ADDOPTS", "PYTEST_PLUGINS", "COVERAGE_PROCESS_START"],
];

/// Returns true for a variable that makes programs load code or start other programs. Letter case
/// is ignored, because npm and Windows ignore it.
pub(super) fn is_launch_variable(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    LAUNCH_VARIABLES.iter().copied().flatten().any(|pattern| {
        if let Some(end) = pattern.strip_prefix('*') {
            name.ends_with(end)
        } else if let Some(start) = pattern.strip_suffix('*') {
            name.starts_with(start)
        } else {
            name == *pattern
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const REFUSED: &str = "BASH_ENV BASH_FUNC_ls ENV PS4 PROMPT_COMMAND SHELL PATH Path HOME \
        XDG_CONFIG_HOME LD_PRELOAD LD_LIBRARY_PATH DYLD_INSERT_LIBRARIES GIT_SSH_COMMAND \
        GIT_CONFIG_COUNT SSH_ASKPASS SUDO_ASKPASS EDITOR KUBE_EDITOR MANPAGER BROWSER SVN_SSH \
        LESSOPEN NODE_OPTIONS PYTHONPATH PYTHONSTARTUP PERL5OPT RUBYOPT JAVA_TOOL_OPTIONS \
        _JAVA_OPTIONS JDK_JAVA_OPTIONS npm_config_script_shell CARGO_BUILD_RUSTC_WRAPPER \
        RUSTC_WRAPPER PIP_INDEX_URL MAKEFLAGS CC";

    const PASSED_ON: &str = "DATABASE_URL PORT HOST HOSTNAME DEBUG TZ LANG ENVIRONMENT APP_ENV \
        NODE_ENV NODE_EXTRA_CA_CERTS SSL_CERT_FILE HTTPS_PROXY PYTHONUNBUFFERED RUST_LOG \
        RUST_BACKTRACE DOTNET_ENVIRONMENT MAVEN_PASSWORD BROWSERSLIST SSH_HOST AWS_PROFILE \
        KUBECONFIG GH_TOKEN GITHUB_TOKEN DISCORD_TOKEN";

    #[test]
    fn variables_that_start_programs_are_known_and_others_are_not() {
        for name in REFUSED.split_whitespace() {
            assert!(is_launch_variable(name), "{name}");
        }
        for name in PASSED_ON.split_whitespace() {
            assert!(!is_launch_variable(name), "{name}");
        }
        // A file can set all variables that Pollux reads, except for the home directory.
        for variable in crate::environment::names::ALL {
            let is_home = matches!(variable.name, "HOME" | "USERPROFILE");
            assert_eq!(is_launch_variable(variable.name), is_home, "{}", variable.name);
        }
    }
}
