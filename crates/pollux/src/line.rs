//! Line mode: a conversation on a terminal, line by line.
//!
//! No cursor is addressed and nothing moves: what is printed stays, in the order in which it happened, which
//! is what a screen reader can follow and a simple terminal can show. [`keys`], [`editor`], [`page`] and
//! [`question`] are pure, [`story`] folds events into lines, [`conversation`] is the state between them, and
//! this file waits: for signals, keys, files and events. Like every frontend it speaks to the agent in
//! `Op`s and `Event`s only. [`agree`] and [`server`] come before all of this: what
//! of the folder may take effect, and who answers when nobody is signed in.

use std::sync::Arc;
use std::time::Duration;

use futures::{FutureExt, StreamExt};
use pollux_agent::Standing;
use pollux_protocol::{Op, Part};
use pollux_session::{PromptLog, recent_prompts};

use crate::assemble::{Assembled, Launch};
use crate::exit::Failure;
use crate::input::Expander;
use crate::memory::Memory;
use crate::sessions::Opened;
use crate::setup::Setup;
use crate::signals::{INTERRUPT, Signals};
use crate::stdout::Stdout;

pub(crate) mod agree;
mod ask;
mod conversation;
mod editor;
mod external_editor;
mod keys;
mod page;
mod question;
mod server;
mod story;
mod survey;
mod terminal;
mod typing;
mod width;

pub(crate) use question::{Lasting, visible};
pub(crate) use terminal::{Typed, restore as restore_terminal};

use conversation::{Conversation, Preparation, Setting, Work};
use external_editor::{Proposal, Workbench};
use page::Page;
use terminal::{Change, Changes, MARK_PASTES, Modes, NO_MARKS};

/// The exit code when the terminal is gone: that of SIGHUP.
const HUNG_UP: u8 = 129;
/// What the last words may take on a terminal that has stopped.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// What is to be done, as far as a greeting says it.
const SHOWN_TODOS: usize = 12;
/// Columns of a terminal that does not tell.
const COLUMNS: u16 = 80;

/// Talks with the person until they end it. `typed` is what is typed, when somebody had to read it before.
/// Gives the exit code.
///
/// # Errors
/// No credentials and no model server that was chosen, or a session log that cannot be written: there is nobody to talk to.
pub(crate) async fn run(
    mut setup: Setup,
    mut opened: Opened,
    typed: Option<Typed>,
    signals: &mut Signals,
) -> Result<u8, Failure> {
    let mut typed = typed.unwrap_or_else(terminal::read);
    if let Some(model) = server::choose(&setup, &mut typed, signals).await? {
        setup.model = model;
    }
    let models = setup.models().await?;
    let (wishes, spending) = (setup.prompt_wishes()?, setup.spending(&opened.figures)?);
    let log = opened.take_log(&setup)?;
    let changes = Changes::listen()
        .map_err(|error| Failure::general(format!("Signals cannot be heard: {error}.")))?;
    signals.be_patient();
    let resumed = !opened.history.is_empty();
    let standing = resumed.then(|| Standing::of(&opened.history));
    let greeting = greeting(&setup, standing.map(|standing| (opened.id.as_str(), standing)));
    let (raw_output, first) = (setup.raw_output(), setup.arguments.prompt_interactive.clone());
    let is_dumb = setup.loaded.environment.get("TERM").is_some_and(|name| name == "dumb");
    let (prepare, lasting) = (preparing(&setup), setup.lasting_permissions());
    let (folder, model) = (setup.cwd.clone(), setup.model.clone());
    let (bench, prompts) = (Workbench::new(&setup), PromptLog::new(&setup.project, &opened.id));
    let Opened { id, history, statistics, .. } = opened;
    let record = Box::new(move |prompt: &str| prompts.record(prompt));
    let earlier = recent_prompts(&setup.project, editor::HISTORY);
    let hooks = setup.hooks(&id, Some(log.path().to_owned()));
    let (memory, collector) = (Arc::new(Memory::read(&setup)), setup.collector(&id));
    let commands = crate::commands::interactive(&setup, &id, &statistics, &hooks, &memory);
    let assembled = setup.start(Launch {
        models,
        log,
        session_id: &id,
        history,
        statistics,
        commands: commands.clone(),
        hooks,
        wishes,
        memory,
        spending,
    });
    let handle = &assembled.handle;
    let auto_memory = collector.map(|it| it.start(assembled.beside.clone(), handle.wishes()));
    let setting = Setting { handle, commands, prepare, record, folder, lasting, model };

    let modes = Modes::enter(!is_dumb);
    let mut page = Page::new(columns(), !modes.raw, raw_output);
    page.line(&greeting);
    let mut conversation = Conversation::new(setting, page);
    conversation.remember(&earlier);
    let mut screen = Screen::new(typed, modes, changes, bench);
    if let Some(prompt) = first.filter(|prompt| !prompt.trim().is_empty()) {
        conversation.first_prompt(prompt);
    }
    let code = screen.talk(&mut conversation, signals).await;
    drop(auto_memory);
    let hint = conversation.spoken || resumed;
    let mut page = conversation.page;
    page.keep_row();
    if code == 0 && hint {
        page.line(&format!("To resume this session: {} --resume {id}", crate::called_as()));
    }
    screen.close(&mut page, assembled).await;
    Ok(code)
}

