//! Tables of programs: a damaged table is rejected as a whole, without a panic.

#![no_main]

use libfuzzer_sys::fuzz_target;
use pollux_shell::command_line::check_table;

fuzz_target!(|text: &str| {
    check_table(text).ok();
});
