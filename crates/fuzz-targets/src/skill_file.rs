//! Files of skills: any text is a skill with a name and a description in one line each, and a body
//! that is part of the text, or an error.

use pollux_extensions::skills::front_matter;

pub(crate) fn run(text: &str) {
    let Ok((read, body)) = front_matter(text) else { return };
    assert!(!read.name.is_empty() && !read.name.starts_with('.'), "{:?}", read.name);
    let is_bad = |letter: char| letter.is_control() || "/\\:*?<>|\"".contains(letter);
    assert!(!read.name.contains(is_bad), "{:?}", read.name);
    assert!(!read.description.is_empty(), "no description");
    assert!(!read.description.contains(char::is_control), "{:?}", read.description);
    assert!(text.contains(body), "{body:?}");
}
