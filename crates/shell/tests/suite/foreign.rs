//! Children that were started by other code in this program, such as the SDK of a protocol.

use std::path::Path;

use tokio::process::{Child, Command};

use super::{cancelled_after, daemon, end, is_running, number, sh, wait_until_gone};

/// Starts the script in our process group, in a new group and in a new session.
pub(crate) fn start(script: &str) -> [Child; 3] {
    let shell = |command: &mut Command| command.args(["-c", script]).spawn().unwrap();
    [
        shell(&mut Command::new("sh")),
        shell(Command::new("sh").process_group(0)),
        shell(Command::new("setsid").arg("sh")),
    ]
}

#[tokio::test]
async fn they_keep_their_exit_status() {
    let foreign = start("exit 7");
    for child in &foreign {
        // The child is dead, and its exit status has not been taken.
        wait_until_gone(child.id().unwrap()).await;
    }
    // A dead orphan of a command is reaped while these children stay in the table.
    let orphan = daemon(":").await;
    wait_until_gone(orphan).await;
    while Path::new(&format!("/proc/{orphan}")).exists() {
        sh("true").await;
    }
    for mut child in foreign {
        assert_eq!(child.wait().await.unwrap().code(), Some(7));
    }
}

#[tokio::test]
async fn a_daemon_belongs_to_its_own_command() {
    let other = daemon("exec sleep 1000").await;
    let line = "(setsid env -i sh -c 'echo daemon=$$; exec sleep 1000' &); sleep 1000";
    let (outcome, _) = cancelled_after(line, "daemon=").await;
    wait_until_gone(number(&outcome.text(), "daemon")).await;
    assert!(is_running(other));
    end(other);
}
