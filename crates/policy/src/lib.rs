//! May this call run?
//!
//! The answer is a pure function of the call's declared effects, the approval mode and what the
//! settings exclude: no I/O, no clock, no person. Asking a person, when the answer is
//! [`Verdict::Ask`], is the agent's business.

mod decide;
mod exclusions;

pub use decide::{Policy, Query, Verdict};
pub use exclusions::Exclusions;
