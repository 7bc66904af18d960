//! Input and terminal of an interactive frontend: the keys, the line that they edit, the questions
//! that they answer, calls as lines of text, and the event loop of a conversation.
//!
//! [`TerminalUser`] owns the terminal: its modes, its input and the job control of the shell. It
//! asks the questions before a session, and then runs the [`Interaction`] of a frontend, which
//! turns keys and events into bytes for the terminal and ops for the agent. The parts of such a
//! frontend are here too: [`KeyDecoder`] turns bytes into keys, [`LineEditor`], [`QuestionSheet`],
//! [`ConsentSheet`], [`Survey`] and [`CommandInput`] are the state of what the user types,
//! [`Workload`] is the current work with its queue, [`LiveLines`] is the output of a running
//! command, and [`narration`] describes calls and their results. These parts are pure, and leave
//! the drawing to the frontend.

#![cfg_attr(test, allow(clippy::disallowed_methods, clippy::disallowed_types))]

mod clipboard;
mod command_input;
mod completion;
mod consent;
mod console;
mod editor;
mod end;
mod event_loop;
mod external_editor;
mod git_branch;
mod keys;
mod linked_file;
mod lists;
mod live_lines;
pub mod narration;
mod notices;
mod operator;
mod output;
mod question;
mod resumed;
mod rows;
mod shortcuts;
mod survey;
mod terminal;
mod terminal_kind;
mod theme_file;
mod tone;
mod user;
mod view;
mod vim;
mod work;
mod wrap;

pub use clipboard::{ClipboardRead, clipboard_sequence};
pub use command_input::{COMMAND_WAITS, CommandInput};
pub use completion::{CompletePath, Completion};
pub use consent::{CONSENT_ANSWERS, ConsentAnswer, ConsentSheet};
pub use editor::{EditOutcome, HISTORY_LINES, LineEditor, SearchMatches};
pub use end::{ConversationEnd, TerminalSignal};
pub use event_loop::{Awaited, Interaction, Unsent};
pub use external_editor::{EditProposal, FilePlace, HAS_EDITOR, Workbench};
pub use git_branch::git_branch;
pub use keys::{
    BACKGROUND_QUERY, InputMode, KEY_COMMANDS, KeyCode, KeyCommand, KeyDecoder, KeyMap, KeyPress,
    KeyProtocol, KeySignal, SIGNAL_KEYS, Stroke, TerminalReport,
};
pub use linked_file::{FindLinked, LinkedFile};
pub use lists::{ListAnswer, ListRead, ListRequest, ReadList};
pub use live_lines::LiveLines;
pub use output::{Broken, Stdout};
pub use pollux_config::KeyBinding;
pub use pollux_fs::memory_in_use;
pub use question::{QuestionSheet, SheetDecision, SheetExtent, is_about_call, is_words};
pub use resumed::{LastMessages, resumed_lines, resumed_state_lines};
pub use rows::{CONTINUED_LABEL, InputRows, RowLabels, text_width};
pub use shortcuts::{ShortcutsCommand, listed_keys};
pub use survey::{Survey, SurveyAnswer, SurveyItem, SurveyStep};
pub use terminal::{TypedBytes, WindowSize, columns, restore as restore_terminal};
pub use terminal_kind::{ColourDepth, Multiplexer, TerminalKind};
pub use theme_file::{is_theme_file, read_theme_file};
pub use tone::{Tone, TonedLine};
pub use user::{Begin, DescribeFailure, Opening, PageRead, ReadPage, TerminalUser, UserOptions};
pub use view::{QuestionView, ShowQuestion, TerminalView};
pub use vim::{Vim, VimMode};
pub use work::{
    Preparation, Prepare, StopResult, Submission, WorkKind, Workload, is_command, is_prompt,
};
pub use wrap::{WordWrap, rows_of};
