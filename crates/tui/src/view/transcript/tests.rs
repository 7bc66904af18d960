use futures::FutureExt;
use pollux_input::{Interaction, TerminalView, WindowSize};
use pollux_protocol::{Event, PromptOutcome};
use pretty_assertions::assert_eq;

use super::super::ROWS;
use super::super::tests::{Agent, Stage};

fn terminal() -> vt100::Parser {
    vt100::Parser::new(ROWS.try_into().unwrap(), 80_u16.try_into().unwrap(), 100)
}

/// Prints bytes as a terminal does whose line feeds also return.
fn process(terminal: &mut vt100::Parser, bytes: &[u8]) {
    terminal.process(String::from_utf8(bytes.to_vec()).unwrap().replace('\n', "\r\n").as_bytes());
}

/// Shows the view on a terminal, and reads the pages that it waits for.
fn show(stage: &mut Stage<'_>, terminal: &mut vt100::Parser) -> String {
    for _ in 0..3 {
        stage.view.frames.change_at_once();
        process(terminal, &stage.view.show());
        let page = stage.view.awaited().page.and_then(FutureExt::now_or_never);
        if let Some(page) = page {
            stage.view.page_read(page);
        }
    }
    terminal.screen().contents()
}

#[test]
fn the_transcript_hides_the_conversation_and_gives_it_back() {
    let agent = Agent::default();
    let mut stage = Stage::new(&agent, 80, ROWS);
    let mut terminal = terminal();
    stage.view.event(&stage.envelope(Event::Text("an answer\n\n".to_owned())));
    let before = show(&mut stage, &mut terminal);
    let cursor = terminal.screen().cursor_position();
    stage.burst("draft");
    stage.burst("\x0f");
    let shown = show(&mut stage, &mut terminal);
    assert!(terminal.screen().alternate_screen() && stage.view.is_full_screen());
    assert!(shown.contains("> what was said") && !shown.contains("an answer"), "{shown}");
    // What happens behind the transcript is shown later, once.
    stage.view.event(&stage.envelope(Event::Text("another answer\n\n".to_owned())));
    stage.view.event(&stage.envelope(Event::PromptEnded(PromptOutcome::Done)));
    assert_eq!(show(&mut stage, &mut terminal), shown);
    stage.burst("q");
    let after = show(&mut stage, &mut terminal);
    assert!(!terminal.screen().alternate_screen() && !stage.view.is_full_screen());
    assert_eq!(after.matches("an answer").count(), 1, "{after}");
    assert_eq!(after.matches("another answer").count(), 1, "{after}");
    assert!(after.contains("> draft") && !after.contains("what was said"), "{after}");
    assert!(before.contains("an answer") && cursor.0 > 0);
}

#[test]
fn a_question_is_announced_and_not_answered() {
    let agent = Agent::default();
    let mut stage = Stage::new(&agent, 80, ROWS);
    let mut terminal = terminal();
    stage.burst("\x0f");
    stage.event(super::super::tests::question("rm -rf /"));
    agent.asked();
    let shown = show(&mut stage, &mut terminal);
    assert!(shown.contains("a question waits"), "{shown}");
    stage.burst("y");
    stage.burst("1");
    stage.burst("\r");
    stage.burst("\x1b");
    assert_eq!(agent.asked(), [""; 0]);
    assert!(show(&mut stage, &mut terminal).contains("rm -rf /"));
}

#[test]
fn the_terminal_gets_its_text_back_at_every_end() {
    let agent = Agent::default();
    let mut stage = Stage::new(&agent, 80, ROWS);
    let mut terminal = terminal();
    stage.burst("\x0f");
    show(&mut stage, &mut terminal);
    // Another program gets the terminal, for example the editor.
    process(&mut terminal, &stage.view.leave());
    assert!(!terminal.screen().alternate_screen());
    stage.view.take_over(WindowSize { columns: 60, rows: Some(20) });
    assert!(show(&mut stage, &mut terminal).contains("what was said"));
    assert!(terminal.screen().alternate_screen());
    stage.view.interrupt();
    show(&mut stage, &mut terminal);
    assert!(!terminal.screen().alternate_screen());
    stage.burst("\x0f");
    show(&mut stage, &mut terminal);
    let last = stage.view.close(pollux_input::ConversationEnd::Signalled(143), None);
    process(&mut terminal, &last);
    assert!(!terminal.screen().alternate_screen());
}
