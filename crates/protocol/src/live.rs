//! Values that change while a session runs.

use std::sync::Arc;

use tokio::sync::watch;

/// Value that can be replaced at any time. Readers get immutable snapshots and can wait for the
/// next one. Clones share the value.
#[derive(Debug)]
pub struct Live<T>(Arc<watch::Sender<Arc<T>>>);

impl<T> Live<T> {
    /// Creates a live value.
    pub fn new(value: T) -> Self {
        Self(Arc::new(watch::Sender::new(Arc::new(value))))
    }

    /// Returns the current snapshot.
    pub fn get(&self) -> Arc<T> {
        Arc::clone(&self.0.borrow())
    }

    /// Replaces the value and returns the previous one.
    pub fn set(&self, value: T) -> Arc<T> {
        self.0.send_replace(Arc::new(value))
    }

    /// Changes the value in place. Earlier snapshots keep their content.
    pub fn update(&self, change: impl FnOnce(&mut T))
    where
        T: Clone,
    {
        self.0.send_modify(|value| change(Arc::make_mut(value)));
    }

    /// Watches for changes from now on.
    pub fn watch(&self) -> LiveWatch<T> {
        LiveWatch(self.0.subscribe())
    }
}

impl<T> Clone for Live<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T: Default> Default for Live<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

/// Receiver of the changes of one [`Live`] value. Changes in quick succession are received as one.
#[derive(Debug)]
pub struct LiveWatch<T>(watch::Receiver<Arc<T>>);

impl<T> LiveWatch<T> {
    /// Waits for the next change and returns the new value. Never returns if the last owner of the
    /// value has dropped it.
    pub async fn changed(&mut self) -> Arc<T> {
        match self.0.changed().await {
            Ok(()) => Arc::clone(&self.0.borrow_and_update()),
            Err(_) => std::future::pending().await,
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    #[test]
    fn snapshots_stay_and_changes_are_seen_once() {
        let live = Live::new(vec![1]);
        let mut watch = live.watch();
        assert!(watch.changed().now_or_never().is_none());
        let before = live.get();
        live.update(|list| list.push(2));
        live.clone().update(|list| list.push(3));
        assert_eq!((&*before, &*live.get()), (&vec![1], &vec![1, 2, 3]));
        assert_eq!(watch.changed().now_or_never().as_deref(), Some(&vec![1, 2, 3]));
        assert!(watch.changed().now_or_never().is_none());
        assert_eq!(*live.set(vec![]), [1, 2, 3]);
    }
}
