# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_pollux_global_optspecs
    string join \n p/prompt= i/prompt-interactive= m/model= o/output-format= approval-mode= y/yolo include-directories= skip-trust r/resume= session-file= session-id= list-sessions delete-session= raw-output accept-raw-output-risk d/debug fake-responses= fake-responses-non-strict= record-responses= isCommand h/help v/version w/worktree= s/sandbox policy= admin-policy= acp experimental-acp allowed-mcp-server-names= allowed-tools= e/extensions= l/list-extensions screen-reader
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

complete -c pollux -n "__fish_pollux_needs_command" -s p -l prompt -d 'The prompt; no questions are asked. Appended to what standard input brings' -r
complete -c pollux -n "__fish_pollux_needs_command" -s i -l prompt-interactive -d 'The prompt that a conversation in the terminal begins with' -r
complete -c pollux -n "__fish_pollux_needs_command" -s m -l model -d 'The model, by name or alias' -r
complete -c pollux -n "__fish_pollux_needs_command" -s o -l output-format -d 'The form of standard output' -r -f -a "text\t'The answer as it comes'
json\t'One JSON object at the end'
stream-json\t'One JSON object per event and line'"
complete -c pollux -n "__fish_pollux_needs_command" -l approval-mode -d 'What is allowed without being asked: nothing but reading (default), edits too, everything, or planning only' -r -f -a "default\t''
auto_edit\t''
yolo\t''
plan\t''"
complete -c pollux -n "__fish_pollux_needs_command" -l include-directories -d 'More folders to work in, separated by commas' -r
complete -c pollux -n "__fish_pollux_needs_command" -s r -l resume -d 'Continue a session: the latest, or that of this number or id' -r
complete -c pollux -n "__fish_pollux_needs_command" -l session-file -d 'Continue from a session file, in a new session' -r -F
complete -c pollux -n "__fish_pollux_needs_command" -l session-id -d 'The id of the new session: letters, digits, dashes, underscores' -r
complete -c pollux -n "__fish_pollux_needs_command" -l delete-session -d 'Delete the session of this number or id and exit' -r
complete -c pollux -n "__fish_pollux_needs_command" -l fake-responses -d 'Answer from a file of recorded responses, strictly in its order' -r -F
complete -c pollux -n "__fish_pollux_needs_command" -l fake-responses-non-strict -d 'Answer from a file of recorded responses, each with the next of its kind' -r -F
complete -c pollux -n "__fish_pollux_needs_command" -l record-responses -d 'Append the model\'s responses to a file' -r -F
complete -c pollux -n "__fish_pollux_needs_command" -s w -l worktree -r
complete -c pollux -n "__fish_pollux_needs_command" -l policy -r
complete -c pollux -n "__fish_pollux_needs_command" -l admin-policy -r
complete -c pollux -n "__fish_pollux_needs_command" -l allowed-mcp-server-names -r
complete -c pollux -n "__fish_pollux_needs_command" -l allowed-tools -r
complete -c pollux -n "__fish_pollux_needs_command" -s e -l extensions -r
complete -c pollux -n "__fish_pollux_needs_command" -s y -l yolo -d 'Allow everything, as --approval-mode=yolo does'
complete -c pollux -n "__fish_pollux_needs_command" -l skip-trust -d 'Trust the current folder for this run'
complete -c pollux -n "__fish_pollux_needs_command" -l list-sessions -d 'List the sessions of this project and exit'
complete -c pollux -n "__fish_pollux_needs_command" -l raw-output -d 'Keep the terminal control sequences in the model\'s text'
complete -c pollux -n "__fish_pollux_needs_command" -l accept-raw-output-risk -d 'Keep them without a warning'
complete -c pollux -n "__fish_pollux_needs_command" -s d -l debug -d 'Say more on standard error'
complete -c pollux -n "__fish_pollux_needs_command" -l isCommand -d 'Internal to Gemini CLI: this is no interactive run'
complete -c pollux -n "__fish_pollux_needs_command" -s h -l help -d 'Print this help'
complete -c pollux -n "__fish_pollux_needs_command" -s v -l version -d 'Print the version'
complete -c pollux -n "__fish_pollux_needs_command" -s s -l sandbox
complete -c pollux -n "__fish_pollux_needs_command" -l acp
complete -c pollux -n "__fish_pollux_needs_command" -l experimental-acp
complete -c pollux -n "__fish_pollux_needs_command" -s l -l list-extensions
complete -c pollux -n "__fish_pollux_needs_command" -l screen-reader
complete -c pollux -n "__fish_pollux_needs_command" -a "demo" -d 'Show the agent at work on a sample project, with a recorded model: no key, no network'
complete -c pollux -n "__fish_pollux_needs_command" -a "completions" -d 'Print the completions for a shell'
complete -c pollux -n "__fish_pollux_needs_command" -a "man" -d 'Print the man page'
complete -c pollux -n "__fish_pollux_using_subcommand demo" -s o -l output-format -d 'The form of standard output' -r -f -a "text\t'The answer as it comes'
json\t'One JSON object at the end'
stream-json\t'One JSON object per event and line'"
complete -c pollux -n "__fish_pollux_using_subcommand demo" -s h -l help -d 'Print this help'
complete -c pollux -n "__fish_pollux_using_subcommand demo" -l keep -d 'Keep the sample project, and say where it is'
complete -c pollux -n "__fish_pollux_using_subcommand demo" -s d -l debug -d 'Say more on standard error'
complete -c pollux -n "__fish_pollux_using_subcommand completions" -s h -l help -d 'Print this help'
complete -c pollux -n "__fish_pollux_using_subcommand man" -s h -l help -d 'Print this help'
