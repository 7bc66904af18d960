//! Names and effects of the environment variables that Pollux reads.
//!
//! The generated reference is made from this table, so every variable that Pollux reads has a
//! constant here.

use std::fmt::Write as _;

/// One environment variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Variable {
    /// Name as the user writes it.
    pub name: &'static str,
    /// Effect in one sentence or more.
    pub effect: &'static str,
}

macro_rules! variables {
    ($($title:literal { $($name:ident: $effect:literal,)* })*) => {
        $($(
            #[doc = $effect]
            pub const $name: &str = stringify!($name);
        )*)*

        /// All variables, in the order of the reference, under the headings of the reference.
        const GROUPS: &[(&str, &[Variable])] = &[
            $(($title, &[$(Variable { name: $name, effect: $effect },)*]),)*
        ];
    };
}

variables! {
    "Gemini API: key, address, model" {
        GEMINI_API_KEY: "Key for the Gemini API; selects the API-key sign-in if no other method is configured.",
        GOOGLE_API_KEY: "Key for Vertex AI in express mode; it takes precedence over project and location.",
        GOOGLE_GENAI_USE_VERTEXAI: "`true` selects Vertex AI.",
        GOOGLE_GENAI_USE_GCA: "`true` selects Gemini Code Assist with the Google sign-in.",
        GOOGLE_CLOUD_PROJECT: "Google Cloud project for Vertex AI and Gemini Code Assist.",
        GOOGLE_CLOUD_PROJECT_ID: "Used when GOOGLE_CLOUD_PROJECT is unset.",
        GOOGLE_CLOUD_LOCATION: "Region of Vertex AI, such as `europe-west4`, or `global`, `us` or `eu`.",
        GOOGLE_GEMINI_BASE_URL: "Replaces the address of the Gemini API.",
        GOOGLE_VERTEX_BASE_URL: "Replaces the address of Vertex AI.",
        GOOGLE_GENAI_API_VERSION: "Version segment of the API's path, for example `v1beta`.",
        GEMINI_API_KEY_AUTH_MECHANISM: "`bearer` also sends the key as a bearer token; the default is `x-goog-api-key`.",
        GEMINI_CLI_CUSTOM_HEADERS: "Extra request headers, written `Name: value, Name: value`.",
        GEMINI_CLI_USE_COMPUTE_ADC: "`true` selects Gemini Code Assist with the credentials of the machine, from the metadata server.",
        GOOGLE_CLOUD_ACCESS_TOKEN: "Access token for Gemini Code Assist, used directly together with GOOGLE_GENAI_USE_GCA.",
        CODE_ASSIST_ENDPOINT: "Replaces the address of Gemini Code Assist.",
        CODE_ASSIST_API_VERSION: "Version segment of the paths of Gemini Code Assist; `v1internal` by default.",
        CLOUD_SHELL: "`true` inside Google Cloud Shell.",
        GEMINI_MODEL: "Model to use when `--model` is not given.",
    }

    "Google credentials" {
        GOOGLE_APPLICATION_CREDENTIALS: "File with Google credentials; otherwise those of `gcloud auth application-default login` are used, and then those of the machine.",
        GOOGLE_CLOUD_QUOTA_PROJECT: "Project that requests with Google credentials are billed to.",
        CLOUDSDK_CONFIG: "Folder of gcloud's configuration; `~/.config/gcloud` by default.",
        GCE_METADATA_HOST: "Host of the metadata server: a link-local or loopback address.",
        GCE_METADATA_TIMEOUT: "Seconds to wait for the first answer of the metadata server; 3 by default.",
        NO_GCE_CHECK: "`true` never asks the metadata server.",
        POLLUX_GOOGLE_OAUTH_CLIENT_ID: "Id of your OAuth client, with which `pollux auth login` signs in to Google and renews the token.",
        POLLUX_GOOGLE_OAUTH_CLIENT_SECRET: "Secret of this client.",
        POLLUX_GOOGLE_OAUTH_TOKEN_URL: "Replaces Google's address that gives tokens to this client: another address of Google, or one on this machine.",
    }

    "Other vendors, and servers on your machine" {
        OPENAI_API_KEY: "Key for OpenAI, or for the service at OPENAI_BASE_URL; used when no Gemini sign-in is configured or the model is one of OpenAI's.",
        OPENAI_CUSTOM_HEADERS: "Extra headers for OpenAI's API, written `Name: value, Name: value`, or one in each line.",
        OPENAI_BASE_URL: "Replaces the address of OpenAI's API: any service that implements Chat Completions or Responses.",
        OPENAI_MODEL: "Model to use with OPENAI_API_KEY if no model is given; otherwise the first model that the service lists.",
        OPENAI_WIRE_API: "API of the service: `responses` or `chat` (Chat Completions). The default is `responses` at OpenAI's own address, and `chat` at the address in OPENAI_BASE_URL.",
        OPENAI_ORG_ID: "Organization that requests to OpenAI are billed to.",
        OPENAI_PROJECT_ID: "Project that requests to OpenAI are billed to.",
        ANTHROPIC_API_KEY: "Key for Anthropic, or for the service at ANTHROPIC_BASE_URL; used when no sign-in to Google and no key of OpenAI is configured, or the model is one of Anthropic's.",
        ANTHROPIC_AUTH_TOKEN: "Token that is sent instead if ANTHROPIC_API_KEY is not set.",
        ANTHROPIC_BASE_URL: "Replaces the address of Anthropic's API: any service that implements the Messages API, with or without `/v1`.",
        ANTHROPIC_MODEL: "Model to use with ANTHROPIC_API_KEY if no model is given; otherwise the first model that the service lists.",
        ANTHROPIC_CUSTOM_HEADERS: "Extra headers for Anthropic's API, written `Name: value, Name: value`, or one in each line.",
        OPENROUTER_API_KEY: "Key for `--model openrouter/NAME`.",
        GROQ_API_KEY: "Key for `--model groq/NAME`.",
        MISTRAL_API_KEY: "Key for `--model mistral/NAME`.",
        DEEPSEEK_API_KEY: "Key for `--model deepseek/NAME`.",
        XAI_API_KEY: "Key for `--model xai/NAME`.",
        TOGETHER_API_KEY: "Key for `--model together/NAME`.",
        FIREWORKS_API_KEY: "Key for `--model fireworks/NAME`.",
        CEREBRAS_API_KEY: "Key for `--model cerebras/NAME`.",
        NVIDIA_API_KEY: "Key for `--model nvidia/NAME`.",
        MOONSHOT_API_KEY: "Key for `--model moonshot/NAME`.",
        DEEPINFRA_API_KEY: "Key for `--model deepinfra/NAME`.",
        HF_TOKEN: "Key for `--model huggingface/NAME`.",
        POLLUX_LOCAL_PORTS: "Ports on this machine on which Pollux searches for model servers, separated by commas; empty for none. The default is `11434,1234,8080,8000`.",
    }

    "Folders and trust" {
        GEMINI_CLI_HOME: "Replaces the home directory, so that state lives in `$GEMINI_CLI_HOME/.gemini`.",
        GEMINI_CLI_SYSTEM_SETTINGS_PATH: "Path of the system settings file that overrides all others.",
        GEMINI_CLI_SYSTEM_DEFAULTS_PATH: "Path of the system settings file that all others override.",
        GEMINI_CLI_TRUSTED_FOLDERS_PATH: "Path of the file of trusted folders.",
        GEMINI_CLI_TRUST_WORKSPACE: "`true` trusts the current folder, `false` distrusts it, for this run.",
        HOME: "Home directory (not on Windows).",
        USERPROFILE: "Home directory on Windows.",
        TMPDIR: "Directory for temporary files; then TMP, then TEMP.",
        TMP: "Directory for temporary files when TMPDIR is unset.",
        TEMP: "Directory for temporary files when TMPDIR and TMP are unset.",
    }

    "System prompt" {
        GEMINI_SYSTEM_MD: "Replaces the system prompt: `1` or `true` reads `.gemini/system.md`; any other value is a path.",
        GEMINI_WRITE_SYSTEM_MD: "Writes the final system prompt to a file whenever it changes; same syntax as GEMINI_SYSTEM_MD. A project's `.env` cannot set it.",
        GEMINI_PROMPT_: "Prefix: `GEMINI_PROMPT_<SECTION>` set to `0` or `false` removes that section from the system prompt; `pollux prompt show` lists the sections.",
    }

    "Running the program" {
        CI: "`true` makes the run headless.",
        GITHUB_TOKEN: "Token for requests about releases of extensions on GitHub. A `.env` file cannot set it.",
        GITHUB_API_URL: "Address of the interface of GitHub for these requests, such as that of a server of your own. A `.env` file cannot set it.",
        GITHUB_ACTIONS: "`true` makes the run headless.",
        GEMINI_CLI_INTEGRATION_TEST: "`true` disables the CI check of the headless detection.",
        GEMINI_CLI_NO_RELAUNCH: "Accepted for compatibility; Pollux does not restart itself.",
        GEMINI_CLI_SURFACE: "Name of the surface in the User-Agent.",
        SURFACE: "Used when GEMINI_CLI_SURFACE is unset.",
        VISUAL: "Editor for prompts and changes; then EDITOR, then `vi`. A `.env` file cannot set it.",
        EDITOR: "Used when VISUAL is unset. A `.env` file cannot set it.",
        GEMINI_PTY_INFO: "`child_process` runs commands without a terminal.",
        TERM: "`dumb` switches colours, line editing and progress lines off.",
        NO_COLOR: "If non-empty, messages have no colour.",
        POLLUX_TERMINAL: "Conversation at a terminal, in place of the setting `pollux.terminal`: `auto`, `screen` or `line`. Programs that drive Pollux through a terminal should set it.",
        XTERM_VERSION: "Set by xterm, which cuts rows when its window becomes narrower; other terminals fold them.",
        DEBUG: "`true` or `1` switches debug mode on.",
        DEBUG_MODE: "`true` or `1` switches debug mode on.",
        GEMINI_SANDBOX: "`true` or the name of a sandbox to run in; `false` for none.",
        SANDBOX: "Name of the sandbox that the program already runs in.",
        TERM_PROGRAM: "Terminal program, set by itself; selects the form of notifications.",
        COLORTERM: "`truecolor` or `24bit` if the terminal shows all colours; set by the terminal.",
        CLI_TITLE: "Name in the title of the window, in place of that of the folder.",
        TMUX: "Set by tmux.",
        STY: "Set by GNU screen.",
        WT_SESSION: "Set by Windows Terminal.",
    }

    "Telemetry" {
        GEMINI_TELEMETRY_ENABLED: "Overrides `telemetry.enabled`; on for `true` and `1`.",
        GEMINI_TELEMETRY_TARGET: "Overrides `telemetry.target`: `local` or `gcp`.",
        GEMINI_TELEMETRY_OTLP_ENDPOINT: "Overrides `telemetry.otlpEndpoint`. *Not implemented.*",
        GEMINI_TELEMETRY_OTLP_PROTOCOL: "Overrides `telemetry.otlpProtocol`: `grpc` or `http`. *Not implemented.*",
        GEMINI_TELEMETRY_LOG_PROMPTS: "Overrides `telemetry.logPrompts`; on for `true` and `1`.",
        GEMINI_TELEMETRY_OUTFILE: "Overrides `telemetry.outfile`.",
        GEMINI_TELEMETRY_USE_COLLECTOR: "Overrides `telemetry.useCollector`; on for `true` and `1`. *Not implemented.*",
        GEMINI_TELEMETRY_USE_CLI_AUTH: "Overrides `telemetry.useCliAuth`; on for `true` and `1`. *Not implemented.*",
        GEMINI_TELEMETRY_TRACES_ENABLED: "Overrides `telemetry.traces`; on for `true` and `1`. *Not implemented.*",
        OTEL_EXPORTER_OTLP_ENDPOINT: "OTLP address when neither setting nor GEMINI_TELEMETRY_OTLP_ENDPOINT gives one. *Not implemented.*",
    }

    "Signing in" {
        OAUTH_CALLBACK_PORT: "Port on this machine to which the browser is redirected after signing in to an MCP server; any free port by default.",
        NO_BROWSER: "If set, pages are shown as an address and not opened in a browser.",
        BROWSER: "Browser to open pages with, also in a remote shell. A `.env` file cannot set it.",
        GEMINI_FORCE_ENCRYPTED_FILE_STORAGE: "`true` stores the tokens of MCP servers in the encrypted file `~/.gemini/gemini-credentials.json`.",
        GEMINI_FORCE_FILE_STORAGE: "Accepted for compatibility; Pollux never uses the keychain of the system.",
        GOOGLE_CLOUD_WORKSTATIONS: "`true` on a cloud workstation: the browser is then redirected to a port of WEB_HOST.",
        WEB_HOST: "Host of the cloud workstation.",
    }

    "Network" {
        HTTPS_PROXY: "Proxy for HTTPS; also `https_proxy`.",
        HTTP_PROXY: "Proxy for HTTP; also `http_proxy`.",
        NO_PROXY: "Hosts that are reached without a proxy; also `no_proxy`.",
        SSL_CERT_FILE: "File with certificates to trust in addition to the system's: of authorities, or of single servers.",
        NODE_EXTRA_CA_CERTS: "File with certificates to trust in addition to the system's: of authorities, or of single servers.",
        POLLUX_RETRY_BASE_MS: "First wait before a request is repeated, in milliseconds; later waits grow from it.",
    }
}

