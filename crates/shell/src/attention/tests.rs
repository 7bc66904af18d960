use super::*;

const LINES: Modes = Modes { echo: true, lines: true };
const SECRET: Modes = Modes { echo: false, lines: true };
const KEYS: Modes = Modes { echo: false, lines: false };

#[test]
fn who_waits() {
    use Reading::{Asleep, Blocked, Busy, Unknown};
    use Waits::{Perhaps, Surely};
    let table = [
        (Blocked, None, "", Some(Surely)),
        (Blocked, Some(LINES), "", Some(Surely)),
        (Busy, Some(LINES), "Password:", None),
        (Busy, Some(SECRET), "Password:", None),
        (Asleep, Some(LINES), "Downloading:", None),
        (Asleep, Some(SECRET), "", Some(Surely)),
        (Asleep, Some(KEYS), "", Some(Perhaps)),
        (Asleep, None, "Name:", None),
        // The process of another user, as with sudo.
        (Unknown, Some(SECRET), "[sudo] password for me: ", Some(Surely)),
        (Unknown, Some(LINES), "Go on? [y/N] ", Some(Perhaps)),
        (Unknown, Some(LINES), "Compiling", None),
        (Unknown, Some(KEYS), "", Some(Perhaps)),
        (Unknown, None, "Go on?", None),
    ];
    for (reading, modes, line, expected) in table {
        assert_eq!(waits(Look { reading, modes }, line), expected, "{reading:?} {modes:?} {line}");
    }
}

#[test]
fn lines_that_ask() {
    for line in ["Name: ", "Overwrite?", "(gdb)", "mysql> ", ">>> ", "[y/N] ", "sh-5.2$ ", "root #"]
    {
        assert!(is_prompt(line), "{line}");
    }
    for line in ["", "   ", "done", "Building 3 of 9...", "warning: unused;"] {
        assert!(!is_prompt(line), "{line}");
    }
}
