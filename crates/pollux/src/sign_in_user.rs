//! The user who signs in to a service.

#![expect(clippy::disallowed_methods, reason = "reads what the user pastes")]

use std::io::{BufRead as _, IsTerminal as _, Read as _};
use std::sync::Mutex;

use async_trait::async_trait;
use pollux_host::{Setup, SignInUser};
use pollux_protocol::plain_text::visible;
use tokio::sync::{Mutex as AsyncMutex, mpsc};

use crate::stderr::stderr_line;

/// Maximum length of a line that the user pastes, in bytes.
const LONGEST_LINE: u64 = 16 << 10;

/// Service that the user signs in to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Topic {
    /// MCP server.
    Server,
    /// Google.
    Google,
}

/// The user at the terminal, or a program that passes on what the user pastes.
pub(crate) struct TerminalUser<'s> {
    setup: &'s Setup,
    topic: Topic,
    /// Lines of standard input.
    lines: AsyncMutex<mpsc::UnboundedReceiver<String>>,
    /// True if the user wants the page to be opened.
    opens: Mutex<bool>,
}

impl<'s> TerminalUser<'s> {
    /// Starts to read what the user pastes.
    pub(crate) fn new(setup: &'s Setup, topic: Topic) -> Self {
        let (sender, lines) = mpsc::unbounded_channel();
        let reading = move || {
            let mut input = std::io::stdin().lock();
            let mut line = String::new();
            // Ends with the program, or with the input.
            while (&mut input).take(LONGEST_LINE).read_line(&mut line).is_ok_and(|count| count > 0)
                && sender.send(line.trim().to_owned()).is_ok()
            {
                line.clear();
            }
        };
        // Without a thread, nothing can be pasted, but the browser still leads to an end.
        drop(std::thread::Builder::new().name("pasted lines".to_owned()).spawn(reading));
        Self { setup, topic, lines: AsyncMutex::new(lines), opens: Mutex::new(false) }
    }

    fn set_opens(&self, opens: bool) {
        *self.opens.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = opens;
    }
}

#[async_trait]
impl SignInUser for TerminalUser<'_> {
    async fn agrees(&self, server: &str, page: &str) -> bool {
        let host = page.split('/').nth(2).unwrap_or_default();
        if self.topic == Topic::Server {
            stderr_line(&format!("Authentication required for MCP Server: '{}.'", visible(server)));
        }
        let is_terminal = std::io::stdin().is_terminal();
        if !is_terminal || !self.setup.has_browser() {
            return true;
        }
        stderr_line(&format!(
            "Open the page of {} in the browser? (y: open it, n: only show its address, q: do not \
             sign in)",
            visible(host)
        ));
        loop {
            let Some(answer) = self.lines.lock().await.recv().await else { return false };
            match answer.to_lowercase().as_str() {
                "" | "y" | "yes" => {
                    self.set_opens(true);
                    return true;
                }
                "n" | "no" => return true,
                "q" | "quit" => return false,
                _ => stderr_line("Type y, n or q, and press Enter."),
            }
        }
    }

    async fn show(&self, page: &str) {
        stderr_line("Sign in on this page:");
        stderr_line("");
        stderr_line(page);
        stderr_line("");
        stderr_line(
            "If the browser cannot reach this machine afterwards, paste its address here, or the \
             code in it, and press Enter.",
        );
        let opens = *self.opens.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if opens && let Err(error) = self.setup.open_page(page).await {
            stderr_line(&format!("The browser cannot be opened: {}", visible(&error)));
        }
    }

    async fn pasted(&self) -> String {
        let mut lines = self.lines.lock().await;
        loop {
            match lines.recv().await {
                Some(line) if line.is_empty() => {}
                Some(line) => return line,
                // The input has ended; the browser may still be redirected.
                None => std::future::pending().await,
            }
        }
    }
}
