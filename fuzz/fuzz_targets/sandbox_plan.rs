//! The plan that a confined process reads: a damaged plan is rejected, never applied in part.

#![no_main]

use libfuzzer_sys::fuzz_target;
use pollux_shell::sandbox::SandboxPlan;

fuzz_target!(|bytes: &[u8]| {
    if let Some(plan) = SandboxPlan::decode(bytes) {
        assert_eq!(SandboxPlan::decode(&plan.encode()).as_ref(), Some(&plan));
    }
});
