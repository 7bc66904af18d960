use std::time::{Duration, Instant};

use pretty_assertions::assert_eq;

use super::*;

fn markdown(page: &str) -> String {
    html_to_markdown(page, &MarkdownOptions { links: None, limit: 1 << 20 })
}

fn linked(page: &str) -> String {
    let links = Some(Url::parse("https://a.example/dir/page").unwrap());
    html_to_markdown(page, &MarkdownOptions { links, limit: 1 << 20 })
}

#[test]
fn the_usual_elements() {
    let table = [
        ("<h1>Head</h1><p>One  <b>bold</b>\n word<br>two</p>", "# Head\n\nOne **bold** word\ntwo"),
        ("<p>a</p><p>b</p>c<div>d</div>e", "a\n\nb\n\nc\nd\ne"),
        ("<ul><li>a<li>b<ul><li>c</ul></ul>after", "- a\n- b\n  - c\n\nafter"),
        ("<ol start=3><li><p>a</p><p>b</p></li><li>c</ol>", "3. a\n\n  b\n\n4. c"),
        ("<ul><li></li><li> </ul>x", "x"),
        ("<blockquote><p>a</p><p>b</p></blockquote>c", "> a\n>\n> b\n\nc"),
        ("x<pre>  code\n   <b>y</b>\n</pre>z", "x\n\n```\n  code\n   y\n```\n\nz"),
        ("<table><tr><th>A<th>B<tr><td>1<td><p>2</p></table>c", "A | B\n--- | ---\n1 | 2\n\nc"),
        ("a <i> b </i> c<em></em> <code>d</code>", "a *b* c `d`"),
        ("a<b>b<p>c</b>d", "a**b**\n\ncd"),
        ("<b>a<i>b</b>c</i>", "**a*b***c"),
        (
            "a&nbsp;b &amp; &lt;c&gt; &copy; &#233; &#x1F600; &unknown; &",
            "a b & <c> © é 😀 &unknown; &",
        ),
        ("<script>no</script><style>no</style>a<svg><text>no</text></svg><svg/>b", "ab"),
        ("<!-- no -->a<!doctype html>b", "ab"),
        ("<title>T &amp; U</title><h1>Other</h1>", "T & U\n\n# Other"),
        ("<title>Same</title><h1>Same thing</h1>", "# Same thing"),
        ("a<hr>b", "a\n\n---\n\nb"),
        ("<p>日本語<b>太字</b>です", "日本語**太字**です"),
        ("</p></ul></li></b></td>a", "a"),
        ("", ""),
    ];
    for (page, expected) in table {
        assert_eq!(markdown(page), expected, "{page}");
    }
}

#[test]
fn links_and_images_are_kept_only_where_they_are_wanted() {
    let page = "see <a href='/x?a=1&amp;b'>the <b>link</b></a>, <a href=\"javascript:x()\">no</a> \
                <a href='https://b.example/'>https://b.example/</a> <a href='#'></a><img src=i.png alt='a  b'>";
    assert_eq!(markdown(page), "see the **link**, no https://b.example/");
    assert_eq!(
        linked(page),
        "see [the **link**](https://a.example/x?a=1&b), no https://b.example/ ![a b](https://a.example/dir/i.png)"
    );
}

#[test]
fn a_page_is_cut_at_the_limit() {
    let options = MarkdownOptions { links: None, limit: 1000 };
    let text = html_to_markdown(&"<p>word</p>".repeat(100_000), &options);
    assert!((1000..1100).contains(&text.len()), "{}", text.len());
}

/// Returns pages of about this size that are deep, wide or unfinished.
fn hostile_pages(size: usize) -> Vec<String> {
    let repeated = |piece: &str| piece.repeat(size / piece.len());
    let attributes: Vec<String> = (0..size / 9).map(|number| format!("a{number}=1")).collect();
    vec![
        repeated("<div>"),
        repeated("<b><div></b>x"),
        repeated("<b><i><u><font color=x>") + &repeated("<p>x"),
        repeated("<ul><li>") + "x",
        repeated("<ol><li>x"),
        repeated("<blockquote>") + &repeated("x<p>"),
        repeated("<table><tr><td>"),
        format!("<table>{}", repeated("x<b>")),
        format!("<a {}>x", repeated("a=1 ")),
        format!("<a {}>x", attributes.join(" ")),
        format!("<a href={}>x</a>", repeated("x")),
        repeated("<a href=x>"),
        repeated("<a href=x>x"),
        repeated("<a x=\""),
        repeated("<a x='\""),
        format!("<a {}", repeated("= \"")),
        repeated("<!--"),
        repeated("<![CDATA["),
        repeated("<script></"),
        repeated("<svg>") + &repeated("</svg>"),
        repeated("&"),
        repeated("&amp"),
        repeated("<"),
        repeated("</"),
        repeated(" "),
        repeated("<br>") + "x",
        repeated("<th>") + "</tr>x",
        repeated("<pre>"),
        repeated("<b></b>"),
    ]
}

/// Converts a page and returns the time that this took.
fn duration(page: &str) -> Duration {
    let options =
        MarkdownOptions { links: Some(Url::parse("https://a.example/").unwrap()), limit: 64 << 20 };
    let start = Instant::now();
    let text = html_to_markdown(page, &options);
    let took = start.elapsed();
    assert!(text.len() <= 20 * page.len(), "{page:.40}: {} bytes", text.len());
    took
}

/// A page that is 16 times as long takes 16 times as long; quadratic work would take 256 times as
/// long. The stack is too small for a recursion over nested elements.
#[test]
fn hostile_pages_take_time_and_memory_in_proportion_to_their_size() {
    let _alone = pollux_testkit::timed_test();
    let compare = || {
        for (small, big) in hostile_pages(1 << 16).iter().zip(&hostile_pages(1 << 20)) {
            // A busy machine can delay one of two measurements, but not the same one each time.
            let is_linear = |_| {
                let (short, long) = (duration(small), duration(big));
                long < 64 * short + Duration::from_millis(100)
            };
            assert!((0..5).any(is_linear), "{big:.40}");
        }
    };
    std::thread::Builder::new().stack_size(128 << 10).spawn(compare).unwrap().join().unwrap();
}

proptest::proptest! {
    #[test]
    fn every_word_survives_among_any_tags(
        pieces in proptest::collection::vec(0_usize..40, 0..60)
    ) {
        const TAGS: [&str; 30] = [
            "<p>", "</p>", "<div class='a>b'>", "</div>", "<b>", "</b>", "<em>", "</em>", "<code>",
            "</code>", "<h2>", "</h2>", "<ul>", "</ul>", "<ol start=7>", "</ol>", "<li>", "</li>",
            "<blockquote>", "</blockquote>", "<table>", "</table>", "<tr>", "<td>", "<th>", "<br>",
            "<pre>", "</pre>", "<script>no</script>", "<!-- no -->",
        ];
        let word = |number: usize| format!("w{number}x");
        let piece = |(number, kind): (usize, &usize)| {
            TAGS.get(*kind).map_or_else(|| word(number), |tag| (*tag).to_owned())
        };
        let page: String = pieces.iter().enumerate().map(piece).collect();
        let text = markdown(&page);
        proptest::prop_assert!(!text.contains('<') && !text.contains("no"), "{}", text);
        let mut rest = text.as_str();
        let words = pieces.iter().enumerate().filter(|(_, kind)| TAGS.get(**kind).is_none());
        for (number, _) in words {
            let at = rest.find(&word(number));
            proptest::prop_assert!(at.is_some(), "{} in {}", word(number), text);
            rest = &rest[at.unwrap_or_default()..];
        }
    }
}
