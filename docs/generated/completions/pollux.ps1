
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
            [CompletionResult]::new('-p', '-p', [CompletionResultType]::ParameterName, 'The prompt; no questions are asked. Appended to what standard input brings')
            [CompletionResult]::new('--prompt', '--prompt', [CompletionResultType]::ParameterName, 'The prompt; no questions are asked. Appended to what standard input brings')
            [CompletionResult]::new('-i', '-i', [CompletionResultType]::ParameterName, 'The prompt that a conversation in the terminal begins with')
            [CompletionResult]::new('--prompt-interactive', '--prompt-interactive', [CompletionResultType]::ParameterName, 'The prompt that a conversation in the terminal begins with')
            [CompletionResult]::new('-m', '-m', [CompletionResultType]::ParameterName, 'The model, by name or alias')
            [CompletionResult]::new('--model', '--model', [CompletionResultType]::ParameterName, 'The model, by name or alias')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'The form of standard output')
            [CompletionResult]::new('--output-format', '--output-format', [CompletionResultType]::ParameterName, 'The form of standard output')
            [CompletionResult]::new('--approval-mode', '--approval-mode', [CompletionResultType]::ParameterName, 'What is allowed without being asked: nothing but reading (default), edits too, everything, or planning only')
            [CompletionResult]::new('--include-directories', '--include-directories', [CompletionResultType]::ParameterName, 'More folders to work in, separated by commas')
            [CompletionResult]::new('-r', '-r', [CompletionResultType]::ParameterName, 'Continue a session: the latest, or that of this number or id')
            [CompletionResult]::new('--resume', '--resume', [CompletionResultType]::ParameterName, 'Continue a session: the latest, or that of this number or id')
            [CompletionResult]::new('--session-file', '--session-file', [CompletionResultType]::ParameterName, 'Continue from a session file, in a new session')
            [CompletionResult]::new('--session-id', '--session-id', [CompletionResultType]::ParameterName, 'The id of the new session: letters, digits, dashes, underscores')
            [CompletionResult]::new('--delete-session', '--delete-session', [CompletionResultType]::ParameterName, 'Delete the session of this number or id and exit')
            [CompletionResult]::new('--fake-responses', '--fake-responses', [CompletionResultType]::ParameterName, 'Answer from a file of recorded responses, strictly in its order')
            [CompletionResult]::new('--fake-responses-non-strict', '--fake-responses-non-strict', [CompletionResultType]::ParameterName, 'Answer from a file of recorded responses, each with the next of its kind')
            [CompletionResult]::new('--record-responses', '--record-responses', [CompletionResultType]::ParameterName, 'Append the model''s responses to a file')
            [CompletionResult]::new('-w', '-w', [CompletionResultType]::ParameterName, 'w')
            [CompletionResult]::new('--worktree', '--worktree', [CompletionResultType]::ParameterName, 'worktree')
            [CompletionResult]::new('--policy', '--policy', [CompletionResultType]::ParameterName, 'policy')
            [CompletionResult]::new('--admin-policy', '--admin-policy', [CompletionResultType]::ParameterName, 'admin-policy')
            [CompletionResult]::new('--allowed-mcp-server-names', '--allowed-mcp-server-names', [CompletionResultType]::ParameterName, 'allowed-mcp-server-names')
            [CompletionResult]::new('--allowed-tools', '--allowed-tools', [CompletionResultType]::ParameterName, 'allowed-tools')
            [CompletionResult]::new('-e', '-e', [CompletionResultType]::ParameterName, 'e')
            [CompletionResult]::new('--extensions', '--extensions', [CompletionResultType]::ParameterName, 'extensions')
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Allow everything, as --approval-mode=yolo does')
            [CompletionResult]::new('--yolo', '--yolo', [CompletionResultType]::ParameterName, 'Allow everything, as --approval-mode=yolo does')
            [CompletionResult]::new('--skip-trust', '--skip-trust', [CompletionResultType]::ParameterName, 'Trust the current folder for this run')
            [CompletionResult]::new('--list-sessions', '--list-sessions', [CompletionResultType]::ParameterName, 'List the sessions of this project and exit')
            [CompletionResult]::new('--raw-output', '--raw-output', [CompletionResultType]::ParameterName, 'Keep the terminal control sequences in the model''s text')
            [CompletionResult]::new('--accept-raw-output-risk', '--accept-raw-output-risk', [CompletionResultType]::ParameterName, 'Keep them without a warning')
            [CompletionResult]::new('-d', '-d', [CompletionResultType]::ParameterName, 'Say more on standard error')
            [CompletionResult]::new('--debug', '--debug', [CompletionResultType]::ParameterName, 'Say more on standard error')
            [CompletionResult]::new('--isCommand', '--isCommand', [CompletionResultType]::ParameterName, 'Internal to Gemini CLI: this is no interactive run')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print the version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print the version')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 's')
            [CompletionResult]::new('--sandbox', '--sandbox', [CompletionResultType]::ParameterName, 'sandbox')
            [CompletionResult]::new('--acp', '--acp', [CompletionResultType]::ParameterName, 'acp')
            [CompletionResult]::new('--experimental-acp', '--experimental-acp', [CompletionResultType]::ParameterName, 'experimental-acp')
            [CompletionResult]::new('-l', '-l', [CompletionResultType]::ParameterName, 'l')
            [CompletionResult]::new('--list-extensions', '--list-extensions', [CompletionResultType]::ParameterName, 'list-extensions')
            [CompletionResult]::new('--screen-reader', '--screen-reader', [CompletionResultType]::ParameterName, 'screen-reader')
            [CompletionResult]::new('demo', 'demo', [CompletionResultType]::ParameterValue, 'Show the agent at work on a sample project, with a recorded model: no key, no network')
            [CompletionResult]::new('completions', 'completions', [CompletionResultType]::ParameterValue, 'Print the completions for a shell')
            [CompletionResult]::new('man', 'man', [CompletionResultType]::ParameterValue, 'Print the man page')
            break
        }
        'pollux;demo' {
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'The form of standard output')
            [CompletionResult]::new('--output-format', '--output-format', [CompletionResultType]::ParameterName, 'The form of standard output')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print this help')
            [CompletionResult]::new('--keep', '--keep', [CompletionResultType]::ParameterName, 'Keep the sample project, and say where it is')
            [CompletionResult]::new('-d', '-d', [CompletionResultType]::ParameterName, 'Say more on standard error')
            [CompletionResult]::new('--debug', '--debug', [CompletionResultType]::ParameterName, 'Say more on standard error')
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
    })

    $completions.Where{ $_.CompletionText -like "$wordToComplete*" } |
        Sort-Object -Property ListItemText
}
