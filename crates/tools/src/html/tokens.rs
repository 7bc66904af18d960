//! Splits HTML into tags and text. Every input is valid; everything that is not a tag is text.

/// Maximum number of attributes of a tag that are read; real tags have fewer.
const MOST_ATTRIBUTES: usize = 64;

/// Elements whose content is not markup.
const RAW: [&str; 9] =
    ["script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes", "plaintext"];

/// A piece of a page.
#[derive(Debug, PartialEq)]
pub(super) enum Token<'a> {
    /// Text between tags, with entities not decoded.
    Text(&'a str),
    /// A tag that begins an element.
    Start(Tag<'a>),
    /// A tag that ends an element, with its name in lower case.
    End(String),
}

/// A tag that begins an element.
#[derive(Debug, PartialEq)]
pub(super) struct Tag<'a> {
    /// Name of the element, in lower case.
    pub(super) name: String,
    attributes: &'a str,
}

impl<'a> Tag<'a> {
    /// Returns true if the tag also ends the element: `<svg/>`.
    pub(super) fn is_closed(&self) -> bool {
        self.attributes.ends_with('/')
    }

    /// Returns the value of an attribute, with entities not decoded.
    pub(super) fn attribute(&self, wanted: &str) -> Option<&'a str> {
        let mut rest = self.attributes;
        for _ in 0..MOST_ATTRIBUTES {
            rest = rest.trim_start_matches(|one: char| one.is_ascii_whitespace() || one == '/');
            if rest.is_empty() {
                return None;
            }
            // The first character always belongs to the name.
            let first = rest.chars().next().map_or(0, char::len_utf8);
            let end =
                rest[first..].find(|one: char| one.is_ascii_whitespace() || "=/".contains(one));
            let (name, after) = rest.split_at(end.map_or(rest.len(), |end| first + end));
            let (value, after) = value(after);
            if name.eq_ignore_ascii_case(wanted) {
                return Some(value);
            }
            rest = after;
        }
        None
    }
}

/// Returns the value of an attribute, empty if it has none, and the text after it.
fn value(text: &str) -> (&str, &str) {
    let Some(after) = text.trim_ascii_start().strip_prefix('=') else { return ("", text) };
    let after = after.trim_ascii_start();
    for quote in ['"', '\''] {
        if let Some(inner) = after.strip_prefix(quote) {
            return inner.split_once(quote).unwrap_or((inner, ""));
        }
    }
    let end = after.find(|one: char| one.is_ascii_whitespace()).unwrap_or(after.len());
    after.split_at(end)
}

/// The tokens of a page, in order.
pub(super) struct Tokens<'a> {
    rest: &'a str,
    /// Element that contains the following text, up to its end tag.
    raw: Option<String>,
}

impl<'a> Tokens<'a> {
    pub(super) fn new(page: &'a str) -> Self {
        Self { rest: page, raw: None }
    }

    fn take(&mut self, bytes: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(bytes);
        self.rest = rest;
        taken
    }

