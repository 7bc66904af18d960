//! Changes of protected files that the commands of a killed run left.

use pollux_config::Places;
use pollux_config::protected::ProtectedPlaces;
use pollux_protocol::SessionFailure;
use pollux_shell::sandbox::finish_left_behind;

use crate::setup::SetupInput;

/// Reverts the changes, and reports them. Must be called before the settings are read, because a
/// command could have planted them.
///
/// # Errors
/// [`SessionFailure::ChangeNotReverted`] if a change cannot be undone. The next start does not
/// report it again.
pub(crate) fn revert(input: &SetupInput) -> Result<(), SessionFailure> {
    let places = Places::new(&input.environment);
    let protected = ProtectedPlaces::new(&places, &input.environment);
    let left = finish_left_behind(&places.pollux_dir(), &protected);
    let notices = &input.request.notices;
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
