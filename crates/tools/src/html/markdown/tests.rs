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

/// Very deep and very wide pages cause no problem, because no tree is built.
#[test]
fn hostile_pages_take_no_more_than_their_size() {
    let pages = [
        "<div>".repeat(300_000),
        "<b><i><u><font color=x>".repeat(60_000) + &"<p>x".repeat(60_000),
        "<ul><li>".repeat(150_000) + "x",
        "<blockquote>".repeat(100_000) + &"x<p>".repeat(100_000),
        "<table><tr><td>".repeat(80_000) + "x",
        format!("<a {}>x", "a=1 ".repeat(300_000)),
        format!("<a href={}>x</a>", "x".repeat(1_000_000)),
        "<a href=x>".repeat(100_000),
        "<a x=\"".repeat(150_000),
        "<a x='\"".repeat(150_000),
        "<!--".repeat(250_000),
        "<![CDATA[".repeat(100_000),
        "<script></".repeat(100_000),
        "<svg>".repeat(200_000) + &"</svg>".repeat(200_000),
        "&".repeat(1_000_000),
        "&amp".repeat(250_000),
        "<".repeat(1_000_000),
        "</".repeat(500_000),
        " ".repeat(1_000_000),
        "<br>".repeat(250_000) + "x",
        "<th>".repeat(250_000) + "</tr>x",
        "<pre>".repeat(200_000),
        "<b></b>".repeat(150_000),
    ];
    let options =
        MarkdownOptions { links: Some(Url::parse("https://a.example/").unwrap()), limit: 64 << 20 };
    for page in &pages {
        // The limit distinguishes linear from quadratic work.
        let start = Instant::now();
        let text = html_to_markdown(page, &options);
        let took = start.elapsed();
        let shown: String = page.chars().take(40).collect();
        assert!(took < Duration::from_secs(8), "{shown}: {took:?}");
        assert!(text.len() <= 20 * page.len(), "{shown}: {} bytes", text.len());
    }
}
