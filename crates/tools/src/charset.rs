//! Character encoding of a page.
//!
//! The order of precedence is that of the HTML standard: byte order mark, server, page. Without any
//! of these, valid UTF-8 is read as UTF-8, and other bytes are analysed by a detector.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::Encoding;

/// Number of bytes at the start of a page that are searched for its encoding.
const PRESCAN: usize = 1024;

/// Number of bytes that the detector analyses.
const DETECTED: usize = 256 * 1024;

/// Decodes a page. `charset` is the encoding that the server names. Bytes that are not characters
/// become U+FFFD.
pub(crate) fn decode(bytes: &[u8], charset: Option<&str>) -> String {
    let named = charset.and_then(|label| Encoding::for_label(label.trim().as_bytes()));
    let encoding = Encoding::for_bom(bytes)
        .map(|(encoding, _)| encoding)
        .or(named)
        .or_else(|| declared(bytes))
        .or_else(|| std::str::from_utf8(bytes).is_ok().then_some(encoding_rs::UTF_8))
        .unwrap_or_else(|| detected(bytes));
    // `decode` also looks for a byte order mark and lets it override the encoding, but that is the
    // first choice above anyway.
    encoding.decode(bytes).0.into_owned()
}

/// Returns the encoding that the page declares: `<meta charset=…>`, or the same within a
/// `content`, or an XML declaration.
fn declared(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = bytes[..bytes.len().min(PRESCAN)].to_ascii_lowercase();
    let head = String::from_utf8_lossy(&head);
    let tags = head.split('<').filter(|tag| tag.starts_with("meta") || tag.starts_with("?xml"));
    let mut labels = tags.filter_map(|tag| {
        let tag = tag.split('>').next()?;
        let after = ["charset", "encoding"].into_iter().find_map(|key| tag.split_once(key))?.1;
        let value = after.trim_start().strip_prefix('=')?.trim_start();
        let value = value.trim_start_matches(['"', '\'']);
        let end = value.find(|one: char| one.is_ascii_whitespace() || "\"';/>?".contains(one));
        Encoding::for_label(&value.as_bytes()[..end.unwrap_or(value.len())])
    });
    // A page whose declaration could be read as bytes is not in UTF-16; the standard uses UTF-8
    // then.
    let utf_16 =
        |encoding: &Encoding| [encoding_rs::UTF_16LE, encoding_rs::UTF_16BE].contains(&encoding);
    labels.next().map(|found| if utf_16(found) { encoding_rs::UTF_8 } else { found })
}

fn detected(bytes: &[u8]) -> &'static Encoding {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(&bytes[..bytes.len().min(DETECTED)], bytes.len() <= DETECTED);
    detector.guess(None, Utf8Detection::Allow)
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn marks_servers_and_pages_say_so() {
        let sjis = |text: &str| encoding_rs::SHIFT_JIS.encode(text).0.into_owned();
        let in_page = |head: &str, text: &str| [head.as_bytes(), &sjis(text)].concat();
        let table: [(&[u8], Option<&str>, &str); 12] = [
            (b"caf\xe9", Some("ISO-8859-1"), "café"),
            (b"caf\xe9", Some("nonsense"), "café"),
            ("café".as_bytes(), None, "café"),
            (b"\xef\xbb\xbfcaf\xc3\xa9", Some("iso-8859-1"), "café"),
            (b"\xff\xfea\0b\0", Some("utf-8"), "ab"),
            (b"\xfe\xff\0a\0b", None, "ab"),
            (b"\x93\xfa\x96\x7b", Some("Shift_JIS"), "日本"),
            (
                &in_page("<META charset='shift_jis'>", "日本"),
                None,
                "<META charset='shift_jis'>日本",
            ),
            (
                &in_page("<meta http-equiv=x content=\"text/html; charset=Shift_JIS\">", "日"),
                None,
                "<meta http-equiv=x content=\"text/html; charset=Shift_JIS\">日",
            ),
            (
                &in_page("<?xml version='1.0' encoding='Shift_JIS'?>", "日"),
                None,
                "<?xml version='1.0' encoding='Shift_JIS'?>日",
            ),
            (b"<meta charset=utf-16>\xc3\xa9", None, "<meta charset=utf-16>\u{e9}"),
            (b"a\xffb", Some("utf-8"), "a\u{fffd}b"),
        ];
        for (bytes, charset, expected) in table {
            assert_eq!(decode(bytes, charset), expected, "{charset:?}");
        }
    }

    #[test]
    fn a_page_that_says_nothing_is_looked_at() {
        let text = "これは日本語の文章です。文字コードを判定します。".repeat(5);
        let (bytes, _, _) = encoding_rs::EUC_JP.encode(&text);
        assert_eq!(decode(&bytes, None), text);
        assert_eq!(decode(b"", None), "");
    }
}
