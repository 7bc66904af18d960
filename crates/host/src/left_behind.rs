//! Changes of protected files that the commands of a killed run left.

use pollux_config::protected::ProtectedPlaces;
use pollux_config::{Environment, Places};
use pollux_protocol::{Notices, SessionFailure};
use pollux_shell::sandbox::finish_left_behind;

/// Reverts the changes of protected files that the commands of a killed run left, and reports them.
/// [`Host`](crate::Host) does so at the start of a session. Other code that runs programs from the
/// settings must call it before it reads them, because a command could have planted them. Blocks.
///
/// # Errors
/// [`SessionFailure::ChangeNotReverted`] if a change cannot be undone. The next start does not
/// report it again.
pub fn revert_left_behind(
    environment: &Environment,
    notices: &dyn Notices,
) -> Result<(), SessionFailure> {
    let places = Places::new(environment);
    let protected = ProtectedPlaces::new(&places, environment);
    let left = finish_left_behind(&places.pollux_dir(), &protected);
    left.problems.iter().for_each(|problem| notices.warning(problem));
    let mut lasting = Vec::new();
    for change in &left.changes {
        match change.error {
            None => notices.warning(&format!(
                "A run of Pollux was killed. Confinement reverted a change of one of its commands: {change}"
            )),
            Some(_) => lasting.push(format!(
                "A run of Pollux was killed. One of its commands changed a file that is protected: {change}"
            )),
        }
    }
    if lasting.is_empty() {
        return Ok(());
    }
    Err(SessionFailure::ChangeNotReverted(lasting.join("\n")))
}