    /// Reads a tag if one begins here.
    fn tag(&mut self) -> Option<Token<'a>> {
        let after = self.rest.strip_prefix('<')?;
        let (is_end, after) = after.strip_prefix('/').map_or((false, after), |after| (true, after));
        if !after.starts_with(|one: char| one.is_ascii_alphabetic()) {
            return None;
        }
        let name = after.find(|one: char| one.is_ascii_whitespace() || "/>".contains(one));
        let (name, after) = after.split_at(name.unwrap_or(after.len()));
        let length = tag_end(after);
        let attributes = &after[..length];
        self.rest = after[length..].strip_prefix('>').unwrap_or("");
        let name = name.to_ascii_lowercase();
        if is_end {
            return Some(Token::End(name));
        }
        if RAW.contains(&name.as_str()) && !attributes.ends_with('/') {
            self.raw = Some(name.clone());
        }
        Some(Token::Start(Tag { name, attributes }))
    }

    /// Skips a comment, a declaration or an instruction if one begins here.
    fn skip_comment(&mut self) -> bool {
        let end = if let Some(comment) = self.rest.strip_prefix("<!--") {
            // `<!-->` and `<!--->` are complete comments.
            let short = ["->", ">"].into_iter().find(|end| comment.starts_with(end));
            match short {
                Some(end) => Some(4 + end.len()),
                None => comment.find("-->").map(|at| 4 + at + 3),
            }
        } else if let Some(data) = self.rest.strip_prefix("<![CDATA[") {
            data.find("]]>").map(|at| 9 + at + 3)
        } else if ["<!", "<?", "</"].iter().any(|start| self.rest.starts_with(start)) {
            self.rest.find('>').map(|at| at + 1)
        } else {
            return false;
        };
        self.take(end.unwrap_or(self.rest.len()));
        true
    }

    /// Reads the content of an element that contains no markup, up to its end tag.
    fn raw_text(&mut self, name: &str) -> &'a str {
        let mut from = 0;
        while let Some(at) = self.rest[from..].find("</") {
            let start = from + at;
            let tag = &self.rest[start + 2..];
            let ends = tag.get(..name.len()).is_some_and(|found| found.eq_ignore_ascii_case(name))
                && !tag[name.len()..].starts_with(|one: char| one.is_ascii_alphanumeric());
            if ends {
                return self.take(start);
            }
            from = start + 2;
        }
        self.take(self.rest.len())
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        if let Some(name) = self.raw.take() {
            return Some(Token::Text(self.raw_text(&name)));
        }
        while !self.rest.is_empty() {
            if !self.rest.starts_with('<') {
                let end = self.rest.find('<').unwrap_or(self.rest.len());
                return Some(Token::Text(self.take(end)));
            }
            if let Some(tag) = self.tag() {
                return Some(tag);
            }
            if !self.skip_comment() {
                // A single `<` is text, and the text after it is scanned again.
                return Some(Token::Text(self.take(1)));
            }
        }
        None
    }
}

/// Returns the end of a tag: the first `>` outside quotes. Quotes that are never closed are
/// ignored.
fn tag_end(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'>' => return at,
            quote @ (b'"' | b'\'') if follows_equals(&bytes[..at]) => {
                match bytes[at + 1..].iter().position(|byte| *byte == quote) {
                    Some(length) => at += length + 2,
                    None => {
                        return bytes.iter().position(|byte| *byte == b'>').unwrap_or(bytes.len());
                    }
                }
            }
            _ => at += 1,
        }
    }
    bytes.len()
}

fn follows_equals(before: &[u8]) -> bool {
    before.trim_ascii_end().last() == Some(&b'=')
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn shown(page: &str) -> Vec<String> {
        let shown = Tokens::new(page).map(|token| match token {
            Token::Text(text) => text.to_owned(),
            Token::Start(tag) => {
                let href = tag.attribute("href");
                href.map_or(format!("<{}>", tag.name), |href| format!("<{} {href}>", tag.name))
            }
            Token::End(name) => format!("</{name}>"),
        });
        shown.collect()
    }

    #[test]
    fn tags_text_and_what_is_neither() {
        let table: [(&str, &[&str]); 20] = [
            ("a<b>c</b>", &["a", "<b>", "c", "</b>"]),
            ("<A HREF='x>y' class=z>t</A >", &["<a x>y>", "t", "</a>"]),
            ("<a class=\"x\" href = q/>t", &["<a q/>", "t"]),
            ("<a é=1 href=é>", &["<a é>"]),
            ("<a =href=x href=y>", &["<a y>"]),
            ("<a href>", &["<a >"]),
            ("<a title=\"no end>t</a>", &["<a>", "t", "</a>"]),
            ("1 < 2 <3", &["1 ", "<", " 2 ", "<", "3"]),
            ("<!-- <b> -->x<!doctype html><?xml?>y</ z>", &["x", "y"]),
            ("<!-->x<!--->y<!-- no end", &["x", "y"]),
            ("<![CDATA[ <b> ]]>x", &["x"]),
            (
                "<script>if (a<b) '</scripty>'</SCRIPT >x",
                &["<script>", "if (a<b) '</scripty>'", "</script>", "x"],
            ),
            ("<style>b{} no end", &["<style>", "b{} no end"]),
            ("<title>a<b></title>", &["<title>", "a<b>", "</title>"]),
            ("<script/>x", &["<script>", "x"]),
            ("<", &["<"]),
            ("</", &[]),
            ("<b", &["<b>"]),
            ("</script>é</textaré", &["</script>", "é", "</textaré>"]),
            ("<textarea></textaré", &["<textarea>", "</textaré"]),
        ];
        for (page, expected) in table {
            assert_eq!(shown(page), expected, "{page}");
        }
    }
}