/// Text of the reference before the tables.
const OPENING: &str = "\
# Environment variables

This page is generated by `cargo xtask gen` from the table of variables in the program.

Variables come from the environment of Pollux and from `.env` files; the environment has priority. A
`.env` file cannot set variables that make programs load code or start other programs
([security.md](security.md#variables-of-env)), and that of a project needs your
[consent](consent.md). Keys for all projects belong in `~/.gemini/.env`. *Not implemented*: Gemini
CLI has the variable, and it selects or configures something that this version does not have.

Hooks and commands get [variables of their own](hooks.md#input-of-a-hook). Values of settings can
contain `$NAME` or `${NAME}`.
";

/// Returns all variables, in the order of the reference.
pub fn all() -> impl Iterator<Item = &'static Variable> {
    GROUPS.iter().flat_map(|(_, variables)| *variables)
}

/// Returns the reference of the variables in Markdown, with a table for each group.
pub fn reference() -> String {
    let mut page = OPENING.to_owned();
    for (title, variables) in GROUPS {
        // Writing to a string cannot fail.
        let _infallible = write!(page, "\n## {title}\n\n| Variable | Effect |\n|---|---|\n");
        for Variable { name, effect } in *variables {
            let _infallible = writeln!(page, "| `{name}` | {} |", effect.replace('|', "\\|"));
        }
    }
    page
}
