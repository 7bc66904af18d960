//! Empty counterpart of the Unix code that runs in the child: on Windows a child has no controlling
//! terminal and leads no session.

use std::process::Command;

use crate::sessions::{Owner, SessionKind};

pub(super) fn prepare(
    _command: &mut Command,
    _kind: SessionKind,
    _owner: Owner,
    _inherited: Vec<i32>,
) {
}
