//! Content of a prompt, from the blocks of the protocol. Pure.

use std::path::{Path, PathBuf};

use agent_client_protocol_schema::v1::{
    ContentBlock, EmbeddedResourceResource, Error, ResourceLink,
};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use pollux_protocol::{Blob, Body, Part};
use url::Url;

use super::errors;

/// Heading above embedded resources, and the line before each of them, as in Gemini CLI.
const HEADING: &str = "\n--- Content from referenced context ---";

/// Maximum number of blocks of a prompt.
const MOST_BLOCKS: usize = 1000;

/// Content of a prompt.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct PromptContent {
    /// Texts, images and audio in the order of the prompt. As in Gemini CLI, each block is a part,
    /// except that `@path`, which stands for a file or a resource, continues the text before it.
    parts: Vec<Part>,
    /// Linked files, whose content is read by the session.
    links: Vec<PathBuf>,
    /// Embedded resources.
    context: Vec<Part>,
    /// Links outside of the workspace that the user has decided about, and the decisions.
    pub(crate) decided: Vec<(PathBuf, bool)>,
}

impl PromptContent {
    /// Reads the blocks of a prompt in a session of `folder`.
    ///
    /// # Errors
    /// Fails for data that is not base64 and media types that cannot be sent to a model: they would
    /// stay in the conversation and make each later request fail.
    pub(crate) fn read(blocks: Vec<ContentBlock>, folder: &Path) -> Result<Self, Error> {
        if blocks.len() > MOST_BLOCKS {
            return Err(errors::unusable(format!("the prompt has more than {MOST_BLOCKS} blocks")));
        }
        let mut content = Self::default();
        for block in blocks {
            match block {
                ContentBlock::Text(text) if text.text.is_empty() => {}
                ContentBlock::Text(text) => content.parts.push(Part::text(text.text)),
                ContentBlock::Image(image) => content.show(media(image.mime_type, image.data)?),
                ContentBlock::Audio(audio) => content.show(media(audio.mime_type, audio.data)?),
                ContentBlock::ResourceLink(link) => content.link(&link, folder),
                ContentBlock::Resource(resource) => content.embed(resource.resource)?,
                _ => return Err(errors::unusable("a content block of an unknown type")),
            }
        }
        if content.parts.is_empty() {
            return Err(errors::unusable("the prompt is empty"));
        }
        Ok(content)
    }

    /// Returns the whole prompt, if it is a text and nothing else.
    pub(crate) fn as_text(&self) -> Option<&str> {
        match &self.parts[..] {
            [part] if self.links.is_empty() && self.context.is_empty() => part.as_text(),
            _ => None,
        }
    }

    /// Returns the text of the prompt as the user sees it.
    pub(crate) fn text(&self) -> String {
        self.parts.iter().filter_map(Part::as_text).collect()
    }

    /// Returns the linked files.
    pub(crate) fn links(&self) -> &[PathBuf] {
        &self.links
    }

    /// Returns the links outside of the workspace that the user has allowed.
    pub(crate) fn allowed(&self) -> Vec<PathBuf> {
        let allowed = self.decided.iter().filter(|(_, is_allowed)| *is_allowed);
        allowed.map(|(path, _)| path.clone()).collect()
    }

    /// Returns a prompt that consists of references to the linked files; `None` without links.
    pub(crate) fn references(&self) -> Option<String> {
        let reference = |path: &PathBuf| match path.to_string_lossy() {
            path if path.contains('"') => format!("@{}", escaped(&path)),
            path => format!("@\"{path}\""),
        };
        let references: Vec<String> = self.links.iter().map(reference).collect();
        (!references.is_empty()).then(|| references.join(" "))
    }

    /// Returns the parts for the model. `expanded` are the parts of the expanded references, of
    /// which the first repeats the references.
    pub(crate) fn into_parts(self, expanded: Vec<Part>) -> Vec<Part> {
        let Self { mut parts, context, .. } = self;
        parts.extend(expanded.into_iter().skip(1));
        if !context.is_empty() {
            parts.push(Part::text(HEADING));
            parts.extend(context);
        }
        parts
    }

    fn refer(&mut self, reference: &str) {
        match self.parts.last_mut() {
            Some(Part { body: Body::Text(last), .. }) => last.push_str(reference),
            _ => self.parts.push(Part::text(reference)),
        }
    }

    fn show(&mut self, blob: Blob) {
        self.parts.push(Part::new(Body::Inline(blob)));
    }

    fn link(&mut self, link: &ResourceLink, folder: &Path) {
        let Some((path, fragment)) = file_of(&link.uri, folder) else {
            return self.parts.push(Part::text(format!("@{}", link.uri)));
        };
        let shown = path.strip_prefix(folder).unwrap_or(&path).display();
        self.refer(&format!("@{shown}{fragment}"));
        if !self.links.contains(&path) {
            self.links.push(path);
        }
    }

    fn embed(&mut self, resource: EmbeddedResourceResource) -> Result<(), Error> {
        let (uri, content) = match resource {
            EmbeddedResourceResource::TextResourceContents(text) => {
                (text.uri, Part::text(text.text))
            }
            EmbeddedResourceResource::BlobResourceContents(blob) => {
                let blob_of = media(blob.mime_type.unwrap_or_default(), blob.blob)?;
                (blob.uri, Part::new(Body::Inline(blob_of)))
            }
            _ => return Err(errors::unusable("an embedded resource of an unknown type")),
        };
        self.refer(&format!("@{uri}"));
        self.context.push(Part::text(format!("\nContent from @{uri}:\n")));
        self.context.push(content);
        Ok(())
    }
}

