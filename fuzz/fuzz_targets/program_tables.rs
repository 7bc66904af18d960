//! Tables of programs: a damaged one is refused as a whole, and never panics.

#![no_main]

use libfuzzer_sys::fuzz_target;
use pollux_shell::command_line::check_table;

fuzz_target!(|text: &str| {
    check_table(text).ok();
});
