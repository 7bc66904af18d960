//! Pages as Markdown: reading any page ends, and the size of the result is limited by the size of
//! the page and the addresses in it. Text of paragraphs survives whatever follows; in a page of
//! known elements every word survives in its place, and neither tags nor scripts remain.

use pollux_tools::{MarkdownOptions, html_to_markdown};

/// Maximum growth: a page of one tag may become a few marks and line ends.
const GROWTH: usize = 64;
/// Maximum number of bytes of Markdown.
const LIMIT: usize = 1 << 20;
/// Maximum number of pieces of a page of known elements.
const PIECES: usize = 2000;

/// Pieces of a page without text that is shown.
const SILENT: &[&str] = &[
    "<p>",
    "</p>",
    "<div class='a>b'>",
    "</div>",
    "<b>",
    "</b>",
    "<em>",
    "</em>",
    "<code>",
    "</code>",
    "<h2>",
    "</h2>",
    "<ul>",
    "</ul>",
    "<ol start=7>",
    "</ol>",
    "<li>",
    "</li>",
    "<blockquote>",
    "</blockquote>",
    "<table>",
    "</table>",
    "<tr>",
    "<td>",
    "<th>",
    "<br>",
    "<hr/>",
    "<pre>",
    "</pre>",
    "<a href='/x'>",
    "</a>",
    "<img alt=no src=no>",
    " ",
    "\n",
    "<!-- no -->",
    "<script>no</script>",
    "<style>no</style>",
    "<svg><text>no</text></svg>",
];

fn markdown(page: &str) -> String {
    html_to_markdown(page, &MarkdownOptions { links: None, limit: LIMIT })
}

pub(crate) fn run(input: &str) {
    let text = markdown(input);
    assert!(text.len() <= GROWTH * (input.len() + 1), "{} of {}", text.len(), input.len());
    let links = "https://a.example/b".parse().ok();
    html_to_markdown(input, &MarkdownOptions { links, limit: LIMIT });

    let is_word = |word: &&str| word.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let words: Vec<&str> = input.split_whitespace().filter(is_word).collect();
    let words = words.join(" ");
    assert_eq!(markdown(&format!("<p>{words}</p>")), words);
    assert!(markdown(&format!("<p>{words}</p>{input}")).contains(&words), "{words}");

    let (mut page, mut shown) = (String::new(), Vec::new());
    for (number, letter) in input.chars().take(PIECES).enumerate() {
        if let Some(piece) = SILENT.get(letter as usize % (SILENT.len() + 8)) {
            page.push_str(piece);
        } else {
            let word = format!("w{number}x");
            page.push_str(&word);
            shown.push(word);
        }
    }
    let text = markdown(&page);
    assert!(!text.contains('<') && !text.contains("no"), "{page:?} is {text:?}");
    let mut rest = text.as_str();
    for word in shown {
        let Some(at) = rest.find(&word) else { panic!("{word} is missing: {page:?} is {text:?}") };
        rest = &rest[at + word.len()..];
    }
}
