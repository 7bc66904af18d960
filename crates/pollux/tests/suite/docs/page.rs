//! A page of the documentation: its code, links and anchors.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

/// A Markdown file of the repository.
pub(super) struct Page {
    /// Path relative to the root of the repository.
    pub(super) path: PathBuf,
    text: String,
}

/// A text in a page, with the number of its first line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Passage {
    pub(super) line: usize,
    pub(super) text: String,
}

/// A block of code: its language is empty for an indented block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CodeBlock {
    pub(super) line: usize,
    pub(super) language: String,
    pub(super) text: String,
}

/// Returns the root of the repository.
pub(super) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Returns the pages in these folders of the repository, sorted, without their subfolders.
pub(super) fn pages(folders: &[&str]) -> Vec<Page> {
    let root = root();
    let mut paths = BTreeSet::new();
    for folder in folders {
        let entries = fs::read_dir(root.join(folder)).unwrap();
        let names = entries.map(|entry| Path::new(folder).join(entry.unwrap().file_name()));
        paths.extend(names.filter(|path| path.extension().is_some_and(|end| end == "md")));
    }
    let read = |path: PathBuf| Page { text: fs::read_to_string(root.join(&path)).unwrap(), path };
    paths.into_iter().map(read).collect()
}

impl Page {
    fn of(text: &str) -> Self {
        Self { path: "page.md".into(), text: text.to_owned() }
    }

    /// Returns `page.md:7`.
    pub(super) fn position(&self, line: usize) -> String {
        format!("{}:{line}", self.path.display())
    }

    /// Returns the blocks of code.
    pub(super) fn blocks(&self) -> Vec<CodeBlock> {
        let mut blocks: Vec<CodeBlock> = Vec::new();
        let mut is_inside = false;
        for (event, range) in self.events() {
            match event {
                Event::Start(Tag::CodeBlock(kind)) => {
                    let language = match &kind {
                        CodeBlockKind::Fenced(language) => language.to_string(),
                        CodeBlockKind::Indented => String::new(),
                    };
                    let first = self.line(&range) + usize::from(kind.is_fenced());
                    blocks.push(CodeBlock { line: first, language, text: String::new() });
                    is_inside = true;
                }
                Event::Text(text) if is_inside => blocks.last_mut().unwrap().text.push_str(&text),
                Event::End(TagEnd::CodeBlock) => is_inside = false,
                _ => {}
            }
        }
        blocks
    }

    /// Returns the code inside of sentences, headings and tables.
    pub(super) fn inline_code(&self) -> Vec<Passage> {
        let codes = self.events().filter_map(|(event, range)| match event {
            Event::Code(code) => Some(Passage { line: self.line(&range), text: code.to_string() }),
            _ => None,
        });
        codes.collect()
    }

    /// Returns the targets of links and images.
    pub(super) fn links(&self) -> Vec<Passage> {
        let links = self.events().filter_map(|(event, range)| match event {
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                Some(Passage { line: self.line(&range), text: dest_url.to_string() })
            }
            _ => None,
        });
        links.collect()
    }

    /// Returns the anchors of the headings, as GitHub derives them: the letters, digits, hyphens
    /// and underscores in lower case, with hyphens for blanks, and a number if the same heading
    /// stands on the page several times.
    pub(super) fn anchors(&self) -> BTreeSet<String> {
        let mut seen: HashMap<String, usize> = HashMap::new();
        let mut anchors = BTreeSet::new();
        let mut heading: Option<String> = None;
        for (event, _) in self.events() {
            match event {
                Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
                Event::Text(text) | Event::Code(text) => {
                    if let Some(heading) = &mut heading {
                        heading.push_str(&text);
                    }
                }
                Event::End(TagEnd::Heading(_)) => {
                    let slug = slug(&heading.take().unwrap());
                    let count = seen.entry(slug.clone()).or_default();
                    anchors.insert(if *count == 0 { slug } else { format!("{slug}-{count}") });
                    *count += 1;
                }
                _ => {}
            }
        }
        anchors
    }

    fn events(&self) -> impl Iterator<Item = (Event<'_>, Range<usize>)> {
        Parser::new_ext(&self.text, Options::ENABLE_TABLES).into_offset_iter()
    }

    fn line(&self, range: &Range<usize>) -> usize {
        self.text[..range.start].matches('\n').count() + 1
    }
}

fn slug(heading: &str) -> String {
    let kept = heading.trim().to_lowercase();
    let kept = kept.chars().filter(|c| c.is_alphanumeric() || [' ', '-', '_'].contains(c));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[test]
fn a_page_gives_its_code_links_and_anchors() {
    let page = Page::of(
        "# The `a b`, twice\n\nSee [x](x.md#y) and `pollux | cat`.\n\n| a |\n|---|\n| `b \\| c` |\n\n\
         ```sh\none\ntwo\n```\n\ntext\n\n    three\n\n## The a b twice\n",
    );
    let block = |line, language: &str, text: &str| CodeBlock {
        line,
        language: language.to_owned(),
        text: text.to_owned(),
    };
    let passage = |line, text: &str| Passage { line, text: text.to_owned() };
    assert_eq!(page.blocks(), [block(10, "sh", "one\ntwo\n"), block(16, "", "three\n")]);
    let codes = [passage(1, "a b"), passage(3, "pollux | cat"), passage(7, "b | c")];
    assert_eq!(page.inline_code(), codes);
    assert_eq!(page.links(), [passage(3, "x.md#y")]);
    let anchors = ["the-a-b-twice", "the-a-b-twice-1"].map(str::to_owned);
    assert_eq!(page.anchors(), BTreeSet::from(anchors));
}
