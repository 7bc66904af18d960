//! The conversation on the screen, as the event loop uses it.

use std::sync::Arc;
use std::time::Instant;

use pollux_input::{
    Awaited, ConversationEnd, EditProposal, FilePlace, Interaction, ListAnswer, Unsent, Workload,
    clipboard_sequence,
};
use pollux_protocol::{
    BackgroundCommand, Envelope, Event, Part, Question, SessionsError, TranscriptPage,
};

use super::View;
use super::transcript::Transcript;
use crate::row::Look;

impl<'a> Interaction<'a> for View<'a> {
    fn workload(&mut self) -> &mut Workload<'a> {
        &mut self.workload
    }

    fn awaited(&mut self) -> Awaited<'_, 'a> {
        let completion = self.composer.completion.as_mut();
        let page = self.transcript.as_mut().and_then(Transcript::page);
        let (list, clipboard) = (self.listing.reading(), self.pasting.reading());
        let wake = self.story.colours();
        Awaited { completion, page, list, clipboard, wake, workload: &mut self.workload }
    }

    fn over(&self) -> Option<ConversationEnd> {
        self.over
    }

    fn take_proposal(&mut self) -> Option<EditProposal> {
        self.to_edit.take()
    }

    fn edited(&mut self, edited: Result<Option<String>, String>) {
        self.frames.change_at_once();
        self.take_edited(edited);
    }

    fn take_places(&mut self) -> Option<Vec<FilePlace>> {
        self.transcript.as_mut().and_then(Transcript::take_places)
    }

    fn opened(&mut self, opened: Result<(), String>) {
        self.frames.change_at_once();
        if let (Err(message), Some(transcript)) = (opened, &mut self.transcript) {
            transcript.say(message);
        }
    }

    fn listed(&mut self, answer: Result<ListAnswer, String>) {
        self.frames.change();
        self.take_list(answer);
    }

    fn pasted(&mut self, pasted: Result<String, String>) {
        self.frames.change_at_once();
        self.insert_pasted(pasted);
    }

    fn page_read(&mut self, page: Result<TranscriptPage, SessionsError>) {
        self.frames.change_at_once();
        self.take_page(page);
    }

    fn interrupt(&mut self) {
        self.frames.change_at_once();
        if self.close_transcript() {
            return;
        }
        self.handle_interrupt();
    }

    fn end_of_input(&mut self) {
        self.frames.change_at_once();
        self.close_transcript();
        self.dialog = None;
        self.questions.clear();
        self.end();
    }

    fn message(&mut self, text: &str) {
        self.story.notice(Look::Plain, text);
        self.frames.change();
    }

    fn completed(&mut self, lines: &[String]) {
        self.composer.completed(lines);
        self.frames.change_at_once();
    }

    fn prepared(&mut self, parts: Result<Vec<Part>, SessionsError>) {
        self.frames.change_at_once();
        if let Err(error) = self.workload.prepared(parts) {
            self.story.notice(Look::Red, &format!("x {error}"));
            self.go_on();
        }
    }

    fn event(&mut self, envelope: &Envelope) {
        let Envelope { origin, event } = envelope;
        if matches!(event, Event::CallsFinished(_) | Event::PromptStarted) {
            self.place_links.files_changed();
        }
        let is_beside = self.workload.runs_beside(origin.prompt.as_deref());
        if !(is_beside && matches!(event, Event::PromptEnded(_))) {
            self.story.tell(event, Instant::now());
            // The rows of the call show what a command has printed before it waits.
            if self.command_input.hear(event).is_some() {
                self.keep_draft(Instant::now());
            }
        }
        match event {
            Event::Question(question) => {
                self.questions.push_back(Question::clone(question));
                if self.dialog.is_none() {
                    self.ask_next();
                }
                self.notify_question();
                self.frames.change_at_once();
            }
            Event::ModeChanged(mode) => self.mode = *mode,
            Event::SettingsChanged { changed, .. } => self.settings_changed(changed),
            Event::SwitchRequested(_) => self.is_replaced = true,
            Event::ForInput(text) if self.composer.is_empty() => {
                self.composer.replace(text.clone());
            }
            Event::ForClipboard(text) => self.screen.send(&clipboard_sequence(text)),
            Event::QuestionWithdrawn(id) => self.withdraw(*id),
            Event::CallsFinished(calls) => self.counts.calls += calls.len() as u64,
            Event::Usage(report) => self.counts.tokens += report.usage.all(),
            Event::PromptEnded(_) if self.workload.is_running(origin.prompt.as_deref()) => {
                self.questions.clear();
                self.dialog = None;
                self.go_on();
                self.notify_end();
                self.session.read_branch(&self.folder);
                self.frames.change_at_once();
            }
            _ => {}
        }
        self.tell_transcript(event);
        self.tell_list(event);
        self.frames.change();
    }

    fn background_changed(&mut self, commands: &Arc<Vec<BackgroundCommand>>) {
        self.background = Arc::clone(commands);
        self.panel.take_if(|_| commands.is_empty());
        self.frames.change();
    }

    fn agent_gone(&mut self) {
        let was_asked = self.workload.is_idle();
        if !was_asked {
            let text = "x The agent ended without a result. This is a bug in Pollux.";
            self.story.notice(Look::Red, text);
        }
        let end = if was_asked { ConversationEnd::Finished } else { ConversationEnd::AgentGone };
        self.over = Some(end);
    }

    fn unsent(&mut self) -> Unsent {
        let decoder = std::mem::take(&mut self.keyboard.decoder);
        Unsent { queue: self.workload.take_queue(), draft: self.composer.draft(), decoder }
    }

    fn close(&mut self, end: ConversationEnd, resume: Option<&str>) -> Vec<u8> {
        self.say_goodbye(end, resume)
    }
}
