//! The plan that a confined process reads: a damaged plan is rejected, never applied in part.

use pollux_shell::sandbox::SandboxPlan;

pub(crate) fn run(bytes: &[u8]) {
    if let Some(plan) = SandboxPlan::decode(bytes) {
        assert_eq!(SandboxPlan::decode(&plan.encode()).as_ref(), Some(&plan));
    }
}
