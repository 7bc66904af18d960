//! The user's own context files as the system instruction has them. They may change while a session runs.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What the model is told of context files. Copies are one and the same: whoever holds one changes it for the session,
/// which looks at the present state with each prompt.
#[derive(Debug, Clone, Default)]
pub struct SharedMemory(Arc<Mutex<Told>>);

#[derive(Debug, Default)]
struct Told {
    /// For the system instruction.
    system: Arc<str>,
    /// For the next prompt.
    news: Option<String>,
}

impl SharedMemory {
    /// From the next request on the system instruction ends with `system`, ready to append and empty without any; the
    /// next prompt begins with `news` of the rest.
    pub fn replace(&self, system: &str, news: Option<String>) {
        let mut told = self.lock();
        if *told.system != *system {
            told.system = system.into();
        }
        let earlier = told.news.take();
        told.news = match (earlier, news) {
            (Some(earlier), Some(news)) => Some(format!("{earlier}\n{news}")),
            (earlier, news) => earlier.or(news),
        };
    }

    /// What the system instruction ends with. The very same text while nothing has changed.
    pub fn system(&self) -> Arc<str> {
        Arc::clone(&self.lock().system)
    }

    /// What the next prompt begins with, once.
    pub(crate) fn take_news(&self) -> Option<String> {
        self.lock().news.take()
    }

    fn lock(&self) -> MutexGuard<'_, Told> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn news_are_told_once_and_none_is_lost() {
        let memory = SharedMemory::default();
        memory.replace("a", Some("one".to_owned()));
        let system = memory.system();
        memory.replace("a", Some("two".to_owned()));
        assert!(Arc::ptr_eq(&system, &memory.system()), "what a vendor has cached stays good");
        memory.replace("b", None);
        assert_eq!(&*memory.system(), "b");
        assert_eq!(memory.take_news().as_deref(), Some("one\ntwo"));
        assert_eq!(memory.take_news(), None);
    }
}
