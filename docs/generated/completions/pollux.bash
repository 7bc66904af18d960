_pollux() {
    local i cur prev opts cmd
    COMPREPLY=()
    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
        cur="$2"
    else
        cur="${COMP_WORDS[COMP_CWORD]}"
    fi
    prev="$3"
    cmd=""
    opts=""

    for i in "${COMP_WORDS[@]:0:COMP_CWORD}"
    do
        case "${cmd},${i}" in
            ",$1")
                cmd="pollux"
                ;;
            pollux,auth)
                cmd="pollux__subcmd__auth"
                ;;
            pollux,completions)
                cmd="pollux__subcmd__completions"
                ;;
            pollux,config)
                cmd="pollux__subcmd__config"
                ;;
            pollux,demo)
                cmd="pollux__subcmd__demo"
                ;;
            pollux,doctor)
                cmd="pollux__subcmd__doctor"
                ;;
            pollux,extension)
                cmd="pollux__subcmd__extensions"
                ;;
            pollux,extensions)
                cmd="pollux__subcmd__extensions"
                ;;
            pollux,help)
                cmd="pollux__subcmd__help"
                ;;
            pollux,hook)
                cmd="pollux__subcmd__hooks"
                ;;
            pollux,hooks)
                cmd="pollux__subcmd__hooks"
                ;;
            pollux,man)
                cmd="pollux__subcmd__man"
                ;;
            pollux,mcp)
                cmd="pollux__subcmd__mcp"
                ;;
            pollux,models)
                cmd="pollux__subcmd__models"
                ;;
            pollux,policy)
                cmd="pollux__subcmd__policy"
                ;;
            pollux,prompt)
                cmd="pollux__subcmd__prompt"
                ;;
            pollux,sandbox)
                cmd="pollux__subcmd__sandbox"
                ;;
            pollux,skill)
                cmd="pollux__subcmd__skills"
                ;;
            pollux,skills)
                cmd="pollux__subcmd__skills"
                ;;
            pollux,trust)
                cmd="pollux__subcmd__trust"
                ;;
            pollux,version)
                cmd="pollux__subcmd__version"
                ;;
            pollux__subcmd__auth,login)
                cmd="pollux__subcmd__auth__subcmd__login"
                ;;
            pollux__subcmd__auth,logout)
                cmd="pollux__subcmd__auth__subcmd__logout"
                ;;
            pollux__subcmd__auth,status)
                cmd="pollux__subcmd__auth__subcmd__status"
                ;;
            pollux__subcmd__config,explain)
                cmd="pollux__subcmd__config__subcmd__explain"
                ;;
            pollux__subcmd__config,get)
                cmd="pollux__subcmd__config__subcmd__get"
                ;;
            pollux__subcmd__config,list)
                cmd="pollux__subcmd__config__subcmd__list"
                ;;
            pollux__subcmd__config,migrate)
                cmd="pollux__subcmd__config__subcmd__migrate"
                ;;
            pollux__subcmd__config,report)
                cmd="pollux__subcmd__config__subcmd__report"
                ;;
            pollux__subcmd__config,set)
                cmd="pollux__subcmd__config__subcmd__set"
                ;;
            pollux__subcmd__config,unset)
                cmd="pollux__subcmd__config__subcmd__unset"
                ;;
            pollux__subcmd__extensions,config)
                cmd="pollux__subcmd__extensions__subcmd__config"
                ;;
            pollux__subcmd__extensions,disable)
                cmd="pollux__subcmd__extensions__subcmd__disable"
                ;;
            pollux__subcmd__extensions,enable)
                cmd="pollux__subcmd__extensions__subcmd__enable"
                ;;
            pollux__subcmd__extensions,install)
                cmd="pollux__subcmd__extensions__subcmd__install"
                ;;
            pollux__subcmd__extensions,link)
                cmd="pollux__subcmd__extensions__subcmd__link"
                ;;
            pollux__subcmd__extensions,list)
                cmd="pollux__subcmd__extensions__subcmd__list"
                ;;
            pollux__subcmd__extensions,new)
                cmd="pollux__subcmd__extensions__subcmd__new"
                ;;
            pollux__subcmd__extensions,uninstall)
                cmd="pollux__subcmd__extensions__subcmd__uninstall"
                ;;
            pollux__subcmd__extensions,update)
                cmd="pollux__subcmd__extensions__subcmd__update"
                ;;
            pollux__subcmd__extensions,validate)
                cmd="pollux__subcmd__extensions__subcmd__validate"
                ;;
            pollux__subcmd__hooks,list)
                cmd="pollux__subcmd__hooks__subcmd__list"
                ;;
            pollux__subcmd__hooks,migrate)
                cmd="pollux__subcmd__hooks__subcmd__migrate"
                ;;
            pollux__subcmd__hooks,test)
                cmd="pollux__subcmd__hooks__subcmd__test"
                ;;
            pollux__subcmd__mcp,add)
                cmd="pollux__subcmd__mcp__subcmd__add"
                ;;
            pollux__subcmd__mcp,auth)
                cmd="pollux__subcmd__mcp__subcmd__auth"
                ;;
            pollux__subcmd__mcp,disable)
                cmd="pollux__subcmd__mcp__subcmd__disable"
                ;;
            pollux__subcmd__mcp,enable)
                cmd="pollux__subcmd__mcp__subcmd__enable"
                ;;
            pollux__subcmd__mcp,get)
                cmd="pollux__subcmd__mcp__subcmd__get"
                ;;
            pollux__subcmd__mcp,list)
                cmd="pollux__subcmd__mcp__subcmd__list"
                ;;
            pollux__subcmd__mcp,logout)
                cmd="pollux__subcmd__mcp__subcmd__logout"
                ;;
            pollux__subcmd__mcp,remove)
                cmd="pollux__subcmd__mcp__subcmd__remove"
                ;;
            pollux__subcmd__mcp,serve)
                cmd="pollux__subcmd__mcp__subcmd__serve"
                ;;
            pollux__subcmd__mcp,test)
                cmd="pollux__subcmd__mcp__subcmd__test"
                ;;
            pollux__subcmd__models,list)
                cmd="pollux__subcmd__models__subcmd__list"
                ;;
            pollux__subcmd__policy,explain)
                cmd="pollux__subcmd__policy__subcmd__explain"
                ;;
            pollux__subcmd__policy,lint)
                cmd="pollux__subcmd__policy__subcmd__lint"
                ;;
            pollux__subcmd__policy,list)
                cmd="pollux__subcmd__policy__subcmd__list"
                ;;
            pollux__subcmd__prompt,show)
                cmd="pollux__subcmd__prompt__subcmd__show"
                ;;
            pollux__subcmd__sandbox,run)
                cmd="pollux__subcmd__sandbox__subcmd__run"
                ;;
            pollux__subcmd__sandbox,status)
                cmd="pollux__subcmd__sandbox__subcmd__status"
                ;;
            pollux__subcmd__skills,disable)
                cmd="pollux__subcmd__skills__subcmd__disable"
                ;;
            pollux__subcmd__skills,enable)
                cmd="pollux__subcmd__skills__subcmd__enable"
                ;;
            pollux__subcmd__skills,install)
                cmd="pollux__subcmd__skills__subcmd__install"
                ;;
            pollux__subcmd__skills,link)
                cmd="pollux__subcmd__skills__subcmd__link"
                ;;
            pollux__subcmd__skills,list)
                cmd="pollux__subcmd__skills__subcmd__list"
                ;;
            pollux__subcmd__skills,uninstall)
                cmd="pollux__subcmd__skills__subcmd__uninstall"
                ;;
            *)
                ;;
        esac
    done

    case "${cmd}" in
        pollux)
            opts="-p -i -o -y -e -l -r -d -h -v -m --prompt --no-stdin --prompt-interactive --output-format --approval-mode --yolo --policy --admin-policy --allowed-tools --allowed-mcp-server-names --skip-trust --extensions --list-extensions --include-directories --resume --session-file --session-id --list-sessions --delete-session --max-turns --max-tool-calls --max-tokens --max-cost --timeout --output-schema --raw-output --accept-raw-output-risk --acp --debug --record-wire --help --version --model demo auth config doctor extensions extension hooks hook mcp models policy prompt sandbox skills skill trust completions man help version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 1 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --prompt)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -p)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --prompt-interactive)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -i)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --output-format)
                    COMPREPLY=($(compgen -W "text json stream-json" -- "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -W "text json stream-json" -- "${cur}"))
                    return 0
                    ;;
                --approval-mode)
                    COMPREPLY=($(compgen -W "default auto_edit yolo plan" -- "${cur}"))
                    return 0
                    ;;
                --policy)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --admin-policy)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --allowed-tools)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --allowed-mcp-server-names)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --extensions)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -e)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --include-directories)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --resume)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -r)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --session-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --session-id)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --delete-session)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-turns)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-tool-calls)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-tokens)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-cost)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --output-schema)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --record-wire)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --model)
                    COMPREPLY=($(compgen -W "auto pro flash flash-lite gemini-3.1-pro-preview gemini-3.8-flash gemini-3.5-flash gemini-3.5-flash-lite gemini-3-flash-preview gemini-3.1-flash-lite gemini-2.5-pro gemini-2.5-flash gemini-2.5-flash-lite gemma-4-31b-it gemma-4-26b-a4b-it vertex/gemini-3.1-pro-preview vertex/gemini-3-flash-preview vertex/gemini-3.1-flash-lite vertex/gemini-2.5-pro vertex/gemini-2.5-flash vertex/gemini-2.5-flash-lite code-assist/gemini-3.1-pro-preview code-assist/gemini-3-flash-preview code-assist/gemini-3.1-flash-lite code-assist/gemini-2.5-pro code-assist/gemini-2.5-flash code-assist/gemini-2.5-flash-lite anthropic/opus anthropic/sonnet anthropic/haiku groq/llama-3.3-70b-versatile groq/llama-3.1-8b-instant groq/qwen/qwen3-32b deepseek/deepseek-reasoner deepseek/deepseek-chat" -- "${cur}"))
                    return 0
                    ;;
                -m)
                    COMPREPLY=($(compgen -W "auto pro flash flash-lite gemini-3.1-pro-preview gemini-3.8-flash gemini-3.5-flash gemini-3.5-flash-lite gemini-3-flash-preview gemini-3.1-flash-lite gemini-2.5-pro gemini-2.5-flash gemini-2.5-flash-lite gemma-4-31b-it gemma-4-26b-a4b-it vertex/gemini-3.1-pro-preview vertex/gemini-3-flash-preview vertex/gemini-3.1-flash-lite vertex/gemini-2.5-pro vertex/gemini-2.5-flash vertex/gemini-2.5-flash-lite code-assist/gemini-3.1-pro-preview code-assist/gemini-3-flash-preview code-assist/gemini-3.1-flash-lite code-assist/gemini-2.5-pro code-assist/gemini-2.5-flash code-assist/gemini-2.5-flash-lite anthropic/opus anthropic/sonnet anthropic/haiku groq/llama-3.3-70b-versatile groq/llama-3.1-8b-instant groq/qwen/qwen3-32b deepseek/deepseek-reasoner deepseek/deepseek-chat" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        pollux__subcmd__auth)
            opts="-h --help status login logout"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        pollux__subcmd__auth__subcmd__login)
            opts="-h --json --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        pollux__subcmd__auth__subcmd__logout)
            opts="-h --json --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        pollux__subcmd__auth__subcmd__status)
            opts="-h --json --skip-trust --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        pollux__subcmd__completions)
            opts="-h --help bash elvish fish powershell zsh"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        pollux__subcmd__config)
            opts="-h --help list get set unset explain report migrate"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        pollux__subcmd__config__subcmd__explain)
            opts="-h --json --help $schema mcpServers policyPaths adminPolicyPaths general.preferredEditor general.openEditorInNewWindow general.vimMode general.defaultApprovalMode general.devtools general.enableAutoUpdate general.enableAutoUpdateNotification general.enableNotifications general.notificationMethod general.checkpointing.enabled general.plan.enabled general.plan.directory general.plan.modelRouting general.retryFetchErrors general.maxAttempts general.debugKeystrokeLogging general.sessionRetention.enabled general.sessionRetention.maxAge general.sessionRetention.maxCount general.sessionRetention.minRetention general.topicUpdateNarration general.logRagSnippets output.format ui.debugRainbow ui.theme ui.autoThemeSwitching ui.terminalBackgroundPollingInterval ui.customThemes ui.hideWindowTitle ui.inlineThinkingMode ui.showStatusInTitle ui.dynamicWindowTitle ui.showHomeDirectoryWarning ui.showCompatibilityWarnings ui.hideTips ui.escapePastedAtSymbols ui.showShortcutsHint ui.compactToolOutput ui.hideBanner ui.hideContextSummary ui.footer.items ui.footer.showLabels ui.footer.hideCWD ui.footer.hideSandboxStatus ui.footer.hideModelInfo ui.footer.hideContextPercentage ui.hideFooter ui.collapseDrawerDuringApproval ui.showMemoryUsage ui.showLineNumbers ui.showCitations ui.showModelInfoInChat ui.showUserIdentity ui.useAlternateBuffer ui.renderProcess ui.terminalBuffer ui.useBackgroundColor ui.incrementalRendering ui.showSpinner ui.loadingPhrases ui.errorVerbosity ui.customWittyPhrases ui.accessibility.enableLoadingPhrases ui.accessibility.screenReader ide.enabled ide.hasSeenNudge privacy.usageStatisticsEnabled telemetry.enabled telemetry.target telemetry.otlpEndpoint telemetry.otlpProtocol telemetry.logPrompts telemetry.outfile telemetry.useCollector telemetry.useCliAuth telemetry.traces billing.overageStrategy billing.vertexAi.requestType billing.vertexAi.sharedRequestType model.name model.maxSessionTurns model.summarizeToolOutput model.compressionThreshold model.disableLoopDetection model.skipNextSpeakerCheck modelConfigs.aliases modelConfigs.customAliases modelConfigs.customOverrides modelConfigs.overrides modelConfigs.modelDefinitions modelConfigs.modelIdResolutions modelConfigs.classifierIdResolutions modelConfigs.modelChains agents.overrides agents.browser.sessionMode agents.browser.headless agents.browser.profilePath agents.browser.visualModel agents.browser.allowedDomains agents.browser.disableUserInput agents.browser.maxActionsPerTask agents.browser.confirmSensitiveActions agents.browser.blockFileUploads context.fileName context.importFormat context.includeDirectoryTree context.discoveryMaxDirs context.memoryBoundaryMarkers context.includeDirectories context.loadMemoryFromIncludeDirectories context.fileFiltering.respectGitIgnore context.fileFiltering.respectGeminiIgnore context.fileFiltering.enableFileWatcher context.fileFiltering.enableRecursiveFileSearch context.fileFiltering.enableFuzzySearch context.fileFiltering.customIgnoreFilePaths tools.sandbox tools.sandboxAllowedPaths tools.sandboxNetworkAccess tools.shell.enableInteractiveShell tools.shell.backgroundCompletionBehavior tools.shell.pager tools.shell.showColor tools.shell.inactivityTimeout tools.shell.enableShellOutputEfficiency tools.core tools.allowed tools.confirmationRequired tools.exclude tools.discoveryCommand tools.callCommand tools.useRipgrep tools.truncateToolOutputThreshold tools.disableLLMCorrection mcp.serverCommand mcp.allowed mcp.excluded useWriteTodos mcp.autoAllowInHeadless security.toolSandboxing security.disableYoloMode security.disableAlwaysAllow security.enablePermanentToolApproval security.autoAddToPolicyByDefault security.blockGitExtensions security.allowedExtensions security.folderTrust.enabled security.environmentVariableRedaction.allowed security.environmentVariableRedaction.blocked security.environmentVariableRedaction.enabled security.auth.selectedType security.auth.enforcedType security.auth.useExternal security.enableConseca advanced.autoConfigureMemory advanced.dnsResolutionOrder advanced.excludedEnvVars advanced.ignoreLocalEnv advanced.bugCommand experimental.gemma experimental.voiceMode experimental.voice.activationMode experimental.voice.backend experimental.voice.whisperModel experimental.voice.stopGracePeriodMs experimental.adk.agentSessionNoninteractiveEnabled experimental.adk.agentSessionInteractiveEnabled experimental.adk.agentSessionSubagentEnabled experimental.enableAgents experimental.worktrees experimental.extensionManagement experimental.extensionConfig experimental.extensionRegistry experimental.extensionRegistryURI experimental.extensionReloading experimental.useOSC52Paste experimental.useOSC52Copy experimental.taskTracker experimental.modelSteering experimental.directWebFetch experimental.dynamicModelConfiguration experimental.gemmaModelRouter.enabled experimental.gemmaModelRouter.autoStartServer experimental.gemmaModelRouter.binaryPath experimental.gemmaModelRouter.classifier.host experimental.gemmaModelRouter.classifier.model experimental.stressTestProfile experimental.autoMemory experimental.generalistProfile experimental.powerUserProfile experimental.contextManagement experimental.topicUpdateNarration extensions.disabled extensions.workspacesWithMigrationNudge skills.enabled skills.disabled hooksConfig.enabled hooksConfig.disabled hooksConfig.notifications hooks.BeforeTool hooks.AfterTool hooks.BeforeAgent hooks.AfterAgent hooks.Notification hooks.SessionStart hooks.SessionEnd hooks.PreCompress hooks.BeforeModel hooks.AfterModel hooks.BeforeToolSelection contextManagement.historyWindow.maxTokens contextManagement.historyWindow.retainedTokens contextManagement.messageLimits.normalMaxTokens contextManagement.messageLimits.retainedMaxTokens contextManagement.messageLimits.normalizationHeadRatio contextManagement.tools.distillation.maxOutputTokens contextManagement.tools.distillation.summarizationThresholdTokens contextManagement.tools.outputMasking.protectionThresholdTokens contextManagement.tools.outputMasking.minPrunableThresholdTokens contextManagement.tools.outputMasking.protectLatestTurn admin.secureModeEnabled admin.extensions.enabled admin.mcp.enabled admin.mcp.config admin.mcp.requiredConfig admin.skills.enabled pollux.auth.googleClientId pollux.auth.googleClientSecret pollux.auth.tokenCommand pollux.budget.day.seconds pollux.budget.day.tokens pollux.budget.day.toolCalls pollux.budget.day.turns pollux.budget.day.usd pollux.budget.prompt.seconds pollux.budget.prompt.tokens pollux.budget.prompt.toolCalls pollux.budget.prompt.turns pollux.budget.prompt.usd pollux.budget.session.seconds pollux.budget.session.tokens pollux.budget.session.toolCalls pollux.budget.session.turns pollux.budget.session.usd pollux.compression.timeout pollux.fallback.chain pollux.fallback.mode pollux.mcp.clientMetadataUrl pollux.mcp.headlessWait pollux.outputSchema.repairs pollux.safetyCheckers pollux.continueUnfinished pollux.policy.headlessReads pollux.policy.originalDenials pollux.retry.maxWait pollux.roles pollux.routing.classifier pollux.sandbox.autoInspect pollux.sandbox.secrets pollux.sandbox.yolo pollux.shell.timeout pollux.stdinTimeout pollux.terminal pollux.terminalProgress pollux.tls.clientCertificate pollux.tls.clientKey pollux.tools.saveMemory pollux.web.privateHosts"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        pollux__subcmd__config__subcmd__get)
            opts="-h --json --help $schema mcpServers policyPaths adminPolicyPaths general.preferredEditor general.openEditorInNewWindow general.vimMode general.defaultApprovalMode general.devtools general.enableAutoUpdate general.enableAutoUpdateNotification general.enableNotifications general.notificationMethod general.checkpointing.enabled general.plan.enabled general.plan.directory general.plan.modelRouting general.retryFetchErrors general.maxAttempts general.debugKeystrokeLogging general.sessionRetention.enabled general.sessionRetention.maxAge general.sessionRetention.maxCount general.sessionRetention.minRetention general.topicUpdateNarration general.logRagSnippets output.format ui.debugRainbow ui.theme ui.autoThemeSwitching ui.terminalBackgroundPollingInterval ui.customThemes ui.hideWindowTitle ui.inlineThinkingMode ui.showStatusInTitle ui.dynamicWindowTitle ui.showHomeDirectoryWarning ui.showCompatibilityWarnings ui.hideTips ui.escapePastedAtSymbols ui.showShortcutsHint ui.compactToolOutput ui.hideBanner ui.hideContextSummary ui.footer.items ui.footer.showLabels ui.footer.hideCWD ui.footer.hideSandboxStatus ui.footer.hideModelInfo ui.footer.hideContextPercentage ui.hideFooter ui.collapseDrawerDuringApproval ui.showMemoryUsage ui.showLineNumbers ui.showCitations ui.showModelInfoInChat ui.showUserIdentity ui.useAlternateBuffer ui.renderProcess ui.terminalBuffer ui.useBackgroundColor ui.incrementalRendering ui.showSpinner ui.loadingPhrases ui.errorVerbosity ui.customWittyPhrases ui.accessibility.enableLoadingPhrases ui.accessibility.screenReader ide.enabled ide.hasSeenNudge privacy.usageStatisticsEnabled telemetry.enabled telemetry.target telemetry.otlpEndpoint telemetry.otlpProtocol telemetry.logPrompts telemetry.outfile telemetry.useCollector telemetry.useCliAuth telemetry.traces billing.overageStrategy billing.vertexAi.requestType billing.vertexAi.sharedRequestType model.name model.maxSessionTurns model.summarizeToolOutput model.compressionThreshold model.disableLoopDetection model.skipNextSpeakerCheck modelConfigs.aliases modelConfigs.customAliases modelConfigs.customOverrides modelConfigs.overrides modelConfigs.modelDefinitions modelConfigs.modelIdResolutions modelConfigs.classifierIdResolutions modelConfigs.modelChains agents.overrides agents.browser.sessionMode agents.browser.headless agents.browser.profilePath agents.browser.visualModel agents.browser.allowedDomains agents.browser.disableUserInput agents.browser.maxActionsPerTask agents.browser.confirmSensitiveActions agents.browser.blockFileUploads context.fileName context.importFormat context.includeDirectoryTree context.discoveryMaxDirs context.memoryBoundaryMarkers context.includeDirectories context.loadMemoryFromIncludeDirectories context.fileFiltering.respectGitIgnore context.fileFiltering.respectGeminiIgnore context.fileFiltering.enableFileWatcher context.fileFiltering.enableRecursiveFileSearch context.fileFiltering.enableFuzzySearch context.fileFiltering.customIgnoreFilePaths tools.sandbox tools.sandboxAllowedPaths tools.sandboxNetworkAccess tools.shell.enableInteractiveShell tools.shell.backgroundCompletionBehavior tools.shell.pager tools.shell.showColor tools.shell.inactivityTimeout tools.shell.enableShellOutputEfficiency tools.core tools.allowed tools.confirmationRequired tools.exclude tools.discoveryCommand tools.callCommand tools.useRipgrep tools.truncateToolOutputThreshold tools.disableLLMCorrection mcp.serverCommand mcp.allowed mcp.excluded useWriteTodos mcp.autoAllowInHeadless security.toolSandboxing security.disableYoloMode security.disableAlwaysAllow security.enablePermanentToolApproval security.autoAddToPolicyByDefault security.blockGitExtensions security.allowedExtensions security.folderTrust.enabled security.environmentVariableRedaction.allowed security.environmentVariableRedaction.blocked security.environmentVariableRedaction.enabled security.auth.selectedType security.auth.enforcedType security.auth.useExternal security.enableConseca advanced.autoConfigureMemory advanced.dnsResolutionOrder advanced.excludedEnvVars advanced.ignoreLocalEnv advanced.bugCommand experimental.gemma experimental.voiceMode experimental.voice.activationMode experimental.voice.backend experimental.voice.whisperModel experimental.voice.stopGracePeriodMs experimental.adk.agentSessionNoninteractiveEnabled experimental.adk.agentSessionInteractiveEnabled experimental.adk.agentSessionSubagentEnabled experimental.enableAgents experimental.worktrees experimental.extensionManagement experimental.extensionConfig experimental.extensionRegistry experimental.extensionRegistryURI experimental.extensionReloading experimental.useOSC52Paste experimental.useOSC52Copy experimental.taskTracker experimental.modelSteering experimental.directWebFetch experimental.dynamicModelConfiguration experimental.gemmaModelRouter.enabled experimental.gemmaModelRouter.autoStartServer experimental.gemmaModelRouter.binaryPath experimental.gemmaModelRouter.classifier.host experimental.gemmaModelRouter.classifier.model experimental.stressTestProfile experimental.autoMemory experimental.generalistProfile experimental.powerUserProfile experimental.contextManagement experimental.topicUpdateNarration extensions.disabled extensions.workspacesWithMigrationNudge skills.enabled skills.disabled hooksConfig.enabled hooksConfig.disabled hooksConfig.notifications hooks.BeforeTool hooks.AfterTool hooks.BeforeAgent hooks.AfterAgent hooks.Notification hooks.SessionStart hooks.SessionEnd hooks.PreCompress hooks.BeforeModel hooks.AfterModel hooks.BeforeToolSelection contextManagement.historyWindow.maxTokens contextManagement.historyWindow.retainedTokens contextManagement.messageLimits.normalMaxTokens contextManagement.messageLimits.retainedMaxTokens contextManagement.messageLimits.normalizationHeadRatio contextManagement.tools.distillation.maxOutputTokens contextManagement.tools.distillation.summarizationThresholdTokens contextManagement.tools.outputMasking.protectionThresholdTokens contextManagement.tools.outputMasking.minPrunableThresholdTokens contextManagement.tools.outputMasking.protectLatestTurn admin.secureModeEnabled admin.extensions.enabled admin.mcp.enabled admin.mcp.config admin.mcp.requiredConfig admin.skills.enabled pollux.auth.googleClientId pollux.auth.googleClientSecret pollux.auth.tokenCommand pollux.budget.day.seconds pollux.budget.day.tokens pollux.budget.day.toolCalls pollux.budget.day.turns pollux.budget.day.usd pollux.budget.prompt.seconds pollux.budget.prompt.tokens pollux.budget.prompt.toolCalls pollux.budget.prompt.turns pollux.budget.prompt.usd pollux.budget.session.seconds pollux.budget.session.tokens pollux.budget.session.toolCalls pollux.budget.session.turns pollux.budget.session.usd pollux.compression.timeout pollux.fallback.chain pollux.fallback.mode pollux.mcp.clientMetadataUrl pollux.mcp.headlessWait pollux.outputSchema.repairs pollux.safetyCheckers pollux.continueUnfinished pollux.policy.headlessReads pollux.policy.originalDenials pollux.retry.maxWait pollux.roles pollux.routing.classifier pollux.sandbox.autoInspect pollux.sandbox.secrets pollux.sandbox.yolo pollux.shell.timeout pollux.stdinTimeout pollux.terminal pollux.terminalProgress pollux.tls.clientCertificate pollux.tls.clientKey pollux.tools.saveMemory pollux.web.privateHosts"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        pollux__subcmd__config__subcmd__list)
            opts="-h --all --json --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        pollux__subcmd__config__subcmd__migrate)
            opts="-h --user --project --system --json --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        pollux__subcmd__config__subcmd__report)
            opts="-h --json --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        pollux__subcmd__config__subcmd__set)
            opts="-h --user --project --system --json --help $schema mcpServers policyPaths adminPolicyPaths general.preferredEditor general.openEditorInNewWindow general.vimMode general.defaultApprovalMode general.devtools general.enableAutoUpdate general.enableAutoUpdateNotification general.enableNotifications general.notificationMethod general.checkpointing.enabled general.plan.enabled general.plan.directory general.plan.modelRouting general.retryFetchErrors general.maxAttempts general.debugKeystrokeLogging general.sessionRetention.enabled general.sessionRetention.maxAge general.sessionRetention.maxCount general.sessionRetention.minRetention general.topicUpdateNarration general.logRagSnippets output.format ui.debugRainbow ui.theme ui.autoThemeSwitching ui.terminalBackgroundPollingInterval ui.customThemes ui.hideWindowTitle ui.inlineThinkingMode ui.showStatusInTitle ui.dynamicWindowTitle ui.showHomeDirectoryWarning ui.showCompatibilityWarnings ui.hideTips ui.escapePastedAtSymbols ui.showShortcutsHint ui.compactToolOutput ui.hideBanner ui.hideContextSummary ui.footer.items ui.footer.showLabels ui.footer.hideCWD ui.footer.hideSandboxStatus ui.footer.hideModelInfo ui.footer.hideContextPercentage ui.hideFooter ui.collapseDrawerDuringApproval ui.showMemoryUsage ui.showLineNumbers ui.showCitations ui.showModelInfoInChat ui.showUserIdentity ui.useAlternateBuffer ui.renderProcess ui.terminalBuffer ui.useBackgroundColor ui.incrementalRendering ui.showSpinner ui.loadingPhrases ui.errorVerbosity ui.customWittyPhrases ui.accessibility.enableLoadingPhrases ui.accessibility.screenReader ide.enabled ide.hasSeenNudge privacy.usageStatisticsEnabled telemetry.enabled telemetry.target telemetry.otlpEndpoint telemetry.otlpProtocol telemetry.logPrompts telemetry.outfile telemetry.useCollector telemetry.useCliAuth telemetry.traces billing.overageStrategy billing.vertexAi.requestType billing.vertexAi.sharedRequestType model.name model.maxSessionTurns model.summarizeToolOutput model.compressionThreshold model.disableLoopDetection model.skipNextSpeakerCheck modelConfigs.aliases modelConfigs.customAliases modelConfigs.customOverrides modelConfigs.overrides modelConfigs.modelDefinitions modelConfigs.modelIdResolutions modelConfigs.classifierIdResolutions modelConfigs.modelChains agents.overrides agents.browser.sessionMode agents.browser.headless agents.browser.profilePath agents.browser.visualModel agents.browser.allowedDomains agents.browser.disableUserInput agents.browser.maxActionsPerTask agents.browser.confirmSensitiveActions agents.browser.blockFileUploads context.fileName context.importFormat context.includeDirectoryTree context.discoveryMaxDirs context.memoryBoundaryMarkers context.includeDirectories context.loadMemoryFromIncludeDirectories context.fileFiltering.respectGitIgnore context.fileFiltering.respectGeminiIgnore context.fileFiltering.enableFileWatcher context.fileFiltering.enableRecursiveFileSearch context.fileFiltering.enableFuzzySearch context.fileFiltering.customIgnoreFilePaths tools.sandbox tools.sandboxAllowedPaths tools.sandboxNetworkAccess tools.shell.enableInteractiveShell tools.shell.backgroundCompletionBehavior tools.shell.pager tools.shell.showColor tools.shell.inactivityTimeout tools.shell.enableShellOutputEfficiency tools.core tools.allowed tools.confirmationRequired tools.exclude tools.discoveryCommand tools.callCommand tools.useRipgrep tools.truncateToolOutputThreshold tools.disableLLMCorrection mcp.serverCommand mcp.allowed mcp.excluded useWriteTodos mcp.autoAllowInHeadless security.toolSandboxing security.disableYoloMode security.disableAlwaysAllow security.enablePermanentToolApproval security.autoAddToPolicyByDefault security.blockGitExtensions security.allowedExtensions security.folderTrust.enabled security.environmentVariableRedaction.allowed security.environmentVariableRedaction.blocked security.environmentVariableRedaction.enabled security.auth.selectedType security.auth.enforcedType security.auth.useExternal security.enableConseca advanced.autoConfigureMemory advanced.dnsResolutionOrder advanced.excludedEnvVars advanced.ignoreLocalEnv advanced.bugCommand experimental.gemma experimental.voiceMode experimental.voice.activationMode experimental.voice.backend experimental.voice.whisperModel experimental.voice.stopGracePeriodMs experimental.adk.agentSessionNoninteractiveEnabled experimental.adk.agentSessionInteractiveEnabled experimental.adk.agentSessionSubagentEnabled experimental.enableAgents experimental.worktrees experimental.extensionManagement experimental.extensionConfig experimental.extensionRegistry experimental.extensionRegistryURI experimental.extensionReloading experimental.useOSC52Paste experimental.useOSC52Copy experimental.taskTracker experimental.modelSteering experimental.directWebFetch experimental.dynamicModelConfiguration experimental.gemmaModelRouter.enabled experimental.gemmaModelRouter.autoStartServer experimental.gemmaModelRouter.binaryPath experimental.gemmaModelRouter.classifier.host experimental.gemmaModelRouter.classifier.model experimental.stressTestProfile experimental.autoMemory experimental.generalistProfile experimental.powerUserProfile experimental.contextManagement experimental.topicUpdateNarration extensions.disabled extensions.workspacesWithMigrationNudge skills.enabled skills.disabled hooksConfig.enabled hooksConfig.disabled hooksConfig.notifications hooks.BeforeTool hooks.AfterTool hooks.BeforeAgent hooks.AfterAgent hooks.Notification hooks.SessionStart hooks.SessionEnd hooks.PreCompress hooks.BeforeModel hooks.AfterModel hooks.BeforeToolSelection contextManagement.historyWindow.maxTokens contextManagement.historyWindow.retainedTokens contextManagement.messageLimits.normalMaxTokens contextManagement.messageLimits.retainedMaxTokens contextManagement.messageLimits.normalizationHeadRatio contextManagement.tools.distillation.maxOutputTokens contextManagement.tools.distillation.summarizationThresholdTokens contextManagement.tools.outputMasking.protectionThresholdTokens contextManagement.tools.outputMasking.minPrunableThresholdTokens contextManagement.tools.outputMasking.protectLatestTurn admin.secureModeEnabled admin.extensions.enabled admin.mcp.enabled admin.mcp.config admin.mcp.requiredConfig admin.skills.enabled pollux.auth.googleClientId pollux.auth.googleClientSecret pollux.auth.tokenCommand pollux.budget.day.seconds pollux.budget.day.tokens pollux.budget.day.toolCalls pollux.budget.day.turns pollux.budget.day.usd pollux.budget.prompt.seconds pollux.budget.prompt.tokens pollux.budget.prompt.toolCalls pollux.budget.prompt.turns pollux.budget.prompt.usd pollux.budget.session.seconds pollux.budget.session.tokens pollux.budget.session.toolCalls pollux.budget.session.turns pollux.budget.session.usd pollux.compression.timeout pollux.fallback.chain pollux.fallback.mode pollux.mcp.clientMetadataUrl pollux.mcp.headlessWait pollux.outputSchema.repairs pollux.safetyCheckers pollux.continueUnfinished pollux.policy.headlessReads pollux.policy.originalDenials pollux.retry.maxWait pollux.roles pollux.routing.classifier pollux.sandbox.autoInspect pollux.sandbox.secrets pollux.sandbox.yolo pollux.shell.timeout pollux.stdinTimeout pollux.terminal pollux.terminalProgress pollux.tls.clientCertificate pollux.tls.clientKey pollux.tools.saveMemory pollux.web.privateHosts"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        pollux__subcmd__config__subcmd__unset)
            opts="-h --user --project --system --json --help $schema mcpServers policyPaths adminPolicyPaths general.preferredEditor general.openEditorInNewWindow general.vimMode general.defaultApprovalMode general.devtools general.enableAutoUpdate general.enableAutoUpdateNotification general.enableNotifications general.notificationMethod general.checkpointing.enabled general.plan.enabled general.plan.directory general.plan.modelRouting general.retryFetchErrors general.maxAttempts general.debugKeystrokeLogging general.sessionRetention.enabled general.sessionRetention.maxAge general.sessionRetention.maxCount general.sessionRetention.minRetention general.topicUpdateNarration general.logRagSnippets output.format ui.debugRainbow ui.theme ui.autoThemeSwitching ui.terminalBackgroundPollingInterval ui.customThemes ui.hideWindowTitle ui.inlineThinkingMode ui.showStatusInTitle ui.dynamicWindowTitle ui.showHomeDirectoryWarning ui.showCompatibilityWarnings ui.hideTips ui.escapePastedAtSymbols ui.showShortcutsHint ui.compactToolOutput ui.hideBanner ui.hideContextSummary ui.footer.items ui.footer.showLabels ui.footer.hideCWD ui.footer.hideSandboxStatus ui.footer.hideModelInfo ui.footer.hideContextPercentage ui.hideFooter ui.collapseDrawerDuringApproval ui.showMemoryUsage ui.showLineNumbers ui.showCitations ui.showModelInfoInChat ui.showUserIdentity ui.useAlternateBuffer ui.renderProcess ui.terminalBuffer ui.useBackgroundColor ui.incrementalRendering ui.showSpinner ui.loadingPhrases ui.errorVerbosity ui.customWittyPhrases ui.accessibility.enableLoadingPhrases ui.accessibility.screenReader ide.enabled ide.hasSeenNudge privacy.usageStatisticsEnabled telemetry.enabled telemetry.target telemetry.otlpEndpoint telemetry.otlpProtocol telemetry.logPrompts telemetry.outfile telemetry.useCollector telemetry.useCliAuth telemetry.traces billing.overageStrategy billing.vertexAi.requestType billing.vertexAi.sharedRequestType model.name model.maxSessionTurns model.summarizeToolOutput model.compressionThreshold model.disableLoopDetection model.skipNextSpeakerCheck modelConfigs.aliases modelConfigs.customAliases modelConfigs.customOverrides modelConfigs.overrides modelConfigs.modelDefinitions modelConfigs.modelIdResolutions modelConfigs.classifierIdResolutions modelConfigs.modelChains agents.overrides agents.browser.sessionMode agents.browser.headless agents.browser.profilePath agents.browser.visualModel agents.browser.allowedDomains agents.browser.disableUserInput agents.browser.maxActionsPerTask agents.browser.confirmSensitiveActions agents.browser.blockFileUploads context.fileName context.importFormat context.includeDirectoryTree context.discoveryMaxDirs context.memoryBoundaryMarkers context.includeDirectories context.loadMemoryFromIncludeDirectories context.fileFiltering.respectGitIgnore context.fileFiltering.respectGeminiIgnore context.fileFiltering.enableFileWatcher context.fileFiltering.enableRecursiveFileSearch context.fileFiltering.enableFuzzySearch context.fileFiltering.customIgnoreFilePaths tools.sandbox tools.sandboxAllowedPaths tools.sandboxNetworkAccess tools.shell.enableInteractiveShell tools.shell.backgroundCompletionBehavior tools.shell.pager tools.shell.showColor tools.shell.inactivityTimeout tools.shell.enableShellOutputEfficiency tools.core tools.allowed tools.confirmationRequired tools.exclude tools.discoveryCommand tools.callCommand tools.useRipgrep tools.truncateToolOutputThreshold tools.disableLLMCorrection mcp.serverCommand mcp.allowed mcp.excluded useWriteTodos mcp.autoAllowInHeadless security.toolSandboxing security.disableYoloMode security.disableAlwaysAllow security.enablePermanentToolApproval security.autoAddToPolicyByDefault security.blockGitExtensions security.allowedExtensions security.folderTrust.enabled security.environmentVariableRedaction.allowed security.environmentVariableRedaction.blocked security.environmentVariableRedaction.enabled security.auth.selectedType security.auth.enforcedType security.auth.useExternal security.enableConseca advanced.autoConfigureMemory advanced.dnsResolutionOrder advanced.excludedEnvVars advanced.ignoreLocalEnv advanced.bugCommand experimental.gemma experimental.voiceMode experimental.voice.activationMode experimental.voice.backend experimental.voice.whisperModel experimental.voice.stopGracePeriodMs experimental.adk.agentSessionNoninteractiveEnabled experimental.adk.agentSessionInteractiveEnabled experimental.adk.agentSessionSubagentEnabled experimental.enableAgents experimental.worktrees experimental.extensionManagement experimental.extensionConfig experimental.extensionRegistry experimental.extensionRegistryURI experimental.extensionReloading experimental.useOSC52Paste experimental.useOSC52Copy experimental.taskTracker experimental.modelSteering experimental.directWebFetch experimental.dynamicModelConfiguration experimental.gemmaModelRouter.enabled experimental.gemmaModelRouter.autoStartServer experimental.gemmaModelRouter.binaryPath experimental.gemmaModelRouter.classifier.host experimental.gemmaModelRouter.classifier.model experimental.stressTestProfile experimental.autoMemory experimental.generalistProfile experimental.powerUserProfile experimental.contextManagement experimental.topicUpdateNarration extensions.disabled extensions.workspacesWithMigrationNudge skills.enabled skills.disabled hooksConfig.enabled hooksConfig.disabled hooksConfig.notifications hooks.BeforeTool hooks.AfterTool hooks.BeforeAgent hooks.AfterAgent hooks.Notification hooks.SessionStart hooks.SessionEnd hooks.PreCompress hooks.BeforeModel hooks.AfterModel hooks.BeforeToolSelection contextManagement.historyWindow.maxTokens contextManagement.historyWindow.retainedTokens contextManagement.messageLimits.normalMaxTokens contextManagement.messageLimits.retainedMaxTokens contextManagement.messageLimits.normalizationHeadRatio contextManagement.tools.distillation.maxOutputTokens contextManagement.tools.distillation.summarizationThresholdTokens contextManagement.tools.outputMasking.protectionThresholdTokens contextManagement.tools.outputMasking.minPrunableThresholdTokens contextManagement.tools.outputMasking.protectLatestTurn admin.secureModeEnabled admin.extensions.enabled admin.mcp.enabled admin.mcp.config admin.mcp.requiredConfig admin.skills.enabled pollux.auth.googleClientId pollux.auth.googleClientSecret pollux.auth.tokenCommand pollux.budget.day.seconds pollux.budget.day.tokens pollux.budget.day.toolCalls pollux.budget.day.turns pollux.budget.day.usd pollux.budget.prompt.seconds pollux.budget.prompt.tokens pollux.budget.prompt.toolCalls pollux.budget.prompt.turns pollux.budget.prompt.usd pollux.budget.session.seconds pollux.budget.session.tokens pollux.budget.session.toolCalls pollux.budget.session.turns pollux.budget.session.usd pollux.compression.timeout pollux.fallback.chain pollux.fallback.mode pollux.mcp.clientMetadataUrl pollux.mcp.headlessWait pollux.outputSchema.repairs pollux.safetyCheckers pollux.continueUnfinished pollux.policy.headlessReads pollux.policy.originalDenials pollux.retry.maxWait pollux.roles pollux.routing.classifier pollux.sandbox.autoInspect pollux.sandbox.secrets pollux.sandbox.yolo pollux.shell.timeout pollux.stdinTimeout pollux.terminal pollux.terminalProgress pollux.tls.clientCertificate pollux.tls.clientKey pollux.tools.saveMemory pollux.web.privateHosts"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        pollux__subcmd__demo)
            opts="-o -d -h --keep --output-format --debug --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --output-format)
                    COMPREPLY=($(compgen -W "text json stream-json" -- "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -W "text json stream-json" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        pollux__subcmd__doctor)
            opts="-h --json --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        pollux__subcmd__extensions)
            opts="-h --help list install link uninstall update config enable disable new validate"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        pollux__subcmd__extensions__subcmd__config)
            opts="-d -h --scope --debug --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --scope)
                    COMPREPLY=($(compgen -W "user workspace" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        pollux__subcmd__extensions__subcmd__disable)
            opts="-d -h --scope --debug --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --scope)
                    COMPREPLY=($(compgen -W "user workspace" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        pollux__subcmd__extensions__subcmd__enable)
            opts="-d -h --scope --debug --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --scope)
                    COMPREPLY=($(compgen -W "user workspace" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        pollux__subcmd__extensions__subcmd__install)
            opts="-d -h --ref --auto-update --pre-release --consent --skip-settings --debug --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --ref)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        pollux__subcmd__extensions__subcmd__link)
            opts="-d -h --consent --debug --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        pollux__subcmd__extensions__subcmd__list)
            opts="-o -d -h --output-format --debug --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --output-format)
                    COMPREPLY=($(compgen -W "text json" -- "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -W "text json" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        pollux__subcmd__extensions__subcmd__new)
            opts="-d -h --debug --help custom-commands exclude-tools hooks mcp-server policies skills themes-example"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        pollux__subcmd__extensions__subcmd__uninstall)
            opts="-d -h --all --debug --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        pollux__subcmd__extensions__subcmd__update)
            opts="-d -h --all --debug --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        pollux__subcmd__extensions__subcmd__validate)
            opts="-d -h --debug --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        pollux__subcmd__help)
            opts="-h --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        pollux__subcmd__hooks)
            opts="-h --help list test migrate"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        pollux__subcmd__hooks__subcmd__list)
            opts="-h --json --skip-trust --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        pollux__subcmd__hooks__subcmd__migrate)
            opts="-h --json --from-claude --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        pollux__subcmd__hooks__subcmd__test)
            opts="-h --json --tool --input --skip-trust --help SessionStart BeforeAgent PreCompress BeforeModel BeforeToolSelection AfterModel BeforeTool Notification AfterTool AfterAgent SessionEnd"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --tool)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --input)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        pollux__subcmd__man)
            opts="-h --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        pollux__subcmd__mcp)
            opts="-h --help add remove list get test auth logout enable disable serve"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        pollux__subcmd__mcp__subcmd__add)
            opts="-s -t -e -H -d -h --scope --type --transport --env --header --timeout --trust --description --include-tools --exclude-tools --debug --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --scope)
                    COMPREPLY=($(compgen -W "user project" -- "${cur}"))
                    return 0
                    ;;
                -s)
                    COMPREPLY=($(compgen -W "user project" -- "${cur}"))
                    return 0
                    ;;
                --transport)
                    COMPREPLY=($(compgen -W "stdio sse http" -- "${cur}"))
                    return 0
                    ;;
                --type)
                    COMPREPLY=($(compgen -W "stdio sse http" -- "${cur}"))
                    return 0
                    ;;
                -t)
                    COMPREPLY=($(compgen -W "stdio sse http" -- "${cur}"))
                    return 0
                    ;;
                --env)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -e)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --header)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -H)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --description)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --include-tools)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --exclude-tools)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        pollux__subcmd__mcp__subcmd__auth)
            opts="-d -h --skip-trust --debug --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        pollux__subcmd__mcp__subcmd__disable)
            opts="-d -h --session --debug --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        pollux__subcmd__mcp__subcmd__enable)
            opts="-d -h --session --debug --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        pollux__subcmd__mcp__subcmd__get)
            opts="-d -h --json --skip-trust --debug --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        pollux__subcmd__mcp__subcmd__list)
            opts="-d -h --json --skip-trust --debug --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        pollux__subcmd__mcp__subcmd__logout)
            opts="-d -h --debug --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        pollux__subcmd__mcp__subcmd__remove)
            opts="-s -d -h --scope --debug --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --scope)
                    COMPREPLY=($(compgen -W "user project" -- "${cur}"))
                    return 0
                    ;;
                -s)
                    COMPREPLY=($(compgen -W "user project" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        pollux__subcmd__mcp__subcmd__serve)
            opts="-d -m -h --approval-mode --include-directories --policy --admin-policy --allowed-tools --allowed-mcp-server-names --skip-trust --debug --model --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --approval-mode)
                    COMPREPLY=($(compgen -W "default auto_edit yolo plan" -- "${cur}"))
                    return 0
                    ;;
                --include-directories)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --policy)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --admin-policy)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --allowed-tools)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --allowed-mcp-server-names)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --model)
                    COMPREPLY=($(compgen -W "auto pro flash flash-lite gemini-3.1-pro-preview gemini-3.8-flash gemini-3.5-flash gemini-3.5-flash-lite gemini-3-flash-preview gemini-3.1-flash-lite gemini-2.5-pro gemini-2.5-flash gemini-2.5-flash-lite gemma-4-31b-it gemma-4-26b-a4b-it vertex/gemini-3.1-pro-preview vertex/gemini-3-flash-preview vertex/gemini-3.1-flash-lite vertex/gemini-2.5-pro vertex/gemini-2.5-flash vertex/gemini-2.5-flash-lite code-assist/gemini-3.1-pro-preview code-assist/gemini-3-flash-preview code-assist/gemini-3.1-flash-lite code-assist/gemini-2.5-pro code-assist/gemini-2.5-flash code-assist/gemini-2.5-flash-lite anthropic/opus anthropic/sonnet anthropic/haiku groq/llama-3.3-70b-versatile groq/llama-3.1-8b-instant groq/qwen/qwen3-32b deepseek/deepseek-reasoner deepseek/deepseek-chat" -- "${cur}"))
                    return 0
                    ;;
                -m)
                    COMPREPLY=($(compgen -W "auto pro flash flash-lite gemini-3.1-pro-preview gemini-3.8-flash gemini-3.5-flash gemini-3.5-flash-lite gemini-3-flash-preview gemini-3.1-flash-lite gemini-2.5-pro gemini-2.5-flash gemini-2.5-flash-lite gemma-4-31b-it gemma-4-26b-a4b-it vertex/gemini-3.1-pro-preview vertex/gemini-3-flash-preview vertex/gemini-3.1-flash-lite vertex/gemini-2.5-pro vertex/gemini-2.5-flash vertex/gemini-2.5-flash-lite code-assist/gemini-3.1-pro-preview code-assist/gemini-3-flash-preview code-assist/gemini-3.1-flash-lite code-assist/gemini-2.5-pro code-assist/gemini-2.5-flash code-assist/gemini-2.5-flash-lite anthropic/opus anthropic/sonnet anthropic/haiku groq/llama-3.3-70b-versatile groq/llama-3.1-8b-instant groq/qwen/qwen3-32b deepseek/deepseek-reasoner deepseek/deepseek-chat" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        pollux__subcmd__mcp__subcmd__test)
            opts="-d -h --json --skip-trust --debug --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        pollux__subcmd__models)
            opts="-h --help list"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        pollux__subcmd__models__subcmd__list)
            opts="-h --json --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        pollux__subcmd__policy)
            opts="-h --help list lint explain"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        pollux__subcmd__policy__subcmd__explain)
            opts="-d -h --mode --json --policy --admin-policy --allowed-tools --allowed-mcp-server-names --skip-trust --debug --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --mode)
                    COMPREPLY=($(compgen -W "default auto_edit yolo plan" -- "${cur}"))
                    return 0
                    ;;
                --policy)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --admin-policy)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --allowed-tools)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --allowed-mcp-server-names)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        pollux__subcmd__policy__subcmd__lint)
            opts="-d -h --mode --json --policy --admin-policy --allowed-tools --allowed-mcp-server-names --skip-trust --debug --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --mode)
                    COMPREPLY=($(compgen -W "default auto_edit yolo plan" -- "${cur}"))
                    return 0
                    ;;
                --policy)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --admin-policy)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --allowed-tools)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --allowed-mcp-server-names)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        pollux__subcmd__policy__subcmd__list)
            opts="-d -h --mode --json --policy --admin-policy --allowed-tools --allowed-mcp-server-names --skip-trust --debug --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --mode)
                    COMPREPLY=($(compgen -W "default auto_edit yolo plan" -- "${cur}"))
                    return 0
                    ;;
                --policy)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --admin-policy)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --allowed-tools)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --allowed-mcp-server-names)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        pollux__subcmd__prompt)
            opts="-h --help show"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        pollux__subcmd__prompt__subcmd__show)
            opts="-d -m -h --approval-mode --interactive --include-directories --json --skip-trust --debug --model --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --approval-mode)
                    COMPREPLY=($(compgen -W "default auto_edit yolo plan" -- "${cur}"))
                    return 0
                    ;;
                --include-directories)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --model)
                    COMPREPLY=($(compgen -W "auto pro flash flash-lite gemini-3.1-pro-preview gemini-3.8-flash gemini-3.5-flash gemini-3.5-flash-lite gemini-3-flash-preview gemini-3.1-flash-lite gemini-2.5-pro gemini-2.5-flash gemini-2.5-flash-lite gemma-4-31b-it gemma-4-26b-a4b-it vertex/gemini-3.1-pro-preview vertex/gemini-3-flash-preview vertex/gemini-3.1-flash-lite vertex/gemini-2.5-pro vertex/gemini-2.5-flash vertex/gemini-2.5-flash-lite code-assist/gemini-3.1-pro-preview code-assist/gemini-3-flash-preview code-assist/gemini-3.1-flash-lite code-assist/gemini-2.5-pro code-assist/gemini-2.5-flash code-assist/gemini-2.5-flash-lite anthropic/opus anthropic/sonnet anthropic/haiku groq/llama-3.3-70b-versatile groq/llama-3.1-8b-instant groq/qwen/qwen3-32b deepseek/deepseek-reasoner deepseek/deepseek-chat" -- "${cur}"))
                    return 0
                    ;;
                -m)
                    COMPREPLY=($(compgen -W "auto pro flash flash-lite gemini-3.1-pro-preview gemini-3.8-flash gemini-3.5-flash gemini-3.5-flash-lite gemini-3-flash-preview gemini-3.1-flash-lite gemini-2.5-pro gemini-2.5-flash gemini-2.5-flash-lite gemma-4-31b-it gemma-4-26b-a4b-it vertex/gemini-3.1-pro-preview vertex/gemini-3-flash-preview vertex/gemini-3.1-flash-lite vertex/gemini-2.5-pro vertex/gemini-2.5-flash vertex/gemini-2.5-flash-lite code-assist/gemini-3.1-pro-preview code-assist/gemini-3-flash-preview code-assist/gemini-3.1-flash-lite code-assist/gemini-2.5-pro code-assist/gemini-2.5-flash code-assist/gemini-2.5-flash-lite anthropic/opus anthropic/sonnet anthropic/haiku groq/llama-3.3-70b-versatile groq/llama-3.1-8b-instant groq/qwen/qwen3-32b deepseek/deepseek-reasoner deepseek/deepseek-chat" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        pollux__subcmd__sandbox)
            opts="-h --help status run"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        pollux__subcmd__sandbox__subcmd__run)
            opts="-h --level --network --git-config --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --level)
                    COMPREPLY=($(compgen -W "inspect workspace-write protect none" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        pollux__subcmd__sandbox__subcmd__status)
            opts="-h --json --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        pollux__subcmd__skills)
            opts="-h --help list enable disable install link uninstall"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        pollux__subcmd__skills__subcmd__disable)
            opts="-s -d -h --scope --debug --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --scope)
                    COMPREPLY=($(compgen -W "user workspace" -- "${cur}"))
                    return 0
                    ;;
                -s)
                    COMPREPLY=($(compgen -W "user workspace" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        pollux__subcmd__skills__subcmd__enable)
            opts="-d -h --debug --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        pollux__subcmd__skills__subcmd__install)
            opts="-d -h --scope --path --consent --debug --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --scope)
                    COMPREPLY=($(compgen -W "user workspace" -- "${cur}"))
                    return 0
                    ;;
                --path)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        pollux__subcmd__skills__subcmd__link)
            opts="-d -h --scope --consent --debug --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --scope)
                    COMPREPLY=($(compgen -W "user workspace" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        pollux__subcmd__skills__subcmd__list)
            opts="-d -h --all --json --skip-trust --debug --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        pollux__subcmd__skills__subcmd__uninstall)
            opts="-d -h --scope --debug --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --scope)
                    COMPREPLY=($(compgen -W "user workspace" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        pollux__subcmd__trust)
            opts="-h --revoke --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        pollux__subcmd__version)
            opts="-h --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
    esac
}

if [[ "${BASH_VERSINFO[0]}" -eq 4 && "${BASH_VERSINFO[1]}" -ge 4 || "${BASH_VERSINFO[0]}" -gt 4 ]]; then
    complete -F _pollux -o nosort -o bashdefault -o default pollux
else
    complete -F _pollux -o bashdefault -o default pollux
fi