/// What the conversation is between.
fn greeting(setup: &Setup, resumed: Option<(&str, Standing)>) -> String {
    let (version, model, mode) = (crate::arguments::version(), &setup.model, setup.mode);
    let trust = if setup.loaded.trust.is_trusted() { "trusted" } else { "not trusted" };
    let mut lines = vec![
        format!("Pollux {version}. Model: {model}. Mode: {mode}."),
        format!("Folder: {} ({trust}).", setup.cwd.display()),
        "/help lists the commands. A backslash at the end continues a line. Ctrl-C stops the work, Ctrl-D ends."
            .to_owned(),
    ];
    if let Some((id, standing)) = resumed {
        lines.push(format!("Session {id} goes on."));
        lines.extend(told(standing));
    }
    lines.join("\n")
}

/// Where a conversation that goes on stands.
fn told(standing: Standing) -> impl Iterator<Item = String> {
    let Standing { topic, plan, todos } = standing;
    let topic = topic.map(|topic| format!("Topic: {topic}"));
    let plan = plan.map(|plan| format!("Plan: {plan} (approved)"));
    let more = todos.len().checked_sub(SHOWN_TODOS).filter(|more| *more > 0);
    let todo = |(status, words): (String, String)| format!("  [{status}] {words}");
    topic
        .into_iter()
        .chain(plan)
        .chain(todos.into_iter().take(SHOWN_TODOS).map(todo))
        .chain(more.map(|more| format!("  ... {more} more")))
}

/// Reads what a prompt refers to, beside the loop.
fn preparing(setup: &Setup) -> Box<dyn Fn(String) -> Preparation> {
    let expander = Expander::new(setup, true);
    Box::new(move |prompt| {
        let expander = expander.clone();
        tokio::spawn(async move { expander.expand(&prompt).await })
    })
}

fn columns() -> usize {
    terminal::size().map_or(COLUMNS, |(columns, _)| columns).into()
}

/// The terminal as the loop sees it.
struct Screen {
    out: Stdout,
    typed: Typed,
    modes: Modes,
    changes: Changes,
    bench: Workbench,
    /// Not everything that is on the page has been handed over.
    behind: bool,
    /// It has stopped itself, and is told soon that it goes on.
    stopped: bool,
}

impl Screen {
    fn new(typed: Typed, modes: Modes, changes: Changes, bench: Workbench) -> Self {
        Self { out: Stdout::default(), typed, modes, changes, bench, behind: false, stopped: false }
    }

