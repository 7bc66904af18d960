//! The clipboard of the desktop, read with programs that desktops have for it.

use std::time::Duration;

use async_trait::async_trait;
use pollux_config::Environment;
use pollux_protocol::{CancellationToken, Clipboard, ClipboardContent};
use pollux_shell::{ChildSpec, Ended, PipedCommand, PipedOutcome, Program};

/// Maximum size of the content, in bytes.
const LARGEST: usize = 20 << 20;
/// Time limit of each program. The owner of the content may not answer.
const TIMEOUT: Duration = Duration::from_secs(3);
/// Exit code of a shell for a program that does not exist.
const NOT_FOUND: i32 = 127;
/// Formats of images that models take, the first that is offered is read, with their file name
/// extensions.
const IMAGES: [(&str, &str); 4] =
    [("image/png", "png"), ("image/jpeg", "jpg"), ("image/webp", "webp"), ("image/gif", "gif")];

/// Program that reads a clipboard.
struct Reader {
    /// Name, for messages.
    name: &'static str,
    /// Command that lists the offered formats; without one, the image is simply tried.
    formats: Option<&'static str>,
    /// Start of the command that reads an image; the format follows.
    image: &'static str,
    /// Command that reads a text.
    text: &'static str,
}

const WAYLAND: Reader = Reader {
    name: "wl-paste",
    formats: Some("wl-paste --list-types"),
    image: "wl-paste --type",
    text: "wl-paste --no-newline --type text",
};
const X11: Reader = Reader {
    name: "xclip",
    formats: Some("xclip -selection clipboard -out -target TARGETS"),
    image: "xclip -selection clipboard -out -target",
    text: "xclip -selection clipboard -out -target UTF8_STRING",
};
/// Not tested. `pngpaste` comes with Homebrew; the argument after its output is ignored.
const MACOS: Reader =
    Reader { name: "pbpaste", formats: None, image: "pngpaste - #", text: "pbpaste" };

/// The clipboard of the desktop that the environment names.
pub(crate) struct DesktopClipboard {
    environment: Environment,
}

impl DesktopClipboard {
    pub(crate) fn new(environment: Environment) -> Self {
        Self { environment }
    }

    fn reader(&self) -> Option<&'static Reader> {
        let is_set = |name| self.environment.get(name).is_some_and(|value| !value.is_empty());
        if cfg!(target_os = "macos") {
            return Some(&MACOS);
        }
        if is_set("WAYLAND_DISPLAY") {
            return Some(&WAYLAND);
        }
        is_set("DISPLAY").then_some(&X11)
    }

    async fn run(&self, reader: &Reader, script: String) -> Result<Vec<u8>, String> {
        // No project can put a program in the place of these: its folder is not the current one.
        let environment = self.environment.for_children();
        let child = ChildSpec::new(Program::Script(script), "/", environment);
        let command = PipedCommand { child, input: Vec::new(), timeout: TIMEOUT, limit: LARGEST };
        let outcome = pollux_shell::run_piped(command, &CancellationToken::new()).await;
        let PipedOutcome { stdout, stderr, overflowed, exit_code, ended, .. } =
            outcome.map_err(|error| format!("The clipboard cannot be read: {error}."))?;
        let name = reader.name;
        match exit_code {
            _ if ended == Ended::TimedOut => Err(format!("The clipboard did not answer {name}.")),
            _ if overflowed => Err("The clipboard has more than 20 MiB.".to_owned()),
            Some(0) => Ok(stdout),
            Some(NOT_FOUND) => Err(format!("The clipboard is read with {name}. Install it.")),
            _ => {
                let reason = String::from_utf8_lossy(&stderr);
                let reason = reason.trim().lines().next().unwrap_or("it failed").to_owned();
                Err(format!("The clipboard has nothing to paste ({name}: {reason})."))
            }
        }
    }

    async fn image(&self, reader: &Reader) -> Result<Option<ClipboardContent>, String> {
        let (format, extension) = match reader.formats {
            None => IMAGES[0],
            Some(list) => {
                let offered = self.run(reader, list.to_owned()).await?;
                let offered = String::from_utf8_lossy(&offered);
                let is_offered = |(format, _): &&(&str, &str)| {
                    offered.lines().any(|line| line.trim() == *format)
                };
                match IMAGES.iter().find(is_offered) {
                    Some(image) => *image,
                    None => return Ok(None),
                }
            }
        };
        let bytes = match self.run(reader, format!("{} {format}", reader.image)).await {
            Err(_) if reader.formats.is_none() => return Ok(None),
            bytes => bytes?,
        };
        Ok((!bytes.is_empty()).then_some(ClipboardContent::Image { bytes, extension }))
    }
}

#[async_trait]
impl Clipboard for DesktopClipboard {
    async fn read(&self) -> Result<ClipboardContent, String> {
        let Some(reader) = self.reader() else {
            let message = "There is no desktop with a clipboard here: paste with your terminal.";
            return Err(message.to_owned());
        };
        if let Some(image) = self.image(reader).await? {
            return Ok(image);
        }
        let text = self.run(reader, reader.text.to_owned()).await?;
        Ok(ClipboardContent::Text(String::from_utf8_lossy(&text).into_owned()))
    }
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::Path;

    use pretty_assertions::assert_eq;

    use super::*;

    fn program(folder: &Path, name: &str, script: &str) {
        let path = folder.join(name);
        std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    async fn read(programs: &[(&str, &str)], display: &str) -> Result<ClipboardContent, String> {
        let disk = tempfile::tempdir().unwrap();
        for (name, script) in programs {
            program(disk.path(), name, script);
        }
        let path = format!("{}:/usr/bin:/bin", disk.path().display());
        let environment = Environment::from_pairs([("PATH", path.as_str()), (display, "0")]);
        DesktopClipboard::new(environment).read().await
    }

    #[tokio::test]
    async fn images_come_before_texts() {
        let offer = "case \"$*\" in *TARGETS|--list-types) echo text/plain; echo image/jpeg;; \
                     *image/jpeg) printf '\\377\\330';; *) printf words;; esac";
        let image = ClipboardContent::Image { bytes: vec![0xff, 0xd8], extension: "jpg" };
        assert_eq!(read(&[("xclip", offer)], "DISPLAY").await, Ok(image.clone()));
        assert_eq!(read(&[("wl-paste", offer)], "WAYLAND_DISPLAY").await, Ok(image));
        let text = "case \"$*\" in *TARGETS) echo UTF8_STRING;; *) printf words;; esac";
        let words = ClipboardContent::Text("words".to_owned());
        assert_eq!(read(&[("xclip", text)], "DISPLAY").await, Ok(words));
    }

    #[tokio::test]
    async fn each_failure_has_a_message() {
        for (programs, display, expected) in [
            (&[][..], "NO_DISPLAY", "There is no desktop with a clipboard here"),
            (&[("xclip", "exit 127")], "DISPLAY", "The clipboard is read with xclip. Install it."),
            (
                &[("wl-paste", "echo Nothing is copied >&2; exit 1")],
                "WAYLAND_DISPLAY",
                "The clipboard has nothing to paste (wl-paste: Nothing is copied).",
            ),
            (&[("xclip", "sleep 60")], "DISPLAY", "The clipboard did not answer xclip."),
            (
                &[("xclip", "head -c 30000000 /dev/zero")],
                "DISPLAY",
                "The clipboard has more than 20 MiB.",
            ),
        ] {
            let message = read(programs, display).await.unwrap_err();
            assert!(message.starts_with(expected), "{message}");
        }
    }
}
