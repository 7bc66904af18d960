//! `/bug`: a report of a problem.

use async_trait::async_trait;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use pollux_fs::WriteOptions;
use pollux_protocol::{Command, CommandContext, CommandError, Op};
use pollux_session::to_json;

use super::stored::{Stored, blocking, milliseconds};
use crate::platform::node_platform;

/// Address of the form for reports, unless `advanced.bugCommand` names another one.
const FORM: &str =
    concat!(env!("CARGO_PKG_REPOSITORY"), "/issues/new?title={title}&body={problem}%0A%0A{info}");

/// `/bug`.
pub(super) struct Bug(pub(super) Stored);

#[async_trait]
impl Command for Bug {
    fn name(&self) -> &'static str {
        "bug"
    }

    fn description(&self) -> &'static str {
        "report a problem"
    }

    fn arguments(&self) -> Option<&str> {
        Some("TITLE")
    }

    fn needs_user(&self) -> bool {
        true
    }

    async fn run(&self, context: CommandContext) -> Result<Option<Op>, CommandError> {
        let settings = &self.0.setup.loaded.settings;
        let configured = settings.value("advanced.bugCommand");
        let template = configured.and_then(|command| command.get("urlTemplate")?.as_str());
        let address = address(template.unwrap_or(FORM), &context.arguments, &facts(&context))?;
        context.say(format!("To report the problem, open this address:\n\n{address}\n"));
        if let Some(path) = self.export().await? {
            context.say(format!(
                "The conversation is in {path}. Pollux sends it to no one. If it helps, attach it; \
                 it contains everything that the model has received."
            ));
        }
        if self.0.setup.has_browser()
            && let Err(error) = self.0.setup.open_page(&address).await
        {
            context.say(format!("The browser cannot be opened: {error}"));
        }
        Ok(None)
    }
}

impl Bug {
    /// Writes the conversation to a private file. Returns its path; `None` for an empty
    /// conversation.
    async fn export(&self) -> Result<Option<String>, CommandError> {
        let history = self.0.history().await?;
        if history.entries().len() < 2 {
            return Ok(None);
        }
        let name = format!("bug-report-history-{}.json", milliseconds());
        let path = self.0.setup.project.temporary_dir.join(name);
        blocking(move || {
            let text = to_json(&history);
            pollux_fs::write_atomic(&path, text.as_bytes(), &WriteOptions::private())?;
            Ok(Some(path.display().to_string()))
        })
        .await
    }
}

/// Returns the facts about the program for a report.
fn facts(context: &CommandContext) -> String {
    let (version, system) = (env!("CARGO_PKG_VERSION"), node_platform());
    let architecture = std::env::consts::ARCH;
    format!(
        "* **Version:** Pollux {version}\n* **Platform:** {system} {architecture}\n\
         * **Session ID:** {}\n* **Model:** {}\n",
        context.session.session, context.session.model
    )
}

/// Fills in the address of a form.
///
/// # Errors
/// The message about an address that is not one of the web.
fn address(template: &str, title: &str, info: &str) -> Result<String, CommandError> {
    if !["https://", "http://"].iter().any(|scheme| template.starts_with(scheme)) {
        let message = format!("advanced.bugCommand is not an address of the web: {template}");
        return Err(CommandError(message));
    }
    let encoded = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
    let (title, info) = (encoded(title.trim()), encoded(info));
    // What is filled in has no braces, so that no placeholder is replaced twice.
    Ok(template.replace("{title}", &title).replace("{problem}", &title).replace("{info}", &info))
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn the_address_has_encoded_facts() {
        let filled = address("https://a.b/n?t={title}&i={info}", "it {info} & fails", "v 1\n");
        assert_eq!(filled.unwrap(), "https://a.b/n?t=it%20%7Binfo%7D%20%26%20fails&i=v%201%0A");
        assert!(address(FORM, "x", "y").unwrap().starts_with("https://github.com/"));
        for template in ["file:///etc/passwd", "javascript:alert(1)", "", "a {title}"] {
            assert!(address(template, "x", "y").is_err(), "{template}");
        }
    }
}
