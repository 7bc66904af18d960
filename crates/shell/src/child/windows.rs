//! Nothing runs in a child before its program on Windows: it has no terminal to ask on, and no
//! session to lead.

use std::process::Command;

use crate::sessions::{Owner, SessionKind};

pub(super) fn prepare(
    _command: &mut Command,
    _kind: SessionKind,
    _owner: Owner,
    _inherited: Vec<i32>,
) {
}