    /// The loop: waits for whatever comes first, until it is over.
    async fn talk(&mut self, talk: &mut Conversation<'_>, signals: &mut Signals) -> u8 {
        let mut events = talk.events().fuse();
        let mut listening = true;
        if self.modes.raw {
            self.out.push(MARK_PASTES);
        }
        tell_size(talk);
        loop {
            if let Some(code) = talk.over {
                return code;
            }
            if let Some(proposal) = talk.to_edit.take() {
                match self.edit(&proposal, talk, signals).await {
                    Ok(edited) => talk.edited(edited),
                    Err(code) => return code,
                }
            }
            talk.show();
            let bytes = talk.page.take();
            self.behind |= !bytes.is_empty();
            self.out.push(&bytes);
            // While the terminal takes nothing, only signals are heard.
            tokio::select! {
                biased;
                code = signals.next() => match code {
                    INTERRUPT => talk.interrupt(),
                    code => return u8::try_from(code).unwrap_or(1),
                },
                printed = self.out.send(), if self.behind => match printed {
                    Ok(()) => self.behind = false,
                    Err(_) => return HUNG_UP,
                },
                change = self.changes.next() => self.change(change, talk).await,
                bytes = self.typed.recv(), if listening && !self.behind => match bytes {
                    Some(bytes) => talk.typed(&bytes),
                    None if self.modes.raw => return HUNG_UP,
                    None => {
                        listening = false;
                        talk.end_of_input();
                    }
                },
                parts = prepared(&mut talk.work), if !self.behind => talk.prepared(parts),
                event = events.next(), if !self.behind => match event {
                    None => talk.agent_gone(),
                    Some(event) => {
                        talk.event(&event);
                        // What is there already goes out in one write.
                        while let Some(Some(event)) = events.next().now_or_never() {
                            talk.event(&event);
                        }
                    }
                },
            }
        }
    }

    async fn change(&mut self, change: Change, talk: &mut Conversation<'_>) {
        match change {
            Change::Stop => {
                self.give_back(talk).await;
                self.stopped = terminal::stop();
                self.take_over(talk);
            }
            // That of our own stop is known.
            Change::Continue if std::mem::take(&mut self.stopped) => {}
            Change::Continue => self.take_over(talk),
            Change::Resize => {
                talk.page.resize(columns());
                tell_size(talk);
            }
        }
    }

    /// Lends the terminal to the editor; fails with the exit code when a signal ends the program meanwhile.
    async fn edit(
        &mut self,
        proposal: &Proposal,
        talk: &mut Conversation<'_>,
        signals: &mut Signals,
    ) -> Result<Result<Option<String>, String>, u8> {
        self.give_back(talk).await;
        let lent = terminal::lend();
        let bench = self.bench.clone();
        let editing = bench.edit(proposal);
        tokio::pin!(editing);
        let edited = loop {
            tokio::select! {
                biased;
                edited = &mut editing => break edited,
                code = signals.next() => match code {
                    // It is the editor's.
                    INTERRUPT => {}
                    code => return Err(u8::try_from(code).unwrap_or(1)),
                },
                change = self.changes.next() => match change {
                    Change::Stop => self.stopped = terminal::stop(),
                    Change::Continue => self.stopped = false,
                    Change::Resize => {}
                },
            }
        };
        drop(lent);
        self.take_over(talk);
        Ok(edited)
    }

    /// Prints what waits, and gives the terminal its own modes.
    async fn give_back(&mut self, talk: &mut Conversation<'_>) {
        talk.page.keep_row();
        if self.modes.raw {
            self.out.push(NO_MARKS);
        }
        self.out.push(&talk.page.take());
        // A terminal that is gone is noticed by the next line.
        drop(tokio::time::timeout(LAST_WORDS, self.out.finish()).await);
        self.modes.suspend();
    }

    fn take_over(&mut self, talk: &mut Conversation<'_>) {
        self.modes.resume();
        if self.modes.raw {
            self.out.push(MARK_PASTES);
        }
        talk.page.resize(columns());
    }

    /// The last words; then the terminal is given back and the agent ends.
    async fn close(mut self, page: &mut Page, assembled: Assembled) {
        if self.modes.raw {
            self.out.push(NO_MARKS);
        }
        self.out.push(&page.take());
        drop(tokio::time::timeout(LAST_WORDS, self.out.finish()).await);
        drop(self.modes);
        assembled.close().await;
    }
}

/// Programs that run in a terminal of their own get the size of this one.
fn tell_size(talk: &Conversation<'_>) {
    if let Some((columns, rows)) = terminal::size() {
        talk.wish(Op::Resize { columns, rows });
    }
}

/// The end of a prompt's preparation; never resolves without one.
async fn prepared(work: &mut Work) -> Result<Vec<Part>, Failure> {
    match work {
        Work::Preparing { task, .. } => {
            task.await.unwrap_or_else(|error| Err(Failure::general(error.to_string())))
        }
        Work::Idle | Work::Running => std::future::pending().await,
    }
}