/// Returns the path of a `file:` link, and its fragment with the `#`, such as `#L10:20`. As in
/// Gemini CLI, a link such as `file://src/a.rs` is relative to the folder.
fn file_of(uri: &str, folder: &Path) -> Option<(PathBuf, String)> {
    let url = Url::parse(uri).ok().filter(|url| url.scheme() == "file")?;
    let fragment = url.fragment().map(|fragment| format!("#{fragment}")).unwrap_or_default();
    if let Ok(path) = url.to_file_path() {
        return Some((path, fragment));
    }
    let below = Url::parse(&format!("file:///{}", uri.strip_prefix("file://")?)).ok()?;
    let below = below.to_file_path().ok()?;
    Some((folder.join(below.strip_prefix("/").ok()?), fragment))
}

/// Returns a path with a backslash before each character that could end it.
fn escaped(path: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "/_-".contains(letter);
    let mut escaped = String::with_capacity(path.len() + 8);
    for letter in path.chars() {
        escaped.extend((!is_plain(letter)).then_some('\\'));
        escaped.push(letter);
    }
    escaped
}

fn media(mime_type: String, data: String) -> Result<Blob, Error> {
    let is_known = ["image/", "audio/", "video/"].iter().any(|kind| mime_type.starts_with(kind))
        || mime_type == "application/pdf";
    if !is_known || !mime_type.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(errors::unusable(format!("data of the type \"{mime_type}\"")));
    }
    if data.is_empty() || STANDARD.decode(&data).is_err() {
        return Err(errors::unusable(format!("data of the type {mime_type} that is not base64")));
    }
    Ok(Blob { mime_type, data: data.into() })
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::{Value, json};

    use super::*;

    fn read(blocks: &Value) -> Result<PromptContent, Error> {
        let blocks = serde_json::from_value(blocks.clone()).unwrap();
        PromptContent::read(blocks, Path::new("/w"))
    }

    fn texts(parts: &[Part]) -> Vec<&str> {
        parts.iter().map(|part| part.as_text().unwrap_or("(media)")).collect()
    }

    #[test]
    fn blocks_keep_their_order() {
        let content = read(&json!([
            {"type": "text", "text": "Compare "},
            {"type": "image", "mimeType": "image/png", "data": "AAAA"},
            {"type": "text", "text": " with "},
            {"type": "resource_link", "name": "a", "uri": "file:///w/src/a%20b.rs#L1:9"},
            {"type": "text", "text": " and "},
            {"type": "resource_link", "name": "x", "uri": "https://x.org/y"},
            {"type": "resource", "resource": {"uri": "zed:///note", "text": "N"}},
        ]))
        .unwrap();
        assert_eq!(content.references().unwrap(), r#"@"/w/src/a b.rs""#);
        let text = " with @src/a b.rs#L1:9 and @https://x.org/y@zed:///note";
        assert_eq!(content.text(), format!("Compare {text}"));
        assert_eq!(content.as_text(), None);
        let parts = content.into_parts(vec![Part::text("@x"), Part::text("FILE")]);
        let context = "\nContent from @zed:///note:\n";
        let parts = texts(&parts);
        assert_eq!(parts[..3], ["Compare ", "(media)", " with @src/a b.rs#L1:9"]);
        assert_eq!(parts[3..5], [" and ", "@https://x.org/y@zed:///note"]);
        assert_eq!(parts[5..], ["FILE", HEADING, context, "N"]);
    }

    #[test]
    fn links_are_absolute_or_relative_to_the_folder() {
        for (uri, expected) in [
            ("file:///w/a.rs", Some("/w/a.rs")),
            ("file://localhost/w/a.rs", Some("/w/a.rs")),
            ("file://Note.txt", Some("/w/Note.txt")),
            ("file://src/a%20b.rs", Some("/w/src/a b.rs")),
            ("file://../../etc/passwd", Some("/w/etc/passwd")),
            ("note.txt", None),
            ("https://x.org/a", None),
        ] {
            let found = file_of(uri, Path::new("/w")).map(|(path, _)| path);
            assert_eq!(found.as_deref(), expected.map(Path::new), "{uri}");
        }
    }

    #[test]
    fn a_text_alone_stays_as_it_is() {
        let content = read(&json!([{"type": "text", "text": "/about @x"}])).unwrap();
        assert_eq!((content.as_text(), content.references()), (Some("/about @x"), None));
        assert_eq!(texts(&content.into_parts(Vec::new())), ["/about @x"]);
    }

    #[test]
    fn content_that_a_vendor_would_refuse_is_refused() {
        let image =
            |kind: &str, data: &str| json!([{"type": "image", "mimeType": kind, "data": data}]);
        for blocks in [
            json!([]),
            json!([{"type": "text", "text": ""}]),
            image("image/png", ""),
            image("image/png", "no base64!"),
            image("text/plain", "AAAA"),
            image("", "AAAA"),
            image("image/png\r\nX: y", "AAAA"),
            json!([{"type": "resource", "resource": {"uri": "x:y", "blob": "AAAA"}}]),
        ] {
            assert!(read(&blocks).is_err(), "{blocks}");
        }
    }

    #[test]
    fn every_path_can_be_referred_to() {
        for (path, expected) in [
            ("/w/a.rs", r#"@"/w/a.rs""#),
            ("/w/a, b; (c).rs", r#"@"/w/a, b; (c).rs""#),
            ("/w/a\"b .rs", r#"@/w/a\"b\ \.rs"#),
        ] {
            let content = PromptContent { links: vec![path.into()], ..PromptContent::default() };
            assert_eq!(content.references().unwrap(), expected);
        }
    }
}
