
using namespace System.Management.Automation
using namespace System.Management.Automation.Language

Register-ArgumentCompleter -Native -CommandName 'pollux' -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    $commandElements = $commandAst.CommandElements
    $command = @(
        'pollux'
        for ($i = 1; $i -lt $commandElements.Count; $i++) {
            $element = $commandElements[$i]
            if ($element -isnot [StringConstantExpressionAst] -or
                $element.StringConstantType -ne [StringConstantType]::BareWord -or
                $element.Value.StartsWith('-') -or
                $element.Value -eq $wordToComplete) {
                break
        }
        $element.Value
    }) -join ';'

    $completions = @(switch ($command) {
        'pollux' {
            [CompletionResult]::new('-p', '-p', [CompletionResultType]::ParameterName, 'The prompt of a headless run; appended to standard input')
            [CompletionResult]::new('--prompt', '--prompt', [CompletionResultType]::ParameterName, 'The prompt of a headless run; appended to standard input')
            [CompletionResult]::new('-i', '-i', [CompletionResultType]::ParameterName, 'The first prompt of a conversation at the terminal')
            [CompletionResult]::new('--prompt-interactive', '--prompt-interactive', [CompletionResultType]::ParameterName, 'The first prompt of a conversation at the terminal')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'The form of standard output')
            [CompletionResult]::new('--output-format', '--output-format', [CompletionResultType]::ParameterName, 'The form of standard output')
            [CompletionResult]::new('--approval-mode', '--approval-mode', [CompletionResultType]::ParameterName, 'Actions allowed without a question: only reading (default), edits too, everything, or planning only')
            [CompletionResult]::new('--policy', '--policy', [CompletionResultType]::ParameterName, 'Policy files or folders to use instead of ~/.gemini/policies')
            [CompletionResult]::new('--admin-policy', '--admin-policy', [CompletionResultType]::ParameterName, 'More policy files or folders of the administrator')
            [CompletionResult]::new('--allowed-tools', '--allowed-tools', [CompletionResultType]::ParameterName, 'Tools, and commands as run_shell_command(git), that run without approval; policy files can express more')
            [CompletionResult]::new('--allowed-mcp-server-names', '--allowed-mcp-server-names', [CompletionResultType]::ParameterName, 'The only MCP servers that may start; an empty text for none')
            [CompletionResult]::new('-e', '-e', [CompletionResultType]::ParameterName, 'The only extensions that are active, separated by commas; none for no extension')
            [CompletionResult]::new('--extensions', '--extensions', [CompletionResultType]::ParameterName, 'The only extensions that are active, separated by commas; none for no extension')
            [CompletionResult]::new('--include-directories', '--include-directories', [CompletionResultType]::ParameterName, 'More folders to work in, separated by commas')
            [CompletionResult]::new('-r', '-r', [CompletionResultType]::ParameterName, 'Continue a session: the latest, or that of this number, id or beginning of an id')
            [CompletionResult]::new('--resume', '--resume', [CompletionResultType]::ParameterName, 'Continue a session: the latest, or that of this number, id or beginning of an id')
            [CompletionResult]::new('--session-file', '--session-file', [CompletionResultType]::ParameterName, 'Continue from a session file, in a new session')
            [CompletionResult]::new('--session-id', '--session-id', [CompletionResultType]::ParameterName, 'The id of the new session: letters, digits, dashes, underscores')
            [CompletionResult]::new('--delete-session', '--delete-session', [CompletionResultType]::ParameterName, 'Delete a session and exit: the latest, or that of this number or id')
            [CompletionResult]::new('--max-turns', '--max-turns', [CompletionResultType]::ParameterName, 'Stop after N requests to models (exit code 57)')
            [CompletionResult]::new('--max-tool-calls', '--max-tool-calls', [CompletionResultType]::ParameterName, 'Stop after N tool calls (exit code 57)')
            [CompletionResult]::new('--max-tokens', '--max-tokens', [CompletionResultType]::ParameterName, 'Stop after N tokens in requests and answers (exit code 57)')
            [CompletionResult]::new('--max-cost', '--max-cost', [CompletionResultType]::ParameterName, 'Stop at this cost in dollars, by the built-in prices and ~/.gemini/pollux/prices.json (exit code 57)')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'Stop after this time; running tools are stopped (exit code 57)')
            [CompletionResult]::new('--output-schema', '--output-schema', [CompletionResultType]::ParameterName, 'Require an answer that satisfies this JSON Schema; without one, the exit code is 58')
            [CompletionResult]::new('--record-wire', '--record-wire', [CompletionResultType]::ParameterName, 'Record the requests to models and the responses in this folder, without keys, for a bug report')
            [CompletionResult]::new('-m', '-m', [CompletionResultType]::ParameterName, 'The model, by name or alias')
            [CompletionResult]::new('--model', '--model', [CompletionResultType]::ParameterName, 'The model, by name or alias')
            [CompletionResult]::new('--no-stdin', '--no-stdin', [CompletionResultType]::ParameterName, 'Do not read standard input')
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Allow everything, as --approval-mode=yolo does')
            [CompletionResult]::new('--yolo', '--yolo', [CompletionResultType]::ParameterName, 'Allow everything, as --approval-mode=yolo does')
            [CompletionResult]::new('--skip-trust', '--skip-trust', [CompletionResultType]::ParameterName, 'Trust the current folder for this run')
            [CompletionResult]::new('-l', '-l', [CompletionResultType]::ParameterName, 'List the extensions')
            [CompletionResult]::new('--list-extensions', '--list-extensions', [CompletionResultType]::ParameterName, 'List the extensions')
            [CompletionResult]::new('--list-sessions', '--list-sessions', [CompletionResultType]::ParameterName, 'List the sessions of this project and exit; as JSON with -o json')
            [CompletionResult]::new('--raw-output', '--raw-output', [CompletionResultType]::ParameterName, 'Keep the terminal control sequences in the model''s text')
            [CompletionResult]::new('--accept-raw-output-risk', '--accept-raw-output-risk', [CompletionResultType]::ParameterName, 'Keep the terminal control sequences without a warning')
            [CompletionResult]::new('--acp', '--acp', [CompletionResultType]::ParameterName, 'Serve an editor on standard input and output (Agent Client Protocol)')
            [CompletionResult]::new('-d', '-d', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('--debug', '--debug', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print the version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print the version')
            [CompletionResult]::new('demo', 'demo', [CompletionResultType]::ParameterValue, 'Show the agent at work on a sample project, with a recorded model: no key, no network')
            [CompletionResult]::new('auth', 'auth', [CompletionResultType]::ParameterValue, 'Show which sign-in is used, and sign in to Google')
            [CompletionResult]::new('config', 'config', [CompletionResultType]::ParameterValue, 'Show, change and explain settings')
            [CompletionResult]::new('doctor', 'doctor', [CompletionResultType]::ParameterValue, 'Check the connection, keys, servers and state, and name the culprit')
            [CompletionResult]::new('extensions', 'extensions', [CompletionResultType]::ParameterValue, 'Install, list, update, configure and create extensions')
            [CompletionResult]::new('extension', 'extension', [CompletionResultType]::ParameterValue, 'Install, list, update, configure and create extensions')
            [CompletionResult]::new('hooks', 'hooks', [CompletionResultType]::ParameterValue, 'Show and test the hooks, your programs that run at events of the agent')
            [CompletionResult]::new('hook', 'hook', [CompletionResultType]::ParameterValue, 'Show and test the hooks, your programs that run at events of the agent')
            [CompletionResult]::new('mcp', 'mcp', [CompletionResultType]::ParameterValue, 'Add, remove, show and test MCP servers, which give the model more tools; or be one (serve)')
            [CompletionResult]::new('models', 'models', [CompletionResultType]::ParameterValue, 'List the models that can be used')
            [CompletionResult]::new('policy', 'policy', [CompletionResultType]::ParameterValue, 'Explain the policy decision about a command line, list the rules, or check them')
            [CompletionResult]::new('prompt', 'prompt', [CompletionResultType]::ParameterValue, 'Show the system prompt and the tools that a model receives, and their size in tokens')
            [CompletionResult]::new('sandbox', 'sandbox', [CompletionResultType]::ParameterValue, 'Show and test the confinement of commands by the kernel')
            [CompletionResult]::new('skills', 'skills', [CompletionResultType]::ParameterValue, 'List, install and remove agent skills, which teach the model certain tasks')
            [CompletionResult]::new('skill', 'skill', [CompletionResultType]::ParameterValue, 'List, install and remove agent skills, which teach the model certain tasks')
            [CompletionResult]::new('trust', 'trust', [CompletionResultType]::ParameterValue, 'Trust a folder permanently, without accepting the items in it that could do harm')
            [CompletionResult]::new('completions', 'completions', [CompletionResultType]::ParameterValue, 'Print the completions for a shell')
            [CompletionResult]::new('man', 'man', [CompletionResultType]::ParameterValue, 'Print the man page')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print the help of the program or of a subcommand')
            [CompletionResult]::new('version', 'version', [CompletionResultType]::ParameterValue, 'Print the version')
            break
        }
        'pollux;demo' {
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'The form of standard output')
            [CompletionResult]::new('--output-format', '--output-format', [CompletionResultType]::ParameterName, 'The form of standard output')
            [CompletionResult]::new('--keep', '--keep', [CompletionResultType]::ParameterName, 'Keep the sample project, and print its path')
            [CompletionResult]::new('-d', '-d', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('--debug', '--debug', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print this help')
            break
        }
        'pollux;auth' {
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('status', 'status', [CompletionResultType]::ParameterValue, 'Show which credentials a run in this folder uses, and why not others')
            [CompletionResult]::new('login', 'login', [CompletionResultType]::ParameterValue, 'Sign in to Google in the browser, through an OAuth client of your own')
            [CompletionResult]::new('logout', 'logout', [CompletionResultType]::ParameterValue, 'Remove the stored sign-in to Google')
            break
        }
        'pollux;auth;status' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON')
            [CompletionResult]::new('--skip-trust', '--skip-trust', [CompletionResultType]::ParameterName, 'Trust the current folder for this run')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print this help')
            break
        }
        'pollux;auth;login' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print this help')
            break
        }
        'pollux;auth;logout' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print this help')
            break
        }
        'pollux;config' {
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'Show the settings that are set, with their sources')
            [CompletionResult]::new('get', 'get', [CompletionResultType]::ParameterValue, 'Print the value that is in effect')
            [CompletionResult]::new('set', 'set', [CompletionResultType]::ParameterValue, 'Write a value; keeps comments and layout of the file')
            [CompletionResult]::new('unset', 'unset', [CompletionResultType]::ParameterValue, 'Remove a value from a file')
            [CompletionResult]::new('explain', 'explain', [CompletionResultType]::ParameterValue, 'Show every layer of a setting, and which one is in effect')
            [CompletionResult]::new('report', 'report', [CompletionResultType]::ParameterValue, 'List unknown, misspelt, outdated and ineffective settings in the files')
            [CompletionResult]::new('migrate', 'migrate', [CompletionResultType]::ParameterValue, 'Rename old keys of a file to their new names')
            break
        }
        'pollux;config;list' {
            [CompletionResult]::new('--all', '--all', [CompletionResultType]::ParameterName, 'Show defaults too')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print this help')
            break
        }
        'pollux;config;get' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print this help')
            break
        }
        'pollux;config;set' {
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'The user''s file, ~/.gemini/settings.json (the default)')
            [CompletionResult]::new('--project', '--project', [CompletionResultType]::ParameterName, 'The project''s file, .gemini/settings.json')
            [CompletionResult]::new('--system', '--system', [CompletionResultType]::ParameterName, 'The system''s file, which overrides all others')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print this help')
            break
        }
        'pollux;config;unset' {
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'The user''s file, ~/.gemini/settings.json (the default)')
            [CompletionResult]::new('--project', '--project', [CompletionResultType]::ParameterName, 'The project''s file, .gemini/settings.json')
            [CompletionResult]::new('--system', '--system', [CompletionResultType]::ParameterName, 'The system''s file, which overrides all others')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print this help')
            break
        }
        'pollux;config;explain' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print this help')
            break
        }
        'pollux;config;report' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print this help')
            break
        }
        'pollux;config;migrate' {
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'The user''s file, ~/.gemini/settings.json (the default)')
            [CompletionResult]::new('--project', '--project', [CompletionResultType]::ParameterName, 'The project''s file, .gemini/settings.json')
            [CompletionResult]::new('--system', '--system', [CompletionResultType]::ParameterName, 'The system''s file, which overrides all others')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print this help')
            break
        }
        'pollux;doctor' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print this help')
            break
        }
        'pollux;extensions' {
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List the installed extensions')
            [CompletionResult]::new('install', 'install', [CompletionResultType]::ParameterValue, 'Install an extension from a Git repository or a folder')
            [CompletionResult]::new('link', 'link', [CompletionResultType]::ParameterValue, 'Use the extension in a folder in place, with all later changes of it')
            [CompletionResult]::new('uninstall', 'uninstall', [CompletionResultType]::ParameterValue, 'Remove installed or linked extensions')
            [CompletionResult]::new('update', 'update', [CompletionResultType]::ParameterValue, 'Replace extensions by the newest version of their sources')
            [CompletionResult]::new('config', 'config', [CompletionResultType]::ParameterValue, 'Enter values for the settings of extensions')
            [CompletionResult]::new('enable', 'enable', [CompletionResultType]::ParameterValue, 'Use a disabled extension again')
            [CompletionResult]::new('disable', 'disable', [CompletionResultType]::ParameterValue, 'Do not use an extension')
            [CompletionResult]::new('new', 'new', [CompletionResultType]::ParameterValue, 'Create an extension to begin with')
            [CompletionResult]::new('validate', 'validate', [CompletionResultType]::ParameterValue, 'Check an extension that you write')
            break
        }
        'pollux;extension' {
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List the installed extensions')
            [CompletionResult]::new('install', 'install', [CompletionResultType]::ParameterValue, 'Install an extension from a Git repository or a folder')
            [CompletionResult]::new('link', 'link', [CompletionResultType]::ParameterValue, 'Use the extension in a folder in place, with all later changes of it')
            [CompletionResult]::new('uninstall', 'uninstall', [CompletionResultType]::ParameterValue, 'Remove installed or linked extensions')
            [CompletionResult]::new('update', 'update', [CompletionResultType]::ParameterValue, 'Replace extensions by the newest version of their sources')
            [CompletionResult]::new('config', 'config', [CompletionResultType]::ParameterValue, 'Enter values for the settings of extensions')
            [CompletionResult]::new('enable', 'enable', [CompletionResultType]::ParameterValue, 'Use a disabled extension again')
            [CompletionResult]::new('disable', 'disable', [CompletionResultType]::ParameterValue, 'Do not use an extension')
            [CompletionResult]::new('new', 'new', [CompletionResultType]::ParameterValue, 'Create an extension to begin with')
            [CompletionResult]::new('validate', 'validate', [CompletionResultType]::ParameterValue, 'Check an extension that you write')
            break
        }
        'pollux;extensions;list' {
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'The form of the list')
            [CompletionResult]::new('--output-format', '--output-format', [CompletionResultType]::ParameterName, 'The form of the list')
            [CompletionResult]::new('-d', '-d', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('--debug', '--debug', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print this help')
            break
        }
        'pollux;extension;list' {
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'The form of the list')
            [CompletionResult]::new('--output-format', '--output-format', [CompletionResultType]::ParameterName, 'The form of the list')
            [CompletionResult]::new('-d', '-d', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('--debug', '--debug', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print this help')
            break
        }
        'pollux;extensions;install' {
            [CompletionResult]::new('--ref', '--ref', [CompletionResultType]::ParameterName, 'The branch, tag or commit')
            [CompletionResult]::new('--auto-update', '--auto-update', [CompletionResultType]::ParameterName, 'Let Gemini CLI update the extension when it starts; Pollux never does so by itself')
            [CompletionResult]::new('--pre-release', '--pre-release', [CompletionResultType]::ParameterName, 'Use releases that are not final, too')
            [CompletionResult]::new('--consent', '--consent', [CompletionResultType]::ParameterName, 'Install without a question')
            [CompletionResult]::new('--skip-settings', '--skip-settings', [CompletionResultType]::ParameterName, 'Do not ask for the values of settings')
            [CompletionResult]::new('-d', '-d', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('--debug', '--debug', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print this help')
            break
        }
        'pollux;extension;install' {
            [CompletionResult]::new('--ref', '--ref', [CompletionResultType]::ParameterName, 'The branch, tag or commit')
            [CompletionResult]::new('--auto-update', '--auto-update', [CompletionResultType]::ParameterName, 'Let Gemini CLI update the extension when it starts; Pollux never does so by itself')
            [CompletionResult]::new('--pre-release', '--pre-release', [CompletionResultType]::ParameterName, 'Use releases that are not final, too')
            [CompletionResult]::new('--consent', '--consent', [CompletionResultType]::ParameterName, 'Install without a question')
            [CompletionResult]::new('--skip-settings', '--skip-settings', [CompletionResultType]::ParameterName, 'Do not ask for the values of settings')
            [CompletionResult]::new('-d', '-d', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('--debug', '--debug', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print this help')
            break
        }
        'pollux;extensions;link' {
            [CompletionResult]::new('--consent', '--consent', [CompletionResultType]::ParameterName, 'Link without a question')
            [CompletionResult]::new('-d', '-d', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('--debug', '--debug', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print this help')
            break
        }
        'pollux;extension;link' {
            [CompletionResult]::new('--consent', '--consent', [CompletionResultType]::ParameterName, 'Link without a question')
            [CompletionResult]::new('-d', '-d', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('--debug', '--debug', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print this help')
            break
        }
        'pollux;extensions;uninstall' {
            [CompletionResult]::new('--all', '--all', [CompletionResultType]::ParameterName, 'All extensions')
            [CompletionResult]::new('-d', '-d', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('--debug', '--debug', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print this help')
            break
        }
        'pollux;extension;uninstall' {
            [CompletionResult]::new('--all', '--all', [CompletionResultType]::ParameterName, 'All extensions')
            [CompletionResult]::new('-d', '-d', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('--debug', '--debug', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print this help')
            break
        }
        'pollux;extensions;update' {
            [CompletionResult]::new('--all', '--all', [CompletionResultType]::ParameterName, 'All extensions')
            [CompletionResult]::new('-d', '-d', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('--debug', '--debug', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print this help')
            break
        }
        'pollux;extension;update' {
            [CompletionResult]::new('--all', '--all', [CompletionResultType]::ParameterName, 'All extensions')
            [CompletionResult]::new('-d', '-d', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('--debug', '--debug', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print this help')
            break
        }
        'pollux;extensions;config' {
            [CompletionResult]::new('--scope', '--scope', [CompletionResultType]::ParameterName, 'For all folders (user), or for the current one')
            [CompletionResult]::new('-d', '-d', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('--debug', '--debug', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print this help')
            break
        }
        'pollux;extension;config' {
            [CompletionResult]::new('--scope', '--scope', [CompletionResultType]::ParameterName, 'For all folders (user), or for the current one')
            [CompletionResult]::new('-d', '-d', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('--debug', '--debug', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print this help')
            break
        }
        'pollux;extensions;enable' {
            [CompletionResult]::new('--scope', '--scope', [CompletionResultType]::ParameterName, 'Everywhere (user), or in the current folder')
            [CompletionResult]::new('-d', '-d', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('--debug', '--debug', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print this help')
            break
        }
        'pollux;extension;enable' {
            [CompletionResult]::new('--scope', '--scope', [CompletionResultType]::ParameterName, 'Everywhere (user), or in the current folder')
            [CompletionResult]::new('-d', '-d', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('--debug', '--debug', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print this help')
            break
        }
        'pollux;extensions;disable' {
            [CompletionResult]::new('--scope', '--scope', [CompletionResultType]::ParameterName, 'Everywhere (user), or in the current folder')
            [CompletionResult]::new('-d', '-d', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('--debug', '--debug', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print this help')
            break
        }
        'pollux;extension;disable' {
            [CompletionResult]::new('--scope', '--scope', [CompletionResultType]::ParameterName, 'Everywhere (user), or in the current folder')
            [CompletionResult]::new('-d', '-d', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('--debug', '--debug', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print this help')
            break
        }
        'pollux;extensions;new' {
            [CompletionResult]::new('-d', '-d', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('--debug', '--debug', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print this help')
            break
        }
        'pollux;extension;new' {
            [CompletionResult]::new('-d', '-d', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('--debug', '--debug', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print this help')
            break
        }
        'pollux;extensions;validate' {
            [CompletionResult]::new('-d', '-d', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('--debug', '--debug', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print this help')
            break
        }
        'pollux;extension;validate' {
            [CompletionResult]::new('-d', '-d', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('--debug', '--debug', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print this help')
            break
        }
        'pollux;hooks' {
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List the hooks and their sources')
            [CompletionResult]::new('test', 'test', [CompletionResultType]::ParameterValue, 'Run the hooks of an event with sample data, and show the changes that they would make')
            [CompletionResult]::new('migrate', 'migrate', [CompletionResultType]::ParameterValue, 'Import the hooks of Claude Code into this project''s settings')
            break
        }
        'pollux;hook' {
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List the hooks and their sources')
            [CompletionResult]::new('test', 'test', [CompletionResultType]::ParameterValue, 'Run the hooks of an event with sample data, and show the changes that they would make')
            [CompletionResult]::new('migrate', 'migrate', [CompletionResultType]::ParameterValue, 'Import the hooks of Claude Code into this project''s settings')
            break
        }
        'pollux;hooks;list' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON')
            [CompletionResult]::new('--skip-trust', '--skip-trust', [CompletionResultType]::ParameterName, 'Trust the current folder for this run')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print this help')
            break
        }
        'pollux;hook;list' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON')
            [CompletionResult]::new('--skip-trust', '--skip-trust', [CompletionResultType]::ParameterName, 'Trust the current folder for this run')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print this help')
            break
        }
        'pollux;hooks;test' {
            [CompletionResult]::new('--tool', '--tool', [CompletionResultType]::ParameterName, 'The tool in the sample data')
            [CompletionResult]::new('--input', '--input', [CompletionResultType]::ParameterName, 'Its arguments')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON')
            [CompletionResult]::new('--skip-trust', '--skip-trust', [CompletionResultType]::ParameterName, 'Trust the current folder for this run')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print this help')
            break
        }
        'pollux;hook;test' {
            [CompletionResult]::new('--tool', '--tool', [CompletionResultType]::ParameterName, 'The tool in the sample data')
            [CompletionResult]::new('--input', '--input', [CompletionResultType]::ParameterName, 'Its arguments')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON')
            [CompletionResult]::new('--skip-trust', '--skip-trust', [CompletionResultType]::ParameterName, 'Trust the current folder for this run')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print this help')
            break
        }
        'pollux;hooks;migrate' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON')
            [CompletionResult]::new('--from-claude', '--from-claude', [CompletionResultType]::ParameterName, 'From .claude/settings.local.json or .claude/settings.json')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print this help')
            break
        }
        'pollux;hook;migrate' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON')
            [CompletionResult]::new('--from-claude', '--from-claude', [CompletionResultType]::ParameterName, 'From .claude/settings.local.json or .claude/settings.json')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print this help')
            break
        }
        'pollux;mcp' {
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('add', 'add', [CompletionResultType]::ParameterValue, 'Add a server to a settings file')
            [CompletionResult]::new('remove', 'remove', [CompletionResultType]::ParameterValue, 'Remove a server from a settings file')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List the servers, and try to connect to each of them')
            [CompletionResult]::new('get', 'get', [CompletionResultType]::ParameterValue, 'Show the settings and the state of a server, without starting it')
            [CompletionResult]::new('test', 'test', [CompletionResultType]::ParameterValue, 'Start a server, and show what it offers or what is wrong with it')
            [CompletionResult]::new('auth', 'auth', [CompletionResultType]::ParameterValue, 'Sign in to a server that requires authentication')
            [CompletionResult]::new('logout', 'logout', [CompletionResultType]::ParameterValue, 'Remove the stored credentials of a server')
            [CompletionResult]::new('enable', 'enable', [CompletionResultType]::ParameterValue, 'Let a disabled server start again')
            [CompletionResult]::new('disable', 'disable', [CompletionResultType]::ParameterValue, 'Prevent a server from starting, in all projects')
            [CompletionResult]::new('serve', 'serve', [CompletionResultType]::ParameterValue, 'Serve other agents on standard input and output: their calls run prompts in sessions of Pollux')
            break
        }
        'pollux;mcp;add' {
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'The settings file')
            [CompletionResult]::new('--scope', '--scope', [CompletionResultType]::ParameterName, 'The settings file')
            [CompletionResult]::new('-t', '-t', [CompletionResultType]::ParameterName, 'The way to the server: a program (stdio), or an address (http, sse)')
            [CompletionResult]::new('--transport', '--transport', [CompletionResultType]::ParameterName, 'The way to the server: a program (stdio), or an address (http, sse)')
            [CompletionResult]::new('--type', '--type', [CompletionResultType]::ParameterName, 'The way to the server: a program (stdio), or an address (http, sse)')
            [CompletionResult]::new('-e', '-e', [CompletionResultType]::ParameterName, 'A variable of the program; repeatable. KEY=''$NAME'' saves the reference, not the value')
            [CompletionResult]::new('--env', '--env', [CompletionResultType]::ParameterName, 'A variable of the program; repeatable. KEY=''$NAME'' saves the reference, not the value')
            [CompletionResult]::new('-H', '-H ', [CompletionResultType]::ParameterName, 'A header of requests; repeatable. References such as $NAME are saved as they are')
            [CompletionResult]::new('--header', '--header', [CompletionResultType]::ParameterName, 'A header of requests; repeatable. References such as $NAME are saved as they are')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'The time limit for connecting and for each call, in milliseconds')
            [CompletionResult]::new('--description', '--description', [CompletionResultType]::ParameterName, 'A description for the user')
            [CompletionResult]::new('--include-tools', '--include-tools', [CompletionResultType]::ParameterName, 'A tool to use, no others; repeatable')
            [CompletionResult]::new('--exclude-tools', '--exclude-tools', [CompletionResultType]::ParameterName, 'A tool not to use; repeatable')
            [CompletionResult]::new('--trust', '--trust', [CompletionResultType]::ParameterName, 'Let all tools of the server run without approval in trusted folders')
            [CompletionResult]::new('-d', '-d', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('--debug', '--debug', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print this help')
            break
        }
        'pollux;mcp;remove' {
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'The settings file')
            [CompletionResult]::new('--scope', '--scope', [CompletionResultType]::ParameterName, 'The settings file')
            [CompletionResult]::new('-d', '-d', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('--debug', '--debug', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print this help')
            break
        }
        'pollux;mcp;list' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON')
            [CompletionResult]::new('--skip-trust', '--skip-trust', [CompletionResultType]::ParameterName, 'Trust the current folder for this run')
            [CompletionResult]::new('-d', '-d', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('--debug', '--debug', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print this help')
            break
        }
        'pollux;mcp;get' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON')
            [CompletionResult]::new('--skip-trust', '--skip-trust', [CompletionResultType]::ParameterName, 'Trust the current folder for this run')
            [CompletionResult]::new('-d', '-d', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('--debug', '--debug', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print this help')
            break
        }
        'pollux;mcp;test' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON')
            [CompletionResult]::new('--skip-trust', '--skip-trust', [CompletionResultType]::ParameterName, 'Trust the current folder for this run')
            [CompletionResult]::new('-d', '-d', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('--debug', '--debug', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print this help')
            break
        }
        'pollux;mcp;auth' {
            [CompletionResult]::new('--skip-trust', '--skip-trust', [CompletionResultType]::ParameterName, 'Trust the current folder for this run')
            [CompletionResult]::new('-d', '-d', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('--debug', '--debug', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print this help')
            break
        }
        'pollux;mcp;logout' {
            [CompletionResult]::new('-d', '-d', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('--debug', '--debug', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print this help')
            break
        }
        'pollux;mcp;enable' {
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'For one session only: without effect here, see /mcp in a conversation')
            [CompletionResult]::new('-d', '-d', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('--debug', '--debug', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print this help')
            break
        }
        'pollux;mcp;disable' {
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'For one session only: without effect here, see /mcp in a conversation')
            [CompletionResult]::new('-d', '-d', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('--debug', '--debug', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print this help')
            break
        }
        'pollux;mcp;serve' {
            [CompletionResult]::new('--approval-mode', '--approval-mode', [CompletionResultType]::ParameterName, 'Actions allowed without a question, which a call cannot exceed')
            [CompletionResult]::new('--include-directories', '--include-directories', [CompletionResultType]::ParameterName, 'More folders to work in, separated by commas')
            [CompletionResult]::new('--policy', '--policy', [CompletionResultType]::ParameterName, 'Policy files or folders to use instead of ~/.gemini/policies')
            [CompletionResult]::new('--admin-policy', '--admin-policy', [CompletionResultType]::ParameterName, 'More policy files or folders of the administrator')
            [CompletionResult]::new('--allowed-tools', '--allowed-tools', [CompletionResultType]::ParameterName, 'Tools, and commands as run_shell_command(git), that run without approval; policy files can express more')
            [CompletionResult]::new('--allowed-mcp-server-names', '--allowed-mcp-server-names', [CompletionResultType]::ParameterName, 'The only MCP servers that may start; an empty text for none')
            [CompletionResult]::new('-m', '-m', [CompletionResultType]::ParameterName, 'The model, by name or alias')
            [CompletionResult]::new('--model', '--model', [CompletionResultType]::ParameterName, 'The model, by name or alias')
            [CompletionResult]::new('--skip-trust', '--skip-trust', [CompletionResultType]::ParameterName, 'Trust the current folder for this run')
            [CompletionResult]::new('-d', '-d', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('--debug', '--debug', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print this help')
            break
        }
        'pollux;models' {
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List the models for which there is a key, and those of servers on this machine')
            break
        }
        'pollux;models;list' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print this help')
            break
        }
        'pollux;policy' {
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List the rules')
            [CompletionResult]::new('lint', 'lint', [CompletionResultType]::ParameterValue, 'Report rules that are wrong or doubtful')
            [CompletionResult]::new('explain', 'explain', [CompletionResultType]::ParameterValue, 'Explain the decision about a command line: the rest of the line')
            break
        }
        'pollux;policy;list' {
            [CompletionResult]::new('--mode', '--mode', [CompletionResultType]::ParameterName, 'The approval mode to judge in')
            [CompletionResult]::new('--policy', '--policy', [CompletionResultType]::ParameterName, 'Policy files or folders to use instead of ~/.gemini/policies')
            [CompletionResult]::new('--admin-policy', '--admin-policy', [CompletionResultType]::ParameterName, 'More policy files or folders of the administrator')
            [CompletionResult]::new('--allowed-tools', '--allowed-tools', [CompletionResultType]::ParameterName, 'Tools, and commands as run_shell_command(git), that run without approval; policy files can express more')
            [CompletionResult]::new('--allowed-mcp-server-names', '--allowed-mcp-server-names', [CompletionResultType]::ParameterName, 'The only MCP servers that may start; an empty text for none')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON')
            [CompletionResult]::new('--skip-trust', '--skip-trust', [CompletionResultType]::ParameterName, 'Trust the current folder for this run')
            [CompletionResult]::new('-d', '-d', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('--debug', '--debug', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print this help')
            break
        }
        'pollux;policy;lint' {
            [CompletionResult]::new('--mode', '--mode', [CompletionResultType]::ParameterName, 'The approval mode to judge in')
            [CompletionResult]::new('--policy', '--policy', [CompletionResultType]::ParameterName, 'Policy files or folders to use instead of ~/.gemini/policies')
            [CompletionResult]::new('--admin-policy', '--admin-policy', [CompletionResultType]::ParameterName, 'More policy files or folders of the administrator')
            [CompletionResult]::new('--allowed-tools', '--allowed-tools', [CompletionResultType]::ParameterName, 'Tools, and commands as run_shell_command(git), that run without approval; policy files can express more')
            [CompletionResult]::new('--allowed-mcp-server-names', '--allowed-mcp-server-names', [CompletionResultType]::ParameterName, 'The only MCP servers that may start; an empty text for none')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON')
            [CompletionResult]::new('--skip-trust', '--skip-trust', [CompletionResultType]::ParameterName, 'Trust the current folder for this run')
            [CompletionResult]::new('-d', '-d', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('--debug', '--debug', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print this help')
            break
        }
        'pollux;policy;explain' {
            [CompletionResult]::new('--mode', '--mode', [CompletionResultType]::ParameterName, 'The approval mode to judge in')
            [CompletionResult]::new('--policy', '--policy', [CompletionResultType]::ParameterName, 'Policy files or folders to use instead of ~/.gemini/policies')
            [CompletionResult]::new('--admin-policy', '--admin-policy', [CompletionResultType]::ParameterName, 'More policy files or folders of the administrator')
            [CompletionResult]::new('--allowed-tools', '--allowed-tools', [CompletionResultType]::ParameterName, 'Tools, and commands as run_shell_command(git), that run without approval; policy files can express more')
            [CompletionResult]::new('--allowed-mcp-server-names', '--allowed-mcp-server-names', [CompletionResultType]::ParameterName, 'The only MCP servers that may start; an empty text for none')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON')
            [CompletionResult]::new('--skip-trust', '--skip-trust', [CompletionResultType]::ParameterName, 'Trust the current folder for this run')
            [CompletionResult]::new('-d', '-d', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('--debug', '--debug', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print this help')
            break
        }
        'pollux;prompt' {
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Show the system prompt and the tools that a model receives, and their size in tokens')
            break
        }
        'pollux;prompt;show' {
            [CompletionResult]::new('--approval-mode', '--approval-mode', [CompletionResultType]::ParameterName, 'As for a run')
            [CompletionResult]::new('--include-directories', '--include-directories', [CompletionResultType]::ParameterName, 'As for a run')
            [CompletionResult]::new('-m', '-m', [CompletionResultType]::ParameterName, 'As for a run')
            [CompletionResult]::new('--model', '--model', [CompletionResultType]::ParameterName, 'As for a run')
            [CompletionResult]::new('--interactive', '--interactive', [CompletionResultType]::ParameterName, 'As for a conversation at the terminal instead of a headless run')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON')
            [CompletionResult]::new('--skip-trust', '--skip-trust', [CompletionResultType]::ParameterName, 'Trust the current folder for this question')
            [CompletionResult]::new('-d', '-d', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('--debug', '--debug', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print this help')
            break
        }
        'pollux;sandbox' {
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('status', 'status', [CompletionResultType]::ParameterValue, 'Show the mechanisms of this system and the available levels')
            [CompletionResult]::new('run', 'run', [CompletionResultType]::ParameterValue, 'Run a command in the current folder at a level')
            break
        }
        'pollux;sandbox;status' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print this help')
            break
        }
        'pollux;sandbox;run' {
            [CompletionResult]::new('--level', '--level', [CompletionResultType]::ParameterName, 'Level of confinement')
            [CompletionResult]::new('--network', '--network', [CompletionResultType]::ParameterName, 'Allow the network at workspace-write')
            [CompletionResult]::new('--git-config', '--git-config', [CompletionResultType]::ParameterName, 'Leave .git/config writable')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print this help')
            break
        }
        'pollux;skills' {
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List the skills of this folder and of the user')
            [CompletionResult]::new('enable', 'enable', [CompletionResultType]::ParameterValue, 'Offer a disabled skill to the model again')
            [CompletionResult]::new('disable', 'disable', [CompletionResultType]::ParameterValue, 'Do not offer a skill to the model')
            [CompletionResult]::new('install', 'install', [CompletionResultType]::ParameterValue, 'Install skills from a Git repository, an archive (.skill) or a folder')
            [CompletionResult]::new('link', 'link', [CompletionResultType]::ParameterValue, 'Use the skills of a folder in place, with all later changes of them')
            [CompletionResult]::new('uninstall', 'uninstall', [CompletionResultType]::ParameterValue, 'Remove an installed or linked skill')
            break
        }
        'pollux;skill' {
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List the skills of this folder and of the user')
            [CompletionResult]::new('enable', 'enable', [CompletionResultType]::ParameterValue, 'Offer a disabled skill to the model again')
            [CompletionResult]::new('disable', 'disable', [CompletionResultType]::ParameterValue, 'Do not offer a skill to the model')
            [CompletionResult]::new('install', 'install', [CompletionResultType]::ParameterValue, 'Install skills from a Git repository, an archive (.skill) or a folder')
            [CompletionResult]::new('link', 'link', [CompletionResultType]::ParameterValue, 'Use the skills of a folder in place, with all later changes of them')
            [CompletionResult]::new('uninstall', 'uninstall', [CompletionResultType]::ParameterValue, 'Remove an installed or linked skill')
            break
        }
        'pollux;skills;list' {
            [CompletionResult]::new('--all', '--all', [CompletionResultType]::ParameterName, 'Also built-in skills: Pollux has none')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON')
            [CompletionResult]::new('--skip-trust', '--skip-trust', [CompletionResultType]::ParameterName, 'Trust the current folder for this run')
            [CompletionResult]::new('-d', '-d', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('--debug', '--debug', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print this help')
            break
        }
        'pollux;skill;list' {
            [CompletionResult]::new('--all', '--all', [CompletionResultType]::ParameterName, 'Also built-in skills: Pollux has none')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON')
            [CompletionResult]::new('--skip-trust', '--skip-trust', [CompletionResultType]::ParameterName, 'Trust the current folder for this run')
            [CompletionResult]::new('-d', '-d', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('--debug', '--debug', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print this help')
            break
        }
        'pollux;skills;enable' {
            [CompletionResult]::new('-d', '-d', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('--debug', '--debug', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print this help')
            break
        }
        'pollux;skill;enable' {
            [CompletionResult]::new('-d', '-d', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('--debug', '--debug', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print this help')
            break
        }
        'pollux;skills;disable' {
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'The settings file')
            [CompletionResult]::new('--scope', '--scope', [CompletionResultType]::ParameterName, 'The settings file')
            [CompletionResult]::new('-d', '-d', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('--debug', '--debug', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print this help')
            break
        }
        'pollux;skill;disable' {
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'The settings file')
            [CompletionResult]::new('--scope', '--scope', [CompletionResultType]::ParameterName, 'The settings file')
            [CompletionResult]::new('-d', '-d', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('--debug', '--debug', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print this help')
            break
        }
        'pollux;skills;install' {
            [CompletionResult]::new('--scope', '--scope', [CompletionResultType]::ParameterName, 'For the user, or for the project in this folder')
            [CompletionResult]::new('--path', '--path', [CompletionResultType]::ParameterName, 'The folder in the source with the skills')
            [CompletionResult]::new('--consent', '--consent', [CompletionResultType]::ParameterName, 'Install without a question')
            [CompletionResult]::new('-d', '-d', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('--debug', '--debug', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print this help')
            break
        }
        'pollux;skill;install' {
            [CompletionResult]::new('--scope', '--scope', [CompletionResultType]::ParameterName, 'For the user, or for the project in this folder')
            [CompletionResult]::new('--path', '--path', [CompletionResultType]::ParameterName, 'The folder in the source with the skills')
            [CompletionResult]::new('--consent', '--consent', [CompletionResultType]::ParameterName, 'Install without a question')
            [CompletionResult]::new('-d', '-d', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('--debug', '--debug', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print this help')
            break
        }
        'pollux;skills;link' {
            [CompletionResult]::new('--scope', '--scope', [CompletionResultType]::ParameterName, 'For the user, or for the project in this folder')
            [CompletionResult]::new('--consent', '--consent', [CompletionResultType]::ParameterName, 'Link without a question')
            [CompletionResult]::new('-d', '-d', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('--debug', '--debug', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print this help')
            break
        }
        'pollux;skill;link' {
            [CompletionResult]::new('--scope', '--scope', [CompletionResultType]::ParameterName, 'For the user, or for the project in this folder')
            [CompletionResult]::new('--consent', '--consent', [CompletionResultType]::ParameterName, 'Link without a question')
            [CompletionResult]::new('-d', '-d', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('--debug', '--debug', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print this help')
            break
        }
        'pollux;skills;uninstall' {
            [CompletionResult]::new('--scope', '--scope', [CompletionResultType]::ParameterName, 'Of the user, or of the project in this folder')
            [CompletionResult]::new('-d', '-d', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('--debug', '--debug', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print this help')
            break
        }
        'pollux;skill;uninstall' {
            [CompletionResult]::new('--scope', '--scope', [CompletionResultType]::ParameterName, 'Of the user, or of the project in this folder')
            [CompletionResult]::new('-d', '-d', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('--debug', '--debug', [CompletionResultType]::ParameterName, 'Verbose output on standard error')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print this help')
            break
        }
        'pollux;trust' {
            [CompletionResult]::new('--revoke', '--revoke', [CompletionResultType]::ParameterName, 'Stop trusting the folder')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print this help')
            break
        }
        'pollux;completions' {
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print this help')
            break
        }
        'pollux;man' {
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print this help')
            break
        }
        'pollux;help' {
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print this help')
            break
        }
        'pollux;version' {
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print this help')
            break
        }
    })

    $completions.Where{ $_.CompletionText -like "$wordToComplete*" } |
        Sort-Object -Property ListItemText
}
