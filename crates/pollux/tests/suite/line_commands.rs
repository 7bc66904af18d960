//! Commands of line mode: completion, what is missing, and the end of a conversation.

use pollux_testkit::{Key, reply};

use super::line::Talk;
use super::stage::Stage;

#[test]
fn arguments_of_commands_are_completed() {
    let talk = Talk::with([]);
    for (typed, completed) in [
        ("/mode pl", "> /mode plan"),
        ("/mode d", "> /mode default"),
        ("/permissions di", "> /permissions distrust"),
        ("/COMPR", "> /compress"),
        ("/compress ", "> /compress undo"),
        ("/summ", "> /summarize"),
        ("/hooks  enable-", "> /hooks enable-all"),
        ("/model gemini-2.5-flash-l", "> /model gemini-2.5-flash-lite"),
    ] {
        talk.terminal.send(typed);
        talk.terminal.send("\t");
        talk.wait_for_text(completed);
        talk.terminal.send_key(Key::Ctrl('c'));
        talk.wait_for_prompt();
    }
    talk.terminal.send("/permissions \t");
    talk.wait_for_text("\n/permissions trust  /permissions distrust  /permissions ask\n");
    talk.terminal.send_key(Key::Ctrl('c'));
    talk.wait_for_prompt();
    talk.end();
}

#[test]
fn a_path_below_folders_is_completed() {
    let stage = Stage::with([reply().text("Read.")]);
    stage.home.project_file("a/b/f99.txt", "");
    stage.home.project_file("a/b/f98.txt", "");
    let talk = Talk::start(stage, |program| program);
    talk.terminal.send("see @F99\t");
    talk.wait_for_text("> see @a/b/f99.txt");
    talk.terminal.send("and @f9\t");
    talk.wait_for_text("\na/b/f98.txt  a/b/f99.txt\n");
    talk.type_line("8.txt");
    talk.wait_for_text("Read.");
    talk.wait_for_prompt();
    talk.end();
}

#[test]
fn commands_that_are_missing_say_so() {
    let talk = Talk::start(Stage::new(), |program| program);
    for (line, message) in [
        ("/mode foo", "Error: There is no mode foo. Modes: default, auto_edit, yolo, plan."),
        ("/model nosuch", "nosuch is not in the list of known models.\nModel: nosuch"),
        ("/mcp list", "No MCP servers configured."),
        ("/mcp auth", "No MCP servers configured with OAuth authentication."),
        ("/mcp auth x", "Error: MCP server 'x' not found."),
        ("/restore", "Set general.checkpointing.enabled."),
        ("/vim", "/vim is not available in this session. It needs the screen."),
        ("/corgi", "/corgi is not a command of Pollux. It is a joke."),
        ("/hlp", "Error: Unknown command: /hlp. Did you mean /help? Type /help for a list."),
        ("/xyzzy", "Error: Unknown command: /xyzzy. Type /help for a list."),
    ] {
        talk.type_line(line);
        talk.wait_for_text(message);
        talk.wait_for_prompt();
    }
    talk.end();
}

#[test]
fn a_plain_exit_ends_the_conversation() {
    for word in ["exit", "quit", " exit "] {
        let talk = Talk::with([]);
        talk.type_line(word);
        talk.over();
    }
}
