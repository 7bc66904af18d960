#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| pollux_fuzz_targets::extension_manifest(bytes));
