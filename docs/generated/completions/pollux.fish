# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_pollux_global_optspecs
    string join \n p/prompt= no-stdin i/prompt-interactive= o/output-format= approval-mode= y/yolo policy= admin-policy= allowed-tools= allowed-mcp-server-names= skip-trust e/extensions= l/list-extensions include-directories= r/resume= session-file= session-id= list-sessions delete-session= max-turns= max-tool-calls= max-tokens= max-cost= timeout= output-schema= raw-output accept-raw-output-risk acp d/debug h/help v/version m/model=
end

function __fish_pollux_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_pollux_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_pollux_using_subcommand
    set -l cmd (__fish_pollux_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c pollux -n "__fish_pollux_needs_command" -s p -l prompt -d 'The prompt of a headless run; appended to standard input' -r
complete -c pollux -n "__fish_pollux_needs_command" -s i -l prompt-interactive -d 'The first prompt of a conversation at the terminal' -r
complete -c pollux -n "__fish_pollux_needs_command" -s o -l output-format -d 'The form of standard output' -r -f -a "text\t'The answer as it comes'
json\t'One JSON object at the end'
stream-json\t'One JSON object per event and line'"
complete -c pollux -n "__fish_pollux_needs_command" -l approval-mode -d 'Actions allowed without a question: only reading (default), edits too, everything, or planning only' -r -f -a "default\t''
auto_edit\t''
yolo\t''
plan\t''"
complete -c pollux -n "__fish_pollux_needs_command" -l policy -d 'Policy files or folders to use instead of ~/.gemini/policies' -r
complete -c pollux -n "__fish_pollux_needs_command" -l admin-policy -d 'More policy files or folders of the administrator' -r
complete -c pollux -n "__fish_pollux_needs_command" -l allowed-tools -d 'Tools, and commands as run_shell_command(git), that run without approval; policy files can express more' -r
complete -c pollux -n "__fish_pollux_needs_command" -l allowed-mcp-server-names -d 'The only MCP servers that may start; an empty text for none' -r
complete -c pollux -n "__fish_pollux_needs_command" -s e -l extensions -d 'The only extensions that are active, separated by commas; none for no extension' -r
complete -c pollux -n "__fish_pollux_needs_command" -l include-directories -d 'More folders to work in, separated by commas' -r
complete -c pollux -n "__fish_pollux_needs_command" -s r -l resume -d 'Continue a session: the latest, or that of this number, id or beginning of an id' -r
complete -c pollux -n "__fish_pollux_needs_command" -l session-file -d 'Continue from a session file, in a new session' -r -F
complete -c pollux -n "__fish_pollux_needs_command" -l session-id -d 'The id of the new session: letters, digits, dashes, underscores' -r
complete -c pollux -n "__fish_pollux_needs_command" -l delete-session -d 'Delete a session and exit: the latest, or that of this number or id' -r
complete -c pollux -n "__fish_pollux_needs_command" -l max-turns -d 'Stop after N requests to models (exit code 57)' -r
complete -c pollux -n "__fish_pollux_needs_command" -l max-tool-calls -d 'Stop after N tool calls (exit code 57)' -r
complete -c pollux -n "__fish_pollux_needs_command" -l max-tokens -d 'Stop after N tokens in requests and answers (exit code 57)' -r
complete -c pollux -n "__fish_pollux_needs_command" -l max-cost -d 'Stop at this cost in dollars, by the built-in prices and ~/.gemini/pollux/prices.json (exit code 57)' -r
complete -c pollux -n "__fish_pollux_needs_command" -l timeout -d 'Stop after this time; running tools are stopped (exit code 57)' -r
complete -c pollux -n "__fish_pollux_needs_command" -l output-schema -d 'Require an answer that satisfies this JSON Schema; without one, the exit code is 58' -r
complete -c pollux -n "__fish_pollux_needs_command" -s m -l model -d 'The model, by name or alias' -r -f -a "auto\t''
pro\t''
flash\t''
flash-lite\t''
gemini-3.1-pro-preview\t''
gemini-3.8-flash\t''
gemini-3.5-flash\t''
gemini-3.5-flash-lite\t''
gemini-3-flash-preview\t''
gemini-3.1-flash-lite\t''
gemini-2.5-pro\t''
gemini-2.5-flash\t''
gemini-2.5-flash-lite\t''
gemma-4-31b-it\t''
gemma-4-26b-a4b-it\t''
vertex/gemini-3.1-pro-preview\t''
vertex/gemini-3-flash-preview\t''
vertex/gemini-3.1-flash-lite\t''
vertex/gemini-2.5-pro\t''
vertex/gemini-2.5-flash\t''
vertex/gemini-2.5-flash-lite\t''
code-assist/gemini-3.1-pro-preview\t''
code-assist/gemini-3-flash-preview\t''
code-assist/gemini-3.1-flash-lite\t''
code-assist/gemini-2.5-pro\t''
code-assist/gemini-2.5-flash\t''
code-assist/gemini-2.5-flash-lite\t''
anthropic/opus\t''
anthropic/sonnet\t''
anthropic/haiku\t''
groq/llama-3.3-70b-versatile\t''
groq/llama-3.1-8b-instant\t''
groq/qwen/qwen3-32b\t''
deepseek/deepseek-reasoner\t''
deepseek/deepseek-chat\t''"
complete -c pollux -n "__fish_pollux_needs_command" -l no-stdin -d 'Do not read standard input'
complete -c pollux -n "__fish_pollux_needs_command" -s y -l yolo -d 'Allow everything, as --approval-mode=yolo does'
complete -c pollux -n "__fish_pollux_needs_command" -l skip-trust -d 'Trust the current folder for this run'
complete -c pollux -n "__fish_pollux_needs_command" -s l -l list-extensions -d 'List the extensions'
complete -c pollux -n "__fish_pollux_needs_command" -l list-sessions -d 'List the sessions of this project and exit; as JSON with -o json'
complete -c pollux -n "__fish_pollux_needs_command" -l raw-output -d 'Keep the terminal control sequences in the model\'s text'
complete -c pollux -n "__fish_pollux_needs_command" -l accept-raw-output-risk -d 'Keep the terminal control sequences without a warning'
complete -c pollux -n "__fish_pollux_needs_command" -l acp -d 'Serve an editor on standard input and output (Agent Client Protocol)'
complete -c pollux -n "__fish_pollux_needs_command" -s d -l debug -d 'Verbose output on standard error'
complete -c pollux -n "__fish_pollux_needs_command" -s h -l help -d 'Print this help'
complete -c pollux -n "__fish_pollux_needs_command" -s v -l version -d 'Print the version'
complete -c pollux -n "__fish_pollux_needs_command" -a "demo" -d 'Show the agent at work on a sample project, with a recorded model: no key, no network'
complete -c pollux -n "__fish_pollux_needs_command" -a "auth" -d 'Show which sign-in is used, and sign in to Google'
complete -c pollux -n "__fish_pollux_needs_command" -a "config" -d 'Show, change and explain settings'
complete -c pollux -n "__fish_pollux_needs_command" -a "doctor" -d 'Check the connection, keys, servers and state, and name the culprit'
complete -c pollux -n "__fish_pollux_needs_command" -a "extensions" -d 'List, enable, disable, create and check extensions'
complete -c pollux -n "__fish_pollux_needs_command" -a "extension" -d 'List, enable, disable, create and check extensions'
complete -c pollux -n "__fish_pollux_needs_command" -a "hooks" -d 'Show and test the hooks, your programs that run at events of the agent'
complete -c pollux -n "__fish_pollux_needs_command" -a "hook" -d 'Show and test the hooks, your programs that run at events of the agent'
complete -c pollux -n "__fish_pollux_needs_command" -a "mcp" -d 'Add, remove, show and test MCP servers, which give the model more tools; or be one (serve)'
complete -c pollux -n "__fish_pollux_needs_command" -a "models" -d 'List the models that can be used'
complete -c pollux -n "__fish_pollux_needs_command" -a "policy" -d 'Explain the policy decision about a command line, list the rules, or check them'
complete -c pollux -n "__fish_pollux_needs_command" -a "prompt" -d 'Show the system prompt and the tools that a model receives, and their size in tokens'
complete -c pollux -n "__fish_pollux_needs_command" -a "sandbox" -d 'Show and test the confinement of commands by the kernel'
complete -c pollux -n "__fish_pollux_needs_command" -a "skills" -d 'List, install and remove agent skills, which teach the model certain tasks'
complete -c pollux -n "__fish_pollux_needs_command" -a "skill" -d 'List, install and remove agent skills, which teach the model certain tasks'
complete -c pollux -n "__fish_pollux_needs_command" -a "trust" -d 'Trust a folder permanently, without accepting the items in it that could do harm'
complete -c pollux -n "__fish_pollux_needs_command" -a "completions" -d 'Print the completions for a shell'
complete -c pollux -n "__fish_pollux_needs_command" -a "man" -d 'Print the man page'
complete -c pollux -n "__fish_pollux_needs_command" -a "help" -d 'Print the help of the program or of a subcommand'
complete -c pollux -n "__fish_pollux_needs_command" -a "version" -d 'Print the version'
complete -c pollux -n "__fish_pollux_using_subcommand demo" -s o -l output-format -d 'The form of standard output' -r -f -a "text\t'The answer as it comes'
json\t'One JSON object at the end'
stream-json\t'One JSON object per event and line'"
complete -c pollux -n "__fish_pollux_using_subcommand demo" -l keep -d 'Keep the sample project, and print its path'
complete -c pollux -n "__fish_pollux_using_subcommand demo" -s d -l debug -d 'Verbose output on standard error'
complete -c pollux -n "__fish_pollux_using_subcommand demo" -s h -l help -d 'Print this help'
complete -c pollux -n "__fish_pollux_using_subcommand auth; and not __fish_seen_subcommand_from status login logout" -s h -l help -d 'Print this help'
complete -c pollux -n "__fish_pollux_using_subcommand auth; and not __fish_seen_subcommand_from status login logout" -f -a "status" -d 'Show which credentials a run in this folder uses, and why not others'
complete -c pollux -n "__fish_pollux_using_subcommand auth; and not __fish_seen_subcommand_from status login logout" -f -a "login" -d 'Sign in to Google in the browser, through an OAuth client of your own'
complete -c pollux -n "__fish_pollux_using_subcommand auth; and not __fish_seen_subcommand_from status login logout" -f -a "logout" -d 'Remove the stored sign-in to Google'
complete -c pollux -n "__fish_pollux_using_subcommand auth; and __fish_seen_subcommand_from status" -l json -d 'Print JSON'
complete -c pollux -n "__fish_pollux_using_subcommand auth; and __fish_seen_subcommand_from status" -l skip-trust -d 'Trust the current folder for this run'
complete -c pollux -n "__fish_pollux_using_subcommand auth; and __fish_seen_subcommand_from status" -s h -l help -d 'Print this help'
complete -c pollux -n "__fish_pollux_using_subcommand auth; and __fish_seen_subcommand_from login" -l json -d 'Print JSON'
complete -c pollux -n "__fish_pollux_using_subcommand auth; and __fish_seen_subcommand_from login" -s h -l help -d 'Print this help'
complete -c pollux -n "__fish_pollux_using_subcommand auth; and __fish_seen_subcommand_from logout" -l json -d 'Print JSON'
complete -c pollux -n "__fish_pollux_using_subcommand auth; and __fish_seen_subcommand_from logout" -s h -l help -d 'Print this help'
complete -c pollux -n "__fish_pollux_using_subcommand config; and not __fish_seen_subcommand_from list get set unset explain report migrate" -s h -l help -d 'Print this help'
complete -c pollux -n "__fish_pollux_using_subcommand config; and not __fish_seen_subcommand_from list get set unset explain report migrate" -f -a "list" -d 'Show the settings that are set, with their sources'
complete -c pollux -n "__fish_pollux_using_subcommand config; and not __fish_seen_subcommand_from list get set unset explain report migrate" -f -a "get" -d 'Print the value that is in effect'
complete -c pollux -n "__fish_pollux_using_subcommand config; and not __fish_seen_subcommand_from list get set unset explain report migrate" -f -a "set" -d 'Write a value; keeps comments and layout of the file'
complete -c pollux -n "__fish_pollux_using_subcommand config; and not __fish_seen_subcommand_from list get set unset explain report migrate" -f -a "unset" -d 'Remove a value from a file'
complete -c pollux -n "__fish_pollux_using_subcommand config; and not __fish_seen_subcommand_from list get set unset explain report migrate" -f -a "explain" -d 'Show every layer of a setting, and which one is in effect'
complete -c pollux -n "__fish_pollux_using_subcommand config; and not __fish_seen_subcommand_from list get set unset explain report migrate" -f -a "report" -d 'List unknown, misspelt, outdated and ineffective settings in the files'
complete -c pollux -n "__fish_pollux_using_subcommand config; and not __fish_seen_subcommand_from list get set unset explain report migrate" -f -a "migrate" -d 'Rename old keys of a file to their new names'
complete -c pollux -n "__fish_pollux_using_subcommand config; and __fish_seen_subcommand_from list" -l all -d 'Show defaults too'
complete -c pollux -n "__fish_pollux_using_subcommand config; and __fish_seen_subcommand_from list" -l json -d 'Print JSON'
complete -c pollux -n "__fish_pollux_using_subcommand config; and __fish_seen_subcommand_from list" -s h -l help -d 'Print this help'
complete -c pollux -n "__fish_pollux_using_subcommand config; and __fish_seen_subcommand_from get" -l json -d 'Print JSON'
complete -c pollux -n "__fish_pollux_using_subcommand config; and __fish_seen_subcommand_from get" -s h -l help -d 'Print this help'
complete -c pollux -n "__fish_pollux_using_subcommand config; and __fish_seen_subcommand_from set" -l user -d 'The user\'s file, ~/.gemini/settings.json (the default)'
complete -c pollux -n "__fish_pollux_using_subcommand config; and __fish_seen_subcommand_from set" -l project -d 'The project\'s file, .gemini/settings.json'
complete -c pollux -n "__fish_pollux_using_subcommand config; and __fish_seen_subcommand_from set" -l system -d 'The system\'s file, which overrides all others'
complete -c pollux -n "__fish_pollux_using_subcommand config; and __fish_seen_subcommand_from set" -l json -d 'Print JSON'
complete -c pollux -n "__fish_pollux_using_subcommand config; and __fish_seen_subcommand_from set" -s h -l help -d 'Print this help'
complete -c pollux -n "__fish_pollux_using_subcommand config; and __fish_seen_subcommand_from unset" -l user -d 'The user\'s file, ~/.gemini/settings.json (the default)'
complete -c pollux -n "__fish_pollux_using_subcommand config; and __fish_seen_subcommand_from unset" -l project -d 'The project\'s file, .gemini/settings.json'
complete -c pollux -n "__fish_pollux_using_subcommand config; and __fish_seen_subcommand_from unset" -l system -d 'The system\'s file, which overrides all others'
complete -c pollux -n "__fish_pollux_using_subcommand config; and __fish_seen_subcommand_from unset" -l json -d 'Print JSON'
complete -c pollux -n "__fish_pollux_using_subcommand config; and __fish_seen_subcommand_from unset" -s h -l help -d 'Print this help'
complete -c pollux -n "__fish_pollux_using_subcommand config; and __fish_seen_subcommand_from explain" -l json -d 'Print JSON'
complete -c pollux -n "__fish_pollux_using_subcommand config; and __fish_seen_subcommand_from explain" -s h -l help -d 'Print this help'
complete -c pollux -n "__fish_pollux_using_subcommand config; and __fish_seen_subcommand_from report" -l json -d 'Print JSON'
complete -c pollux -n "__fish_pollux_using_subcommand config; and __fish_seen_subcommand_from report" -s h -l help -d 'Print this help'
complete -c pollux -n "__fish_pollux_using_subcommand config; and __fish_seen_subcommand_from migrate" -l user -d 'The user\'s file, ~/.gemini/settings.json (the default)'
complete -c pollux -n "__fish_pollux_using_subcommand config; and __fish_seen_subcommand_from migrate" -l project -d 'The project\'s file, .gemini/settings.json'
complete -c pollux -n "__fish_pollux_using_subcommand config; and __fish_seen_subcommand_from migrate" -l system -d 'The system\'s file, which overrides all others'
complete -c pollux -n "__fish_pollux_using_subcommand config; and __fish_seen_subcommand_from migrate" -l json -d 'Print JSON'
complete -c pollux -n "__fish_pollux_using_subcommand config; and __fish_seen_subcommand_from migrate" -s h -l help -d 'Print this help'
complete -c pollux -n "__fish_pollux_using_subcommand doctor" -l json -d 'Print JSON'
complete -c pollux -n "__fish_pollux_using_subcommand doctor" -s h -l help -d 'Print this help'
complete -c pollux -n "__fish_pollux_using_subcommand extensions; and not __fish_seen_subcommand_from list enable disable new validate" -s h -l help -d 'Print this help'
complete -c pollux -n "__fish_pollux_using_subcommand extensions; and not __fish_seen_subcommand_from list enable disable new validate" -f -a "list" -d 'List the installed extensions'
complete -c pollux -n "__fish_pollux_using_subcommand extensions; and not __fish_seen_subcommand_from list enable disable new validate" -f -a "enable" -d 'Use a disabled extension again'
complete -c pollux -n "__fish_pollux_using_subcommand extensions; and not __fish_seen_subcommand_from list enable disable new validate" -f -a "disable" -d 'Do not use an extension'
complete -c pollux -n "__fish_pollux_using_subcommand extensions; and not __fish_seen_subcommand_from list enable disable new validate" -f -a "new" -d 'Create an extension to begin with'
complete -c pollux -n "__fish_pollux_using_subcommand extensions; and not __fish_seen_subcommand_from list enable disable new validate" -f -a "validate" -d 'Check an extension that you write'
complete -c pollux -n "__fish_pollux_using_subcommand extensions; and __fish_seen_subcommand_from list" -s o -l output-format -d 'The form of the list' -r -f -a "text\t''
json\t''"
complete -c pollux -n "__fish_pollux_using_subcommand extensions; and __fish_seen_subcommand_from list" -s d -l debug -d 'Verbose output on standard error'
complete -c pollux -n "__fish_pollux_using_subcommand extensions; and __fish_seen_subcommand_from list" -s h -l help -d 'Print this help'
complete -c pollux -n "__fish_pollux_using_subcommand extensions; and __fish_seen_subcommand_from enable" -l scope -d 'Everywhere (user), or in the current folder' -r -f -a "user\t''
workspace\t''"
complete -c pollux -n "__fish_pollux_using_subcommand extensions; and __fish_seen_subcommand_from enable" -s d -l debug -d 'Verbose output on standard error'
complete -c pollux -n "__fish_pollux_using_subcommand extensions; and __fish_seen_subcommand_from enable" -s h -l help -d 'Print this help'
complete -c pollux -n "__fish_pollux_using_subcommand extensions; and __fish_seen_subcommand_from disable" -l scope -d 'Everywhere (user), or in the current folder' -r -f -a "user\t''
workspace\t''"
complete -c pollux -n "__fish_pollux_using_subcommand extensions; and __fish_seen_subcommand_from disable" -s d -l debug -d 'Verbose output on standard error'
complete -c pollux -n "__fish_pollux_using_subcommand extensions; and __fish_seen_subcommand_from disable" -s h -l help -d 'Print this help'
complete -c pollux -n "__fish_pollux_using_subcommand extensions; and __fish_seen_subcommand_from new" -s d -l debug -d 'Verbose output on standard error'
complete -c pollux -n "__fish_pollux_using_subcommand extensions; and __fish_seen_subcommand_from new" -s h -l help -d 'Print this help'
complete -c pollux -n "__fish_pollux_using_subcommand extensions; and __fish_seen_subcommand_from validate" -s d -l debug -d 'Verbose output on standard error'
complete -c pollux -n "__fish_pollux_using_subcommand extensions; and __fish_seen_subcommand_from validate" -s h -l help -d 'Print this help'
complete -c pollux -n "__fish_pollux_using_subcommand extension; and not __fish_seen_subcommand_from list enable disable new validate" -s h -l help -d 'Print this help'
complete -c pollux -n "__fish_pollux_using_subcommand extension; and not __fish_seen_subcommand_from list enable disable new validate" -f -a "list" -d 'List the installed extensions'
complete -c pollux -n "__fish_pollux_using_subcommand extension; and not __fish_seen_subcommand_from list enable disable new validate" -f -a "enable" -d 'Use a disabled extension again'
complete -c pollux -n "__fish_pollux_using_subcommand extension; and not __fish_seen_subcommand_from list enable disable new validate" -f -a "disable" -d 'Do not use an extension'
complete -c pollux -n "__fish_pollux_using_subcommand extension; and not __fish_seen_subcommand_from list enable disable new validate" -f -a "new" -d 'Create an extension to begin with'
complete -c pollux -n "__fish_pollux_using_subcommand extension; and not __fish_seen_subcommand_from list enable disable new validate" -f -a "validate" -d 'Check an extension that you write'
complete -c pollux -n "__fish_pollux_using_subcommand extension; and __fish_seen_subcommand_from list" -s o -l output-format -d 'The form of the list' -r -f -a "text\t''
json\t''"
complete -c pollux -n "__fish_pollux_using_subcommand extension; and __fish_seen_subcommand_from list" -s d -l debug -d 'Verbose output on standard error'
complete -c pollux -n "__fish_pollux_using_subcommand extension; and __fish_seen_subcommand_from list" -s h -l help -d 'Print this help'
complete -c pollux -n "__fish_pollux_using_subcommand extension; and __fish_seen_subcommand_from enable" -l scope -d 'Everywhere (user), or in the current folder' -r -f -a "user\t''
workspace\t''"
complete -c pollux -n "__fish_pollux_using_subcommand extension; and __fish_seen_subcommand_from enable" -s d -l debug -d 'Verbose output on standard error'
complete -c pollux -n "__fish_pollux_using_subcommand extension; and __fish_seen_subcommand_from enable" -s h -l help -d 'Print this help'
complete -c pollux -n "__fish_pollux_using_subcommand extension; and __fish_seen_subcommand_from disable" -l scope -d 'Everywhere (user), or in the current folder' -r -f -a "user\t''
workspace\t''"
complete -c pollux -n "__fish_pollux_using_subcommand extension; and __fish_seen_subcommand_from disable" -s d -l debug -d 'Verbose output on standard error'
complete -c pollux -n "__fish_pollux_using_subcommand extension; and __fish_seen_subcommand_from disable" -s h -l help -d 'Print this help'
complete -c pollux -n "__fish_pollux_using_subcommand extension; and __fish_seen_subcommand_from new" -s d -l debug -d 'Verbose output on standard error'
complete -c pollux -n "__fish_pollux_using_subcommand extension; and __fish_seen_subcommand_from new" -s h -l help -d 'Print this help'
complete -c pollux -n "__fish_pollux_using_subcommand extension; and __fish_seen_subcommand_from validate" -s d -l debug -d 'Verbose output on standard error'
complete -c pollux -n "__fish_pollux_using_subcommand extension; and __fish_seen_subcommand_from validate" -s h -l help -d 'Print this help'
complete -c pollux -n "__fish_pollux_using_subcommand hooks; and not __fish_seen_subcommand_from list test migrate" -s h -l help -d 'Print this help'
complete -c pollux -n "__fish_pollux_using_subcommand hooks; and not __fish_seen_subcommand_from list test migrate" -f -a "list" -d 'List the hooks and their sources'
complete -c pollux -n "__fish_pollux_using_subcommand hooks; and not __fish_seen_subcommand_from list test migrate" -f -a "test" -d 'Run the hooks of an event with sample data, and show the changes that they would make'
complete -c pollux -n "__fish_pollux_using_subcommand hooks; and not __fish_seen_subcommand_from list test migrate" -f -a "migrate" -d 'Import the hooks of Claude Code into this project\'s settings'
complete -c pollux -n "__fish_pollux_using_subcommand hooks; and __fish_seen_subcommand_from list" -l json -d 'Print JSON'
complete -c pollux -n "__fish_pollux_using_subcommand hooks; and __fish_seen_subcommand_from list" -l skip-trust -d 'Trust the current folder for this run'
complete -c pollux -n "__fish_pollux_using_subcommand hooks; and __fish_seen_subcommand_from list" -s h -l help -d 'Print this help'
complete -c pollux -n "__fish_pollux_using_subcommand hooks; and __fish_seen_subcommand_from test" -l tool -d 'The tool in the sample data' -r
complete -c pollux -n "__fish_pollux_using_subcommand hooks; and __fish_seen_subcommand_from test" -l input -d 'Its arguments' -r
complete -c pollux -n "__fish_pollux_using_subcommand hooks; and __fish_seen_subcommand_from test" -l json -d 'Print JSON'
complete -c pollux -n "__fish_pollux_using_subcommand hooks; and __fish_seen_subcommand_from test" -l skip-trust -d 'Trust the current folder for this run'
complete -c pollux -n "__fish_pollux_using_subcommand hooks; and __fish_seen_subcommand_from test" -s h -l help -d 'Print this help'
complete -c pollux -n "__fish_pollux_using_subcommand hooks; and __fish_seen_subcommand_from migrate" -l json -d 'Print JSON'
complete -c pollux -n "__fish_pollux_using_subcommand hooks; and __fish_seen_subcommand_from migrate" -l from-claude -d 'From .claude/settings.local.json or .claude/settings.json'
complete -c pollux -n "__fish_pollux_using_subcommand hooks; and __fish_seen_subcommand_from migrate" -s h -l help -d 'Print this help'
complete -c pollux -n "__fish_pollux_using_subcommand hook; and not __fish_seen_subcommand_from list test migrate" -s h -l help -d 'Print this help'
complete -c pollux -n "__fish_pollux_using_subcommand hook; and not __fish_seen_subcommand_from list test migrate" -f -a "list" -d 'List the hooks and their sources'
complete -c pollux -n "__fish_pollux_using_subcommand hook; and not __fish_seen_subcommand_from list test migrate" -f -a "test" -d 'Run the hooks of an event with sample data, and show the changes that they would make'
complete -c pollux -n "__fish_pollux_using_subcommand hook; and not __fish_seen_subcommand_from list test migrate" -f -a "migrate" -d 'Import the hooks of Claude Code into this project\'s settings'
complete -c pollux -n "__fish_pollux_using_subcommand hook; and __fish_seen_subcommand_from list" -l json -d 'Print JSON'
complete -c pollux -n "__fish_pollux_using_subcommand hook; and __fish_seen_subcommand_from list" -l skip-trust -d 'Trust the current folder for this run'
complete -c pollux -n "__fish_pollux_using_subcommand hook; and __fish_seen_subcommand_from list" -s h -l help -d 'Print this help'
complete -c pollux -n "__fish_pollux_using_subcommand hook; and __fish_seen_subcommand_from test" -l tool -d 'The tool in the sample data' -r
complete -c pollux -n "__fish_pollux_using_subcommand hook; and __fish_seen_subcommand_from test" -l input -d 'Its arguments' -r
complete -c pollux -n "__fish_pollux_using_subcommand hook; and __fish_seen_subcommand_from test" -l json -d 'Print JSON'
complete -c pollux -n "__fish_pollux_using_subcommand hook; and __fish_seen_subcommand_from test" -l skip-trust -d 'Trust the current folder for this run'
complete -c pollux -n "__fish_pollux_using_subcommand hook; and __fish_seen_subcommand_from test" -s h -l help -d 'Print this help'
complete -c pollux -n "__fish_pollux_using_subcommand hook; and __fish_seen_subcommand_from migrate" -l json -d 'Print JSON'
complete -c pollux -n "__fish_pollux_using_subcommand hook; and __fish_seen_subcommand_from migrate" -l from-claude -d 'From .claude/settings.local.json or .claude/settings.json'
complete -c pollux -n "__fish_pollux_using_subcommand hook; and __fish_seen_subcommand_from migrate" -s h -l help -d 'Print this help'
complete -c pollux -n "__fish_pollux_using_subcommand mcp; and not __fish_seen_subcommand_from add remove list get test auth logout enable disable serve" -s h -l help -d 'Print this help'
complete -c pollux -n "__fish_pollux_using_subcommand mcp; and not __fish_seen_subcommand_from add remove list get test auth logout enable disable serve" -f -a "add" -d 'Add a server to a settings file'
complete -c pollux -n "__fish_pollux_using_subcommand mcp; and not __fish_seen_subcommand_from add remove list get test auth logout enable disable serve" -f -a "remove" -d 'Remove a server from a settings file'
complete -c pollux -n "__fish_pollux_using_subcommand mcp; and not __fish_seen_subcommand_from add remove list get test auth logout enable disable serve" -f -a "list" -d 'List the servers, and try to connect to each of them'
complete -c pollux -n "__fish_pollux_using_subcommand mcp; and not __fish_seen_subcommand_from add remove list get test auth logout enable disable serve" -f -a "get" -d 'Show the settings and the state of a server, without starting it'
complete -c pollux -n "__fish_pollux_using_subcommand mcp; and not __fish_seen_subcommand_from add remove list get test auth logout enable disable serve" -f -a "test" -d 'Start a server, and show what it offers or what is wrong with it'
complete -c pollux -n "__fish_pollux_using_subcommand mcp; and not __fish_seen_subcommand_from add remove list get test auth logout enable disable serve" -f -a "auth" -d 'Sign in to a server that requires authentication'
complete -c pollux -n "__fish_pollux_using_subcommand mcp; and not __fish_seen_subcommand_from add remove list get test auth logout enable disable serve" -f -a "logout" -d 'Remove the stored credentials of a server'
complete -c pollux -n "__fish_pollux_using_subcommand mcp; and not __fish_seen_subcommand_from add remove list get test auth logout enable disable serve" -f -a "enable" -d 'Let a disabled server start again'
complete -c pollux -n "__fish_pollux_using_subcommand mcp; and not __fish_seen_subcommand_from add remove list get test auth logout enable disable serve" -f -a "disable" -d 'Prevent a server from starting, in all projects'
complete -c pollux -n "__fish_pollux_using_subcommand mcp; and not __fish_seen_subcommand_from add remove list get test auth logout enable disable serve" -f -a "serve" -d 'Serve other agents on standard input and output: their calls run prompts in sessions of Pollux'
complete -c pollux -n "__fish_pollux_using_subcommand mcp; and __fish_seen_subcommand_from add" -s s -l scope -d 'The settings file' -r -f -a "user\t''
project\t''"
complete -c pollux -n "__fish_pollux_using_subcommand mcp; and __fish_seen_subcommand_from add" -s t -l transport -l type -d 'The way to the server: a program (stdio), or an address (http, sse)' -r -f -a "stdio\t''
sse\t''
http\t''"
complete -c pollux -n "__fish_pollux_using_subcommand mcp; and __fish_seen_subcommand_from add" -s e -l env -d 'A variable of the program; repeatable. KEY=\'$NAME\' saves the reference, not the value' -r
complete -c pollux -n "__fish_pollux_using_subcommand mcp; and __fish_seen_subcommand_from add" -s H -l header -d 'A header of requests; repeatable. References such as $NAME are saved as they are' -r
complete -c pollux -n "__fish_pollux_using_subcommand mcp; and __fish_seen_subcommand_from add" -l timeout -d 'The time limit for connecting and for each call, in milliseconds' -r
complete -c pollux -n "__fish_pollux_using_subcommand mcp; and __fish_seen_subcommand_from add" -l description -d 'A description for the user' -r
complete -c pollux -n "__fish_pollux_using_subcommand mcp; and __fish_seen_subcommand_from add" -l include-tools -d 'A tool to use, no others; repeatable' -r
complete -c pollux -n "__fish_pollux_using_subcommand mcp; and __fish_seen_subcommand_from add" -l exclude-tools -d 'A tool not to use; repeatable' -r
complete -c pollux -n "__fish_pollux_using_subcommand mcp; and __fish_seen_subcommand_from add" -l trust -d 'Let all tools of the server run without approval in trusted folders'
complete -c pollux -n "__fish_pollux_using_subcommand mcp; and __fish_seen_subcommand_from add" -s d -l debug -d 'Verbose output on standard error'
complete -c pollux -n "__fish_pollux_using_subcommand mcp; and __fish_seen_subcommand_from add" -s h -l help -d 'Print this help'
complete -c pollux -n "__fish_pollux_using_subcommand mcp; and __fish_seen_subcommand_from remove" -s s -l scope -d 'The settings file' -r -f -a "user\t''
project\t''"
complete -c pollux -n "__fish_pollux_using_subcommand mcp; and __fish_seen_subcommand_from remove" -s d -l debug -d 'Verbose output on standard error'
complete -c pollux -n "__fish_pollux_using_subcommand mcp; and __fish_seen_subcommand_from remove" -s h -l help -d 'Print this help'
complete -c pollux -n "__fish_pollux_using_subcommand mcp; and __fish_seen_subcommand_from list" -l json -d 'Print JSON'
complete -c pollux -n "__fish_pollux_using_subcommand mcp; and __fish_seen_subcommand_from list" -l skip-trust -d 'Trust the current folder for this run'
complete -c pollux -n "__fish_pollux_using_subcommand mcp; and __fish_seen_subcommand_from list" -s d -l debug -d 'Verbose output on standard error'
complete -c pollux -n "__fish_pollux_using_subcommand mcp; and __fish_seen_subcommand_from list" -s h -l help -d 'Print this help'
complete -c pollux -n "__fish_pollux_using_subcommand mcp; and __fish_seen_subcommand_from get" -l json -d 'Print JSON'
complete -c pollux -n "__fish_pollux_using_subcommand mcp; and __fish_seen_subcommand_from get" -l skip-trust -d 'Trust the current folder for this run'
complete -c pollux -n "__fish_pollux_using_subcommand mcp; and __fish_seen_subcommand_from get" -s d -l debug -d 'Verbose output on standard error'
complete -c pollux -n "__fish_pollux_using_subcommand mcp; and __fish_seen_subcommand_from get" -s h -l help -d 'Print this help'
complete -c pollux -n "__fish_pollux_using_subcommand mcp; and __fish_seen_subcommand_from test" -l json -d 'Print JSON'
complete -c pollux -n "__fish_pollux_using_subcommand mcp; and __fish_seen_subcommand_from test" -l skip-trust -d 'Trust the current folder for this run'
complete -c pollux -n "__fish_pollux_using_subcommand mcp; and __fish_seen_subcommand_from test" -s d -l debug -d 'Verbose output on standard error'
complete -c pollux -n "__fish_pollux_using_subcommand mcp; and __fish_seen_subcommand_from test" -s h -l help -d 'Print this help'
complete -c pollux -n "__fish_pollux_using_subcommand mcp; and __fish_seen_subcommand_from auth" -l skip-trust -d 'Trust the current folder for this run'
complete -c pollux -n "__fish_pollux_using_subcommand mcp; and __fish_seen_subcommand_from auth" -s d -l debug -d 'Verbose output on standard error'
complete -c pollux -n "__fish_pollux_using_subcommand mcp; and __fish_seen_subcommand_from auth" -s h -l help -d 'Print this help'
complete -c pollux -n "__fish_pollux_using_subcommand mcp; and __fish_seen_subcommand_from logout" -s d -l debug -d 'Verbose output on standard error'
complete -c pollux -n "__fish_pollux_using_subcommand mcp; and __fish_seen_subcommand_from logout" -s h -l help -d 'Print this help'
complete -c pollux -n "__fish_pollux_using_subcommand mcp; and __fish_seen_subcommand_from enable" -l session -d 'For one session only: without effect here, see /mcp in a conversation'
complete -c pollux -n "__fish_pollux_using_subcommand mcp; and __fish_seen_subcommand_from enable" -s d -l debug -d 'Verbose output on standard error'
complete -c pollux -n "__fish_pollux_using_subcommand mcp; and __fish_seen_subcommand_from enable" -s h -l help -d 'Print this help'
complete -c pollux -n "__fish_pollux_using_subcommand mcp; and __fish_seen_subcommand_from disable" -l session -d 'For one session only: without effect here, see /mcp in a conversation'
complete -c pollux -n "__fish_pollux_using_subcommand mcp; and __fish_seen_subcommand_from disable" -s d -l debug -d 'Verbose output on standard error'
complete -c pollux -n "__fish_pollux_using_subcommand mcp; and __fish_seen_subcommand_from disable" -s h -l help -d 'Print this help'
complete -c pollux -n "__fish_pollux_using_subcommand mcp; and __fish_seen_subcommand_from serve" -l approval-mode -d 'Actions allowed without a question, which a call cannot exceed' -r -f -a "default\t''
auto_edit\t''
yolo\t''
plan\t''"
complete -c pollux -n "__fish_pollux_using_subcommand mcp; and __fish_seen_subcommand_from serve" -l include-directories -d 'More folders to work in, separated by commas' -r
complete -c pollux -n "__fish_pollux_using_subcommand mcp; and __fish_seen_subcommand_from serve" -l policy -d 'Policy files or folders to use instead of ~/.gemini/policies' -r
complete -c pollux -n "__fish_pollux_using_subcommand mcp; and __fish_seen_subcommand_from serve" -l admin-policy -d 'More policy files or folders of the administrator' -r
complete -c pollux -n "__fish_pollux_using_subcommand mcp; and __fish_seen_subcommand_from serve" -l allowed-tools -d 'Tools, and commands as run_shell_command(git), that run without approval; policy files can express more' -r
complete -c pollux -n "__fish_pollux_using_subcommand mcp; and __fish_seen_subcommand_from serve" -l allowed-mcp-server-names -d 'The only MCP servers that may start; an empty text for none' -r
complete -c pollux -n "__fish_pollux_using_subcommand mcp; and __fish_seen_subcommand_from serve" -s m -l model -d 'The model, by name or alias' -r -f -a "auto\t''
pro\t''
flash\t''
flash-lite\t''
gemini-3.1-pro-preview\t''
gemini-3.8-flash\t''
gemini-3.5-flash\t''
gemini-3.5-flash-lite\t''
gemini-3-flash-preview\t''
gemini-3.1-flash-lite\t''
gemini-2.5-pro\t''
gemini-2.5-flash\t''
gemini-2.5-flash-lite\t''
gemma-4-31b-it\t''
gemma-4-26b-a4b-it\t''
vertex/gemini-3.1-pro-preview\t''
vertex/gemini-3-flash-preview\t''
vertex/gemini-3.1-flash-lite\t''
vertex/gemini-2.5-pro\t''
vertex/gemini-2.5-flash\t''
vertex/gemini-2.5-flash-lite\t''
code-assist/gemini-3.1-pro-preview\t''
code-assist/gemini-3-flash-preview\t''
code-assist/gemini-3.1-flash-lite\t''
code-assist/gemini-2.5-pro\t''
code-assist/gemini-2.5-flash\t''
code-assist/gemini-2.5-flash-lite\t''
anthropic/opus\t''
anthropic/sonnet\t''
anthropic/haiku\t''
groq/llama-3.3-70b-versatile\t''
groq/llama-3.1-8b-instant\t''
groq/qwen/qwen3-32b\t''
deepseek/deepseek-reasoner\t''
deepseek/deepseek-chat\t''"
complete -c pollux -n "__fish_pollux_using_subcommand mcp; and __fish_seen_subcommand_from serve" -l skip-trust -d 'Trust the current folder for this run'
complete -c pollux -n "__fish_pollux_using_subcommand mcp; and __fish_seen_subcommand_from serve" -s d -l debug -d 'Verbose output on standard error'
complete -c pollux -n "__fish_pollux_using_subcommand mcp; and __fish_seen_subcommand_from serve" -s h -l help -d 'Print this help'
complete -c pollux -n "__fish_pollux_using_subcommand models; and not __fish_seen_subcommand_from list" -s h -l help -d 'Print this help'
complete -c pollux -n "__fish_pollux_using_subcommand models; and not __fish_seen_subcommand_from list" -f -a "list" -d 'List the models for which there is a key, and those of servers on this machine'
complete -c pollux -n "__fish_pollux_using_subcommand models; and __fish_seen_subcommand_from list" -l json -d 'Print JSON'
complete -c pollux -n "__fish_pollux_using_subcommand models; and __fish_seen_subcommand_from list" -s h -l help -d 'Print this help'
complete -c pollux -n "__fish_pollux_using_subcommand policy; and not __fish_seen_subcommand_from list lint explain" -s h -l help -d 'Print this help'
complete -c pollux -n "__fish_pollux_using_subcommand policy; and not __fish_seen_subcommand_from list lint explain" -f -a "list" -d 'List the rules'
complete -c pollux -n "__fish_pollux_using_subcommand policy; and not __fish_seen_subcommand_from list lint explain" -f -a "lint" -d 'Report rules that are wrong or doubtful'
complete -c pollux -n "__fish_pollux_using_subcommand policy; and not __fish_seen_subcommand_from list lint explain" -f -a "explain" -d 'Explain the decision about a command line: the rest of the line'
complete -c pollux -n "__fish_pollux_using_subcommand policy; and __fish_seen_subcommand_from list" -l mode -d 'The approval mode to judge in' -r -f -a "default\t''
auto_edit\t''
yolo\t''
plan\t''"
complete -c pollux -n "__fish_pollux_using_subcommand policy; and __fish_seen_subcommand_from list" -l policy -d 'Policy files or folders to use instead of ~/.gemini/policies' -r
complete -c pollux -n "__fish_pollux_using_subcommand policy; and __fish_seen_subcommand_from list" -l admin-policy -d 'More policy files or folders of the administrator' -r
complete -c pollux -n "__fish_pollux_using_subcommand policy; and __fish_seen_subcommand_from list" -l allowed-tools -d 'Tools, and commands as run_shell_command(git), that run without approval; policy files can express more' -r
complete -c pollux -n "__fish_pollux_using_subcommand policy; and __fish_seen_subcommand_from list" -l allowed-mcp-server-names -d 'The only MCP servers that may start; an empty text for none' -r
complete -c pollux -n "__fish_pollux_using_subcommand policy; and __fish_seen_subcommand_from list" -l json -d 'Print JSON'
complete -c pollux -n "__fish_pollux_using_subcommand policy; and __fish_seen_subcommand_from list" -l skip-trust -d 'Trust the current folder for this run'
complete -c pollux -n "__fish_pollux_using_subcommand policy; and __fish_seen_subcommand_from list" -s d -l debug -d 'Verbose output on standard error'
complete -c pollux -n "__fish_pollux_using_subcommand policy; and __fish_seen_subcommand_from list" -s h -l help -d 'Print this help'
complete -c pollux -n "__fish_pollux_using_subcommand policy; and __fish_seen_subcommand_from lint" -l mode -d 'The approval mode to judge in' -r -f -a "default\t''
auto_edit\t''
yolo\t''
plan\t''"
complete -c pollux -n "__fish_pollux_using_subcommand policy; and __fish_seen_subcommand_from lint" -l policy -d 'Policy files or folders to use instead of ~/.gemini/policies' -r
complete -c pollux -n "__fish_pollux_using_subcommand policy; and __fish_seen_subcommand_from lint" -l admin-policy -d 'More policy files or folders of the administrator' -r
complete -c pollux -n "__fish_pollux_using_subcommand policy; and __fish_seen_subcommand_from lint" -l allowed-tools -d 'Tools, and commands as run_shell_command(git), that run without approval; policy files can express more' -r
complete -c pollux -n "__fish_pollux_using_subcommand policy; and __fish_seen_subcommand_from lint" -l allowed-mcp-server-names -d 'The only MCP servers that may start; an empty text for none' -r
complete -c pollux -n "__fish_pollux_using_subcommand policy; and __fish_seen_subcommand_from lint" -l json -d 'Print JSON'
complete -c pollux -n "__fish_pollux_using_subcommand policy; and __fish_seen_subcommand_from lint" -l skip-trust -d 'Trust the current folder for this run'
complete -c pollux -n "__fish_pollux_using_subcommand policy; and __fish_seen_subcommand_from lint" -s d -l debug -d 'Verbose output on standard error'
complete -c pollux -n "__fish_pollux_using_subcommand policy; and __fish_seen_subcommand_from lint" -s h -l help -d 'Print this help'
complete -c pollux -n "__fish_pollux_using_subcommand policy; and __fish_seen_subcommand_from explain" -l mode -d 'The approval mode to judge in' -r -f -a "default\t''
auto_edit\t''
yolo\t''
plan\t''"
complete -c pollux -n "__fish_pollux_using_subcommand policy; and __fish_seen_subcommand_from explain" -l policy -d 'Policy files or folders to use instead of ~/.gemini/policies' -r
complete -c pollux -n "__fish_pollux_using_subcommand policy; and __fish_seen_subcommand_from explain" -l admin-policy -d 'More policy files or folders of the administrator' -r
complete -c pollux -n "__fish_pollux_using_subcommand policy; and __fish_seen_subcommand_from explain" -l allowed-tools -d 'Tools, and commands as run_shell_command(git), that run without approval; policy files can express more' -r
complete -c pollux -n "__fish_pollux_using_subcommand policy; and __fish_seen_subcommand_from explain" -l allowed-mcp-server-names -d 'The only MCP servers that may start; an empty text for none' -r
complete -c pollux -n "__fish_pollux_using_subcommand policy; and __fish_seen_subcommand_from explain" -l json -d 'Print JSON'
complete -c pollux -n "__fish_pollux_using_subcommand policy; and __fish_seen_subcommand_from explain" -l skip-trust -d 'Trust the current folder for this run'
complete -c pollux -n "__fish_pollux_using_subcommand policy; and __fish_seen_subcommand_from explain" -s d -l debug -d 'Verbose output on standard error'
complete -c pollux -n "__fish_pollux_using_subcommand policy; and __fish_seen_subcommand_from explain" -s h -l help -d 'Print this help'
complete -c pollux -n "__fish_pollux_using_subcommand prompt; and not __fish_seen_subcommand_from show" -s h -l help -d 'Print this help'
complete -c pollux -n "__fish_pollux_using_subcommand prompt; and not __fish_seen_subcommand_from show" -f -a "show" -d 'Show the system prompt and the tools that a model receives, and their size in tokens'
complete -c pollux -n "__fish_pollux_using_subcommand prompt; and __fish_seen_subcommand_from show" -l approval-mode -d 'As for a run' -r -f -a "default\t''
auto_edit\t''
yolo\t''
plan\t''"
complete -c pollux -n "__fish_pollux_using_subcommand prompt; and __fish_seen_subcommand_from show" -l include-directories -d 'As for a run' -r
complete -c pollux -n "__fish_pollux_using_subcommand prompt; and __fish_seen_subcommand_from show" -s m -l model -d 'As for a run' -r -f -a "auto\t''
pro\t''
flash\t''
flash-lite\t''
gemini-3.1-pro-preview\t''
gemini-3.8-flash\t''
gemini-3.5-flash\t''
gemini-3.5-flash-lite\t''
gemini-3-flash-preview\t''
gemini-3.1-flash-lite\t''
gemini-2.5-pro\t''
gemini-2.5-flash\t''
gemini-2.5-flash-lite\t''
gemma-4-31b-it\t''
gemma-4-26b-a4b-it\t''
vertex/gemini-3.1-pro-preview\t''
vertex/gemini-3-flash-preview\t''
vertex/gemini-3.1-flash-lite\t''
vertex/gemini-2.5-pro\t''
vertex/gemini-2.5-flash\t''
vertex/gemini-2.5-flash-lite\t''
code-assist/gemini-3.1-pro-preview\t''
code-assist/gemini-3-flash-preview\t''
code-assist/gemini-3.1-flash-lite\t''
code-assist/gemini-2.5-pro\t''
code-assist/gemini-2.5-flash\t''
code-assist/gemini-2.5-flash-lite\t''
anthropic/opus\t''
anthropic/sonnet\t''
anthropic/haiku\t''
groq/llama-3.3-70b-versatile\t''
groq/llama-3.1-8b-instant\t''
groq/qwen/qwen3-32b\t''
deepseek/deepseek-reasoner\t''
deepseek/deepseek-chat\t''"
complete -c pollux -n "__fish_pollux_using_subcommand prompt; and __fish_seen_subcommand_from show" -l interactive -d 'As for a conversation at the terminal instead of a headless run'
complete -c pollux -n "__fish_pollux_using_subcommand prompt; and __fish_seen_subcommand_from show" -l json -d 'Print JSON'
complete -c pollux -n "__fish_pollux_using_subcommand prompt; and __fish_seen_subcommand_from show" -l skip-trust -d 'Trust the current folder for this question'
complete -c pollux -n "__fish_pollux_using_subcommand prompt; and __fish_seen_subcommand_from show" -s d -l debug -d 'Verbose output on standard error'
complete -c pollux -n "__fish_pollux_using_subcommand prompt; and __fish_seen_subcommand_from show" -s h -l help -d 'Print this help'
complete -c pollux -n "__fish_pollux_using_subcommand sandbox; and not __fish_seen_subcommand_from status run" -s h -l help -d 'Print this help'
complete -c pollux -n "__fish_pollux_using_subcommand sandbox; and not __fish_seen_subcommand_from status run" -f -a "status" -d 'Show the mechanisms of this system and the available levels'
complete -c pollux -n "__fish_pollux_using_subcommand sandbox; and not __fish_seen_subcommand_from status run" -f -a "run" -d 'Run a command in the current folder at a level'
complete -c pollux -n "__fish_pollux_using_subcommand sandbox; and __fish_seen_subcommand_from status" -l json -d 'Print JSON'
complete -c pollux -n "__fish_pollux_using_subcommand sandbox; and __fish_seen_subcommand_from status" -s h -l help -d 'Print this help'
complete -c pollux -n "__fish_pollux_using_subcommand sandbox; and __fish_seen_subcommand_from run" -l level -d 'Level of confinement' -r -f -a "inspect\t''
workspace-write\t''
protect\t''
none\t''"
complete -c pollux -n "__fish_pollux_using_subcommand sandbox; and __fish_seen_subcommand_from run" -l network -d 'Allow the network at workspace-write'
complete -c pollux -n "__fish_pollux_using_subcommand sandbox; and __fish_seen_subcommand_from run" -l git-config -d 'Leave .git/config writable'
complete -c pollux -n "__fish_pollux_using_subcommand sandbox; and __fish_seen_subcommand_from run" -s h -l help -d 'Print this help'
complete -c pollux -n "__fish_pollux_using_subcommand skills; and not __fish_seen_subcommand_from list enable disable install link uninstall" -s h -l help -d 'Print this help'
complete -c pollux -n "__fish_pollux_using_subcommand skills; and not __fish_seen_subcommand_from list enable disable install link uninstall" -f -a "list" -d 'List the skills of this folder and of the user'
complete -c pollux -n "__fish_pollux_using_subcommand skills; and not __fish_seen_subcommand_from list enable disable install link uninstall" -f -a "enable" -d 'Offer a disabled skill to the model again'
complete -c pollux -n "__fish_pollux_using_subcommand skills; and not __fish_seen_subcommand_from list enable disable install link uninstall" -f -a "disable" -d 'Do not offer a skill to the model'
complete -c pollux -n "__fish_pollux_using_subcommand skills; and not __fish_seen_subcommand_from list enable disable install link uninstall" -f -a "install" -d 'Install skills from a Git repository, an archive (.skill) or a folder'
complete -c pollux -n "__fish_pollux_using_subcommand skills; and not __fish_seen_subcommand_from list enable disable install link uninstall" -f -a "link" -d 'Use the skills of a folder in place, with all later changes of them'
complete -c pollux -n "__fish_pollux_using_subcommand skills; and not __fish_seen_subcommand_from list enable disable install link uninstall" -f -a "uninstall" -d 'Remove an installed or linked skill'
complete -c pollux -n "__fish_pollux_using_subcommand skills; and __fish_seen_subcommand_from list" -l all -d 'Also built-in skills: Pollux has none'
complete -c pollux -n "__fish_pollux_using_subcommand skills; and __fish_seen_subcommand_from list" -l json -d 'Print JSON'
complete -c pollux -n "__fish_pollux_using_subcommand skills; and __fish_seen_subcommand_from list" -l skip-trust -d 'Trust the current folder for this run'
complete -c pollux -n "__fish_pollux_using_subcommand skills; and __fish_seen_subcommand_from list" -s d -l debug -d 'Verbose output on standard error'
complete -c pollux -n "__fish_pollux_using_subcommand skills; and __fish_seen_subcommand_from list" -s h -l help -d 'Print this help'
complete -c pollux -n "__fish_pollux_using_subcommand skills; and __fish_seen_subcommand_from enable" -s d -l debug -d 'Verbose output on standard error'
complete -c pollux -n "__fish_pollux_using_subcommand skills; and __fish_seen_subcommand_from enable" -s h -l help -d 'Print this help'
complete -c pollux -n "__fish_pollux_using_subcommand skills; and __fish_seen_subcommand_from disable" -s s -l scope -d 'The settings file' -r -f -a "user\t''
workspace\t''"
complete -c pollux -n "__fish_pollux_using_subcommand skills; and __fish_seen_subcommand_from disable" -s d -l debug -d 'Verbose output on standard error'
complete -c pollux -n "__fish_pollux_using_subcommand skills; and __fish_seen_subcommand_from disable" -s h -l help -d 'Print this help'
complete -c pollux -n "__fish_pollux_using_subcommand skills; and __fish_seen_subcommand_from install" -l scope -d 'For the user, or for the project in this folder' -r -f -a "user\t''
workspace\t''"
complete -c pollux -n "__fish_pollux_using_subcommand skills; and __fish_seen_subcommand_from install" -l path -d 'The folder in the source with the skills' -r
complete -c pollux -n "__fish_pollux_using_subcommand skills; and __fish_seen_subcommand_from install" -l consent -d 'Install without a question'
complete -c pollux -n "__fish_pollux_using_subcommand skills; and __fish_seen_subcommand_from install" -s d -l debug -d 'Verbose output on standard error'
complete -c pollux -n "__fish_pollux_using_subcommand skills; and __fish_seen_subcommand_from install" -s h -l help -d 'Print this help'
complete -c pollux -n "__fish_pollux_using_subcommand skills; and __fish_seen_subcommand_from link" -l scope -d 'For the user, or for the project in this folder' -r -f -a "user\t''
workspace\t''"
complete -c pollux -n "__fish_pollux_using_subcommand skills; and __fish_seen_subcommand_from link" -l consent -d 'Link without a question'
complete -c pollux -n "__fish_pollux_using_subcommand skills; and __fish_seen_subcommand_from link" -s d -l debug -d 'Verbose output on standard error'
complete -c pollux -n "__fish_pollux_using_subcommand skills; and __fish_seen_subcommand_from link" -s h -l help -d 'Print this help'
complete -c pollux -n "__fish_pollux_using_subcommand skills; and __fish_seen_subcommand_from uninstall" -l scope -d 'Of the user, or of the project in this folder' -r -f -a "user\t''
workspace\t''"
complete -c pollux -n "__fish_pollux_using_subcommand skills; and __fish_seen_subcommand_from uninstall" -s d -l debug -d 'Verbose output on standard error'
complete -c pollux -n "__fish_pollux_using_subcommand skills; and __fish_seen_subcommand_from uninstall" -s h -l help -d 'Print this help'
complete -c pollux -n "__fish_pollux_using_subcommand skill; and not __fish_seen_subcommand_from list enable disable install link uninstall" -s h -l help -d 'Print this help'
complete -c pollux -n "__fish_pollux_using_subcommand skill; and not __fish_seen_subcommand_from list enable disable install link uninstall" -f -a "list" -d 'List the skills of this folder and of the user'
complete -c pollux -n "__fish_pollux_using_subcommand skill; and not __fish_seen_subcommand_from list enable disable install link uninstall" -f -a "enable" -d 'Offer a disabled skill to the model again'
complete -c pollux -n "__fish_pollux_using_subcommand skill; and not __fish_seen_subcommand_from list enable disable install link uninstall" -f -a "disable" -d 'Do not offer a skill to the model'
complete -c pollux -n "__fish_pollux_using_subcommand skill; and not __fish_seen_subcommand_from list enable disable install link uninstall" -f -a "install" -d 'Install skills from a Git repository, an archive (.skill) or a folder'
complete -c pollux -n "__fish_pollux_using_subcommand skill; and not __fish_seen_subcommand_from list enable disable install link uninstall" -f -a "link" -d 'Use the skills of a folder in place, with all later changes of them'
complete -c pollux -n "__fish_pollux_using_subcommand skill; and not __fish_seen_subcommand_from list enable disable install link uninstall" -f -a "uninstall" -d 'Remove an installed or linked skill'
complete -c pollux -n "__fish_pollux_using_subcommand skill; and __fish_seen_subcommand_from list" -l all -d 'Also built-in skills: Pollux has none'
complete -c pollux -n "__fish_pollux_using_subcommand skill; and __fish_seen_subcommand_from list" -l json -d 'Print JSON'
complete -c pollux -n "__fish_pollux_using_subcommand skill; and __fish_seen_subcommand_from list" -l skip-trust -d 'Trust the current folder for this run'
complete -c pollux -n "__fish_pollux_using_subcommand skill; and __fish_seen_subcommand_from list" -s d -l debug -d 'Verbose output on standard error'
complete -c pollux -n "__fish_pollux_using_subcommand skill; and __fish_seen_subcommand_from list" -s h -l help -d 'Print this help'
complete -c pollux -n "__fish_pollux_using_subcommand skill; and __fish_seen_subcommand_from enable" -s d -l debug -d 'Verbose output on standard error'
complete -c pollux -n "__fish_pollux_using_subcommand skill; and __fish_seen_subcommand_from enable" -s h -l help -d 'Print this help'
complete -c pollux -n "__fish_pollux_using_subcommand skill; and __fish_seen_subcommand_from disable" -s s -l scope -d 'The settings file' -r -f -a "user\t''
workspace\t''"
complete -c pollux -n "__fish_pollux_using_subcommand skill; and __fish_seen_subcommand_from disable" -s d -l debug -d 'Verbose output on standard error'
complete -c pollux -n "__fish_pollux_using_subcommand skill; and __fish_seen_subcommand_from disable" -s h -l help -d 'Print this help'
complete -c pollux -n "__fish_pollux_using_subcommand skill; and __fish_seen_subcommand_from install" -l scope -d 'For the user, or for the project in this folder' -r -f -a "user\t''
workspace\t''"
complete -c pollux -n "__fish_pollux_using_subcommand skill; and __fish_seen_subcommand_from install" -l path -d 'The folder in the source with the skills' -r
complete -c pollux -n "__fish_pollux_using_subcommand skill; and __fish_seen_subcommand_from install" -l consent -d 'Install without a question'
complete -c pollux -n "__fish_pollux_using_subcommand skill; and __fish_seen_subcommand_from install" -s d -l debug -d 'Verbose output on standard error'
complete -c pollux -n "__fish_pollux_using_subcommand skill; and __fish_seen_subcommand_from install" -s h -l help -d 'Print this help'
complete -c pollux -n "__fish_pollux_using_subcommand skill; and __fish_seen_subcommand_from link" -l scope -d 'For the user, or for the project in this folder' -r -f -a "user\t''
workspace\t''"
complete -c pollux -n "__fish_pollux_using_subcommand skill; and __fish_seen_subcommand_from link" -l consent -d 'Link without a question'
complete -c pollux -n "__fish_pollux_using_subcommand skill; and __fish_seen_subcommand_from link" -s d -l debug -d 'Verbose output on standard error'
complete -c pollux -n "__fish_pollux_using_subcommand skill; and __fish_seen_subcommand_from link" -s h -l help -d 'Print this help'
complete -c pollux -n "__fish_pollux_using_subcommand skill; and __fish_seen_subcommand_from uninstall" -l scope -d 'Of the user, or of the project in this folder' -r -f -a "user\t''
workspace\t''"
complete -c pollux -n "__fish_pollux_using_subcommand skill; and __fish_seen_subcommand_from uninstall" -s d -l debug -d 'Verbose output on standard error'
complete -c pollux -n "__fish_pollux_using_subcommand skill; and __fish_seen_subcommand_from uninstall" -s h -l help -d 'Print this help'
complete -c pollux -n "__fish_pollux_using_subcommand trust" -l revoke -d 'Stop trusting the folder'
complete -c pollux -n "__fish_pollux_using_subcommand trust" -s h -l help -d 'Print this help'
complete -c pollux -n "__fish_pollux_using_subcommand completions" -s h -l help -d 'Print this help'
complete -c pollux -n "__fish_pollux_using_subcommand man" -s h -l help -d 'Print this help'
complete -c pollux -n "__fish_pollux_using_subcommand help" -s h -l help -d 'Print this help'
complete -c pollux -n "__fish_pollux_using_subcommand version" -s h -l help -d 'Print this help'
