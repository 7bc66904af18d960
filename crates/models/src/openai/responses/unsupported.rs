//! Additions to requests that not all models and services support. They are left out after the
//! service has refused them, and the request is repeated.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use pollux_protocol::{HistoryEntry, ModelError};

/// Additions to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Extras {
    /// True if a summary of the reasoning is requested.
    pub(super) summary: bool,
    /// True if reasoning is requested in the encrypted form in which it can go back.
    pub(super) encrypted: bool,
}

/// Additions that a model was found not to support.
#[derive(Debug)]
pub(super) struct Unsupported {
    summary: AtomicBool,
    encrypted: AtomicBool,
    /// Serial of the last entry whose reasoning does not go back.
    forgotten: AtomicU64,
}

impl Unsupported {
    /// Creates the state of a model. `reasons` is false if the model is known not to reason.
    pub(super) fn new(reasons: bool) -> Self {
        Self {
            summary: AtomicBool::new(!reasons),
            encrypted: AtomicBool::new(!reasons),
            forgotten: AtomicU64::new(0),
        }
    }

    /// Returns the additions that may be supported.
    pub(super) fn extras(&self) -> Extras {
        let may = |refused: &AtomicBool| !refused.load(Ordering::Relaxed);
        Extras { summary: may(&self.summary), encrypted: may(&self.encrypted) }
    }

    /// Returns the serial of the last entry whose reasoning does not go back.
    pub(super) fn forgotten(&self) -> u64 {
        self.forgotten.load(Ordering::Relaxed)
    }

    /// Learns from the error for a request with these entries. Returns true if the request can be
    /// repeated in another form.
    pub(super) fn learn<'a>(
        &self,
        error: &ModelError,
        entries: impl Iterator<Item = &'a HistoryEntry>,
    ) -> bool {
        let Some(refusal) = error.refusal.as_ref().filter(|refusal| refusal.status == 400) else {
            return false;
        };
        let message = refusal.message.to_ascii_lowercase();
        let says = |words: &str| message.contains(words);
        let is_new = |flag: &AtomicBool| !flag.swap(true, Ordering::Relaxed);
        if refusal.code.as_deref() == Some("invalid_encrypted_content")
            || says("could not be decrypted")
            || (says("encrypted content") && says("could not be verified"))
        {
            // A gateway may have sent the request to another account. New reasoning is fine.
            let last = entries.map(HistoryEntry::serial).max().unwrap_or_default();
            return self.forgotten.fetch_max(last, Ordering::Relaxed) < last;
        }
        if says("encrypted content is not supported")
            || says("reasoning.encrypted_content")
            || says("'include'")
        {
            return is_new(&self.encrypted);
        }
        if says("reasoning.summary") || says("reasoning summaries") || says("'reasoning'") {
            return is_new(&self.summary);
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use pollux_protocol::{Content, ModelErrorKind, Part, VendorRefusal};
    use pretty_assertions::assert_eq;

    use super::*;

    fn refused(status: u16, code: &str, message: &str) -> ModelError {
        let (code, message) = (Some(code.to_owned()), message.to_owned());
        let refusal = Some(VendorRefusal { status, code, message });
        ModelError { refusal, ..ModelError::new(ModelErrorKind::Invalid, "x") }
    }

    fn learned(error: &ModelError) -> (bool, bool, Extras) {
        let unsupported = Unsupported::new(true);
        let [first, second] = [(); 2].map(|()| unsupported.learn(error, std::iter::empty()));
        (first, second, unsupported.extras())
    }

    #[test]
    fn each_addition_is_left_out_once_it_is_refused() {
        let all = Extras { summary: true, encrypted: true };
        for (message, left) in [
            (
                "Unsupported parameter: 'reasoning.summary' is not supported with the 'gpt-4o' model.",
                Extras { summary: false, ..all },
            ),
            (
                "Your organization must be verified to generate reasoning summaries.",
                Extras { summary: false, ..all },
            ),
            ("Unknown parameter: 'reasoning'.", Extras { summary: false, ..all }),
            (
                "Encrypted content is not supported with this model.",
                Extras { encrypted: false, ..all },
            ),
            ("Unknown parameter: 'include'.", Extras { encrypted: false, ..all }),
        ] {
            assert_eq!(learned(&refused(400, "c", message)), (true, false, left), "{message}");
        }
        for error in [
            refused(400, "c", "Invalid schema for function 'x'."),
            refused(401, "c", "Encrypted content is not supported with this model."),
            ModelError::new(ModelErrorKind::Network, "reasoning.summary"),
        ] {
            assert_eq!(learned(&error), (false, false, all), "{error}");
        }
        assert_eq!(Unsupported::new(false).extras(), Extras { summary: false, encrypted: false });
    }

    #[test]
    fn reasoning_that_cannot_be_decrypted_is_not_sent_again() {
        let entry = || HistoryEntry::detached(Content::user(vec![Part::text("hi")]));
        let (first, second) = (entry(), entry());
        let unsupported = Unsupported::new(true);
        let error = refused(400, "invalid_encrypted_content", "x");
        assert!(unsupported.learn(&error, [&*first].into_iter()));
        assert_eq!(unsupported.forgotten(), first.serial());
        assert!(!unsupported.learn(&error, [&*first].into_iter()), "it was not sent");
        let wording = "The encrypted content gAAA could not be verified. Reason: x.";
        let error = refused(400, "c", wording);
        assert!(unsupported.learn(&error, [&*first, &*second].into_iter()));
        assert_eq!(unsupported.forgotten(), second.serial());
    }
}
