//! Files that a call requests in addition to its command (`additional_permissions.fileSystem`).
//! Without a sandbox a command can access them anyway; a request for them still needs approval.

use serde_json::Value;

use crate::checker::CheckerFinding;
use crate::policy::Policy;

impl Policy {
    /// Checks the files that a call requests: a file outside the workspace needs the user's
    /// approval.
    pub fn additional_files(&self, args: &Value) -> CheckerFinding {
        let wanted = args.get("additional_permissions").and_then(|wanted| wanted.get("fileSystem"));
        let listed = ["read", "write"].into_iter().filter_map(|kind| wanted?.get(kind)?.as_array());
        let mut paths = listed.flatten().filter_map(Value::as_str);
        match paths.find(|path| !self.is_inside(&self.real(path))) {
            Some(path) => CheckerFinding::Ask(format!(
                "The call requests access to {path}, outside of the workspace."
            )),
            None => CheckerFinding::ALLOW,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::facts::workspace;
    use crate::{Facts, PolicyFile};

    #[test]
    fn files_outside_of_the_workspace_are_asked_about() {
        let facts = Facts { workspace: workspace(["/p", "/q"]), ..Facts::default() };
        let policy = Policy::new(facts, PolicyFile::default());
        let files = |kind: &str, path: &str| json!({"command": "ls", "additional_permissions": {"fileSystem": {kind: ["a", path]}}});
        for (args, asks) in [
            (json!({"command": "ls"}), false),
            (json!({"additional_permissions": {"network": true}}), false),
            (json!({"additional_permissions": {"fileSystem": {"read": "/etc"}}}), false),
            (files("read", "/p/src"), false),
            (files("write", "/q"), false),
            (files("write", "/p/../etc/passwd"), true),
            (files("read", "/etc/passwd"), true),
            (files("read", "../x"), true),
        ] {
            let finding = policy.additional_files(&args);
            assert_eq!(matches!(finding, CheckerFinding::Ask(_)), asks, "{args}");
        }
    }
}
