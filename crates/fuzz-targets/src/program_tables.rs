//! Tables of programs: a damaged table is rejected as a whole, without a panic.

use pollux_shell::command_line::check_table;

pub(crate) fn run(text: &str) {
    check_table(text).ok();
}
