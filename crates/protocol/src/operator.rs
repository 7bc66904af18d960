//! The person, as the agent sees them.

use async_trait::async_trait;

use crate::{Answer, Confirmation};

/// Something that a folder or an extension brings and that takes effect only after a yes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConsentItem {
    /// What it is, such as `hook` or `MCP server`.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// What it would run or change, in words that a person can judge.
    pub detail: String,
    /// SHA-256 of what was agreed to, in hex: a change asks again.
    pub hash: String,
}

/// Asks the person. A frontend implements it; a run without a person answers no.
#[async_trait]
pub trait Operator: Send + Sync {
    /// May this call run?
    async fn confirm(&self, confirmation: Confirmation) -> Answer;

    /// Which of these? The index, or none when dismissed.
    async fn choose(&self, question: &str, options: &[String]) -> Option<usize>;

    /// Free words; none when dismissed.
    async fn ask(&self, question: &str) -> Option<String>;

    /// May these take effect? One answer for each item, in order.
    async fn consent(&self, items: &[ConsentItem]) -> Vec<bool>;
}
