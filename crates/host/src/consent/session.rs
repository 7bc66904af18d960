//! Consent to items of the project that are new or have changed while the session runs.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pollux_config::Accepted;
use pollux_config::consent::{ConsentMode, ConsentStore, ConsentVerdict, EarlierAnswers, decide};
use pollux_protocol::{
    CommandContext, ConsentItem, QuestionChoice, QuestionOutcome, QuestionSubject,
};

use crate::setup::Setup;

/// Items of the project that the user has agreed to, before or during the session.
pub(crate) struct SessionConsent {
    setup: Arc<Setup>,
    accepted: Mutex<Accepted>,
}

impl SessionConsent {
    pub(crate) fn new(setup: &Arc<Setup>) -> Self {
        Self { setup: Arc::clone(setup), accepted: Mutex::new(setup.accepted.clone()) }
    }

    /// Returns the accepted items.
    pub(crate) fn accepted(&self) -> MutexGuard<'_, Accepted> {
        self.accepted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns true if the user agrees to this item: by an answer that is stored, for example by
    /// another session, or when asked.
    ///
    /// # Errors
    /// The message about an answer that cannot be stored.
    pub(crate) async fn agrees_to(
        self: &Arc<Self>,
        item: ConsentItem,
        context: &CommandContext,
    ) -> Result<bool, String> {
        let (this, pinned) = (Arc::clone(self), item.clone());
        let is_stored = tokio::task::spawn_blocking(move || this.take_stored(&pinned)).await;
        Ok(is_stored.map_err(|error| error.to_string())?
            || self.ask_about(vec![item], context).await?)
    }

    /// Accepts an item if the stored answer about exactly its content is yes. Blocks the thread.
    fn take_stored(&self, item: &ConsentItem) -> bool {
        let store = ConsentStore::load(&self.setup.places).ok();
        let pins = store.as_ref().and_then(|store| store.folder(&self.setup.input.request.folder));
        let is_yes = pins.and_then(|pins| pins.answer(item)) == Some(true);
        if is_yes {
            self.accepted().add(item);
        }
        is_yes
    }

    /// Asks the user to agree to all of these items, and stores the answer. Returns false in a
    /// session without a user, and if the user does not agree.
    ///
    /// # Errors
    /// The message about an answer that cannot be stored.
    pub(crate) async fn ask_about(
        &self,
        items: Vec<ConsentItem>,
        context: &CommandContext,
    ) -> Result<bool, String> {
        if !self.setup.is_interactive() {
            return Ok(false);
        }
        let choices = vec![
            QuestionChoice::new(QuestionOutcome::ProceedOnce, "Allow", 'y'),
            QuestionChoice::new(QuestionOutcome::Cancel, "Refuse", 'n'),
        ];
        let subject = QuestionSubject::Consent(items.clone());
        let reply = context.ask(subject, choices, None).await;
        let yes = reply.outcome == QuestionOutcome::ProceedOnce;
        if yes {
            let mut accepted = self.accepted();
            for item in &items {
                accepted.add(item);
            }
        }
        let (places, folder) = (self.setup.places.clone(), self.setup.input.request.folder.clone());
        let stored = tokio::task::spawn_blocking(move || {
            let answers: Vec<_> = items.iter().map(|item| (item, yes)).collect();
            ConsentStore::record(&places, &folder, &answers)
        });
        match stored.await {
            Ok(stored) => stored.map_err(|error| error.to_string())?,
            Err(error) => return Err(error.to_string()),
        }
        Ok(yes)
    }

    /// Returns true if items of the project take effect one by one.
    pub(crate) fn is_by_item(&self) -> bool {
        ConsentMode::from(self.setup.loaded.trust) == ConsentMode::Pinned
    }

    /// Returns those items that the user must be asked about. Blocks the thread.
    pub(crate) fn open(&self, mut items: Vec<ConsentItem>) -> Vec<ConsentItem> {
        items.retain(|item| !self.accepted().accepts(item));
        let store = ConsentStore::load(&self.setup.places);
        let known = EarlierAnswers::of(&store, &self.setup.input.request.folder);
        let mode = ConsentMode::from(self.setup.loaded.trust);
        let verdicts = decide(&items, known, mode, self.setup.is_interactive());
        let mut accepted = self.accepted();
        let mut open = Vec::new();
        for (item, verdict) in items.into_iter().zip(verdicts) {
            match verdict {
                // The user has agreed to exactly this content before.
                ConsentVerdict::Accepted => accepted.add(&item),
                ConsentVerdict::Ask => open.push(item),
                ConsentVerdict::AcceptedAndPinned
                | ConsentVerdict::Refused
                | ConsentVerdict::Unanswered => {}
            }
        }
        open
    }
}
