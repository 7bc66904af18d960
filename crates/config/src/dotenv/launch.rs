//! Variables that a `.env` file cannot set, because they make ordinary programs load code or start
//! other programs.
//!
//! The environment of Pollux passes to everything that it starts: commands, hooks, servers, the
//! editor. A file could therefore run a program through a hook that is `true`. All other variables
//! are passed on, because a project's tests need its `DATABASE_URL`. Also passed on are variables
//! that name configuration files of single tools (`KUBECONFIG`, `AWS_CONFIG_FILE`): their usual
//! place is a `.env` file, and nothing reads them unless that tool is started.
//!
//! The list cannot be complete, because any program may read any variable. It holds the variables
//! of programs that a developer's machine usually has.

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
        "QT_QPA_*", "SSH_SK_PROVIDER", "SSH_SK_HELPER", "SASL_PATH", "GSS_MECH_CONFIG",
        "LIBMYSQL_PLUGIN*", "GDK_PIXBUF_MODULE*", "GTK3_MODULES", "LIBGL_DRIVERS_PATH", "VK_ADD_*",
        "VK_DRIVER_FILES", "VK_ICD_FILENAMES", "VK_LAYER_PATH", "GDAL_DRIVER_PATH",
        "HDF5_PLUGIN_PATH", "MAGICK_CODER_MODULE_PATH", "MAGICK_CONFIGURE_PATH",
        "MAGICK_FILTER_MODULE_PATH", "OMP_TOOL_LIBRARIES", "CUDA_INJECTION*", "VALGRIND_LIB",
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
        "MYVIMRC", "VIM", "VIMRUNTIME", "EMACSLOADPATH", "PSQLRC", "SCREENRC",
        "SKIM_DEFAULT_COMMAND", "APT_CONFIG", "RPM_CONFIGDIR", "MAKEPKG_CONF", "NIX_BUILD_SHELL",
        "NIX_CONFIG", "DOCKER_CONFIG", "DOCKER_CLI_PLUGIN*", "HELM_PLUGINS",
        "KUBECTL_EXTERNAL_DIFF", "TF_CLI_CONFIG_FILE", "TERRAGRUNT_TFPATH", "PACKER_PLUGIN_PATH",
        "VAGRANT_VAGRANTFILE", "ANSIBLE_*", "CLOUDSDK_PYTHON*",
        "GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES", "GROFF_*", "PARALLEL_SHELL", "JUST_JUSTFILE",
        "PASSWORD_STORE_EXTENSIONS_DIR", "SOPS_GPG_EXEC", "LEFTHOOK_BIN", "SHELLSPEC_SHELL",
    ],
    // Interpreters load the named code at their start.
    &[
        "NODE_OPTIONS", "NODE_PATH", "NODE_REPL_EXTERNAL_MODULE", "BUN_OPTIONS", "TS_NODE_*",
        "PYTHONBREAKPOINT", "PYTHONEXECUTABLE", "PYTHONHOME", "PYTHONINSPECT", "PYTHONPATH",
        "PYTHONPLATLIBDIR", "PYTHONPYCACHEPREFIX", "PYTHONSTARTUP", "PYTHONUSERBASE",
        "PYTHONWARNINGS", "PERL*", "RUBYLIB", "RUBYOPT", "RUBYSHELL", "GEM_HOME", "GEM_PATH",
        "BUNDLE_*", "PHPRC", "PHP_INI_SCAN_DIR", "AWKPATH", "AWKLIBPATH", "LUA_*", "TCL*",
        "GUILE_*", "R_ENVIRON*", "R_HOME", "R_LIBS*", "R_PROFILE*", "JULIA_*", "ERL_*",
        "ELIXIR_ERL_OPTIONS", "MIX_ARCHIVES", "MIX_REBAR*", "GITPERLLIB", "HARNESS_PERL*",
        "RAKEOPT", "IRBRC", "RUBYGEMS_*", "IPYTHONDIR", "JUPYTER_CONFIG*", "JUPYTER_PATH",
        "PYENV_*", "OCTAVE_*", "CAML_LD_LIBRARY_PATH", "COMPOSER_HOME", "FISH_FUNCTION_PATH",
        "BUN_INSPECT*",
    ],
    // Virtual machines load the named code at their start.
    &[
        "JAVA_TOOL_OPTIONS", "*JAVA_OPTIONS", "*JAVAC_OPTIONS", "*JAVA_OPTS", "JAVA_HOME",
        "CLASSPATH", "MAVEN_ARGS", "MAVEN_OPTS", "GRADLE_OPTS", "GRADLE_USER_HOME", "SBT_OPTS",
        "ANT_ARGS", "ANT_HOME", "ANT_OPTS", "JAVACMD", "MAVEN_CONFIG", "DOTNET_ADDITIONAL_DEPS",
        "DOTNET_ROOT*", "DOTNET_SHARED_STORE", "DOTNET_STARTUP_HOOKS", "CORECLR_*",
        "COR_ENABLE_PROFILING", "COR_PROFILER*", "COMPLUS_*", "ASPNETCORE_HOSTINGSTARTUPASSEMBLIES",
        "MSBUILD*", "NUGET_PLUGIN_PATHS",
    ],
    // Builds start the named compilers and tools, or pass them options that load code.
    &[
        "MAKE", "MAKEFILES", "MAKEFLAGS", "MFLAGS", "GNUMAKEFLAGS", "CC", "CXX", "CPP", "AR", "AS",
        "LD", "NM", "RANLIB", "HOSTCC", "CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS",
        "COMPILER_PATH", "GCC_EXEC_PREFIX", "LIBRARY_PATH", "PKG_CONFIG*", "CMAKE_*", "CCACHE_*",
        "CARGO*", "RUSTC*", "RUSTDOC*", "RUSTFLAGS", "RUSTFMT", "RUSTUP_*", "GOBIN", "GOENV",
        "GOFLAGS", "GOPATH", "GOROOT", "GOTOOLCHAIN", "GOCACHEPROG", "GOAUTH", "GOPACKAGESDRIVER",
        "CGO_*", "CC_AARCH64*", "CC_ARM*", "CC_I686*", "CC_WASM32*", "CC_X86_64*", "CXX_*",
        "HOST_CC", "HOST_CXX", "TARGET_CC", "TARGET_CXX", "PROTOC", "CMAKE", "LIBCLANG_PATH",
        "CLANG_PATH", "CCC_OVERRIDE_OPTIONS", "CONFIG_SITE", "CONFIG_SHELL", "AUTOCONF", "AUTOMAKE",
        "AUTOHEADER", "AUTOM4TE", "ACLOCAL", "M4",
        // Variables of the rules that make has built in, and of habitual rules.
        "RM", "LEX", "YACC", "FC", "PC", "TEX", "MAKEINFO", "CO", "GET", "LINT", "M2C",
        "OUTPUT_OPTION", "TARGET_ARCH", "TARGET_MACH", "LOADLIBES", "LDLIBS", "ARFLAGS", "ASFLAGS",
        "FFLAGS", "LFLAGS", "YFLAGS",
    ],
    // Package managers: sources of packages, scripts, and the programs that they start.
    &[
        "NPM_CONFIG_*", "YARN_*", "COREPACK_*", "BUN_CONFIG_*", "PIP_*", "PIPX_*", "UV_*",
        "CONDA_*", "PNPM_CONFIG_*", "NODE_GYP_*", "ESBUILD_BINARY_PATH", "TURBO_BINARY_PATH",
        "NAPI_RS_*", "PUPPETEER_EXECUTABLE_PATH", "CHROME_BIN", "CYPRESS_RUN_BINARY",
    ],
    // Test runners load the named plug-ins.
    &[
        "PYTEST_ADDOPTS", "PYTEST_PLUGINS", "COVERAGE_PROCESS_START", "COVERAGE_RCFILE", "PYLINTRC",
        "SPEC_OPTS", "RUBOCOP_OPTS", "GUNICORN_CMD_ARGS",
    ],
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
        RUSTC_WRAPPER PIP_INDEX_URL MAKEFLAGS CC RM LDLIBS DOCKER_CONFIG APT_CONFIG GITPERLLIB \
        HARNESS_PERL_SWITCHES TCL_LIBRARY GROFF_BIN_PATH CONFIG_SITE VALGRIND_LIB JAVACMD \
        NODE_GYP_FORCE_PYTHON";

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
        // A file can set all variables that Pollux reads, except for the home directory, the editor
        // and the browser.
        for variable in crate::environment::names::all() {
            let refused = ["HOME", "USERPROFILE", "VISUAL", "EDITOR", "BROWSER"];
            let is_refused = refused.contains(&variable.name);
            assert_eq!(is_launch_variable(variable.name), is_refused, "{}", variable.name);
        }
    }
}
