use async_trait::async_trait;
use futures::FutureExt;

use super::*;
use crate::{CommandContext, CommandError, Op, Part, PromptInput};

struct Named(&'static str, &'static [&'static str]);

#[async_trait]
impl Command for Named {
    fn name(&self) -> &str {
        self.0
    }
    fn aliases(&self) -> &[&str] {
        self.1
    }
    fn description(&self) -> &'static str {
        ""
    }
    async fn complete(&self, partial: &str) -> Vec<String> {
        vec![format!("{partial}...")]
    }
    async fn run(&self, _context: CommandContext) -> Result<Option<Op>, CommandError> {
        Ok(None)
    }
}

fn commands() -> CommandSet {
    CommandSet::new(vec![
        Arc::new(Named("memory", &["m", "sum"])),
        Arc::new(Named("memory show", &[])),
        Arc::new(Named("m", &[])),
    ])
}

#[test]
fn the_longest_name_wins_and_names_beat_aliases() {
    let commands = commands();
    let found = |line| commands.find(line).map(|(command, rest)| (command.name().to_owned(), rest));
    assert_eq!(found("/memory show all"), Some(("memory show".into(), "all")));
    assert_eq!(found("/memory  edit x"), Some(("memory".into(), "edit x")));
    assert_eq!(found("/m"), Some(("m".into(), "")));
    assert_eq!(found("/nosuch x"), None);
    assert_eq!(found("memory"), None);
    assert_eq!(found("/"), None);
}

#[test]
fn names_are_completed_and_then_subcommands_and_arguments() {
    let commands = commands();
    for (line, expected) in [
        ("/me", &["/memory"][..]),
        ("/ME", &["/memory"]),
        ("/", &["/memory", "/m"]),
        ("/m", &["/m", "/memory"]),
        ("/su", &["/sum"]),
        ("/mRy", &["/memory"]),
        ("/ym", &[]),
        ("/memory s", &["/memory show", "/memory s..."]),
        ("/sum  s", &["/memory show", "/sum  s..."]),
        ("/memory show a", &["/memory show a..."]),
        ("/memory show \u{e9} ", &["/memory show \u{e9} ..."]),
        ("memory", &[]),
        ("/nosuch x", &[]),
    ] {
        assert_eq!(commands.complete(line).now_or_never().unwrap(), expected, "{line:?}");
    }
}

struct Prompt(&'static str);

#[async_trait]
impl PromptCommand for Prompt {
    fn name(&self) -> &str {
        self.0
    }
    fn description(&self) -> &'static str {
        ""
    }
    async fn expand(&self, _context: &CommandContext) -> Result<PromptInput, CommandError> {
        Ok(vec![Part::text(self.0)].into())
    }
}

fn prompts_named(names: &[&'static str]) -> Vec<Arc<dyn PromptCommand>> {
    names.iter().map(|name| Arc::new(Prompt(name)) as Arc<dyn PromptCommand>).collect()
}

/// Returns the names of the prompt commands of a set with the built-in commands `help` and `quit`.
fn names(sources: &[(CommandSource, &[&'static str])]) -> Vec<String> {
    let mut set =
        CommandSet::new(vec![Arc::new(Named("help", &[])), Arc::new(Named("quit", &["exit"]))]);
    for (source, names) in sources {
        set.replace_source(source.clone(), prompts_named(names), Vec::new());
    }
    set.iter().skip(2).map(|command| command.name().to_owned()).collect()
}

#[test]
fn prompt_commands_that_clash_are_all_renamed() {
    use CommandSource::{Project, Server, User};
    let server = |name: &str| Server(name.into());
    for (sources, expected) in [
        (vec![(User, &["deploy"][..])], &["deploy"][..]),
        (vec![(User, &["deploy"]), (Project, &["deploy"])], &["user.deploy", "workspace.deploy"]),
        (vec![(server("srv"), &["deploy"]), (User, &["deploy"])], &["srv.deploy", "user.deploy"]),
        (vec![(User, &["help", "exit"])], &["exit", "user.help"]),
        (vec![(User, &["a", "a", "a"])], &["user.a", "user.a1", "user.a2"]),
        (vec![(User, &["help", "user.help"])], &["user.help", "user.help1"]),
        (vec![(server("a"), &["x"]), (server("b"), &["x", "y"])], &["a.x", "b.x", "y"]),
    ] {
        assert_eq!(names(&sources), expected, "{sources:?}");
    }
}

#[test]
fn a_source_is_replaced_as_a_whole_and_new_names_are_reported_once() {
    let mut set = CommandSet::new(vec![Arc::new(Named("help", &[]))]);
    let user = |set: &mut CommandSet, names| {
        let renamed = set.replace_source(CommandSource::User, prompts_named(names), Vec::new());
        renamed.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(
        user(&mut set, &["help", "a"]),
        [
            "User command '/help' was renamed to '/user.help' because it conflicts with built-in command."
        ]
    );
    assert_eq!(user(&mut set, &["help", "b"]), [""; 0]);
    assert!(set.get("a").is_none() && set.get("b").is_some());
    let project = prompts_named(&["b"]);
    let renamed = set.replace_source(CommandSource::Project, project, Vec::new());
    let texts: Vec<String> = renamed.iter().map(ToString::to_string).collect();
    assert_eq!(
        texts,
        [
            "User command '/b' was renamed to '/user.b' because it conflicts with project command.",
            "Project command '/b' was renamed to '/workspace.b' because it conflicts with user command.",
        ]
    );
    assert_eq!(
        set.obstacle("b").unwrap(),
        "/b is ambiguous or reserved. Call it as /user.b or /workspace.b."
    );
    set.replace_source(CommandSource::Project, Vec::new(), Vec::new());
    assert!(set.get("b").is_some() && set.get("workspace.b").is_none());
    assert_eq!((set.obstacle("b"), set.obstacle("help"), set.obstacle("c")), (None, None, None));
}

#[test]
fn names_of_removed_and_missing_commands_stay_reserved() {
    let mut set = CommandSet::new(vec![Arc::new(Named("quit", &[]))]).reserving(["copy"]);
    set.retain_built_in(|command| command.name() != "quit");
    let commands = prompts_named(&["quit", "copy", "own"]);
    set.replace_source(CommandSource::User, commands, vec![("bad".into(), "It is bad.".into())]);
    let names: Vec<&str> = set.iter().map(|command| command.name()).collect();
    assert_eq!(names, ["own", "user.copy", "user.quit"]);
    assert_eq!(set.unknown("bad"), "It is bad.");
    assert_eq!(set.unknown("copy"), "/copy is ambiguous or reserved. Call it as /user.copy.");
    assert_eq!(
        set.unknown("ow"),
        "Unknown command: /ow. Did you mean /own? Type /help for a list."
    );
}

#[test]
fn a_prompt_command_continues_as_a_prompt_under_its_id() {
    let mut set = CommandSet::default();
    set.replace_source(CommandSource::User, prompts_named(&["git:review"]), Vec::new());
    let (command, rest) = set.find("/git:review  the branch ").unwrap();
    let context = CommandContext { name: "git:review".into(), ..context(rest) };
    let Ok(Some(Op::Prompt { id, input })) = command.run(context).now_or_never().unwrap() else {
        panic!("no prompt")
    };
    let parts = vec![Part::text("git:review")];
    assert_eq!(id, "id");
    assert_eq!(input, PromptInput::shown(parts, Some("/git:review the branch".to_owned())));
}

fn context(arguments: &str) -> CommandContext {
    CommandContext {
        id: "id".into(),
        name: String::new(),
        arguments: arguments.to_owned(),
        cancel: crate::CancellationToken::new(),
        ops: Arc::new(drop),
        operator: Arc::new(crate::NoUser),
        calls: Arc::new(NoCalls),
        output: Arc::new(drop),
        session: crate::SessionView {
            session: "session".into(),
            mode: crate::ApprovalMode::Default,
            model: String::new(),
            commands: crate::Live::default(),
        },
    }
}

struct NoCalls;

#[async_trait]
impl crate::CommandCalls for NoCalls {
    async fn run(
        &self,
        _tool: Arc<dyn crate::Tool>,
        _calls: Vec<crate::Args>,
    ) -> Result<Vec<Arc<crate::FinishedCall>>, CommandError> {
        Err(CommandError(String::new()))
    }
}
