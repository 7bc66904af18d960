//! Links to the files that rows name with a line, such as `src/main.rs:12`.
//!
//! The disk is asked once for each name, until files may have changed, and for a limited number of
//! names. A text without a line after a name asks nothing.

use std::collections::HashMap;
use std::path::PathBuf;

use pollux_input::{FindLinked, LinkedFile};

use crate::link::Address;
use crate::places::ranges_in_text;
use crate::row::Row;

/// Maximum number of names that are looked for between two changes of files.
const MOST: usize = 200;
/// Beginning of the text after a name that is cut, with its line.
const CUT: [&str; 2] = ["...", "\u{2026}"];

/// Links to files.
pub(crate) struct PlaceLinks<'a> {
    find: FindLinked<'a>,
    /// Files by name; `None` for a name without a file.
    found: HashMap<PathBuf, Option<LinkedFile>>,
}

impl<'a> PlaceLinks<'a> {
    /// Creates the links to the files that `find` finds on the disk.
    pub(crate) fn new(find: FindLinked<'a>) -> Self {
        Self { find, found: HashMap::new() }
    }

    /// Notes that files may have changed.
    pub(crate) fn files_changed(&mut self) {
        self.found = HashMap::new();
    }

    /// Links the places in rows of this width that lead to no other address.
    pub(crate) fn link(&mut self, rows: &mut [Row], cells: usize) {
        for row in rows {
            // Most rows have no line after a name.
            if row.pieces().any(|(_, text)| text.contains(':')) {
                self.link_row(row, cells);
            }
        }
    }

    fn link_row(&mut self, row: &mut Row, cells: usize) {
        let text = row.text();
        for (range, place) in ranges_in_text(&text) {
            let rest = &text[range.end..];
            // The number may continue on the next row.
            let may_continue = rest.is_empty() && row.width() >= cells;
            let is_cut = may_continue || CUT.iter().any(|mark| rest.starts_with(mark));
            let Some(line) = place.line.filter(|_| !is_cut) else { continue };
            if let Some(file) = self.look_up(place.path)
                && let Some(address) = Address::file(file.host, &file.path, line)
            {
                row.link(range, &address);
            }
        }
    }

    fn look_up(&mut self, path: PathBuf) -> Option<&LinkedFile> {
        if self.found.len() >= MOST && !self.found.contains_key(&path) {
            return None;
        }
        let find = &self.find;
        self.found.entry(path).or_insert_with_key(|path| find(path)).as_ref()
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::path::Path;
    use std::rc::Rc;

    use pretty_assertions::assert_eq;

    use super::*;
    use crate::palette::Palette;
    use crate::row::Look;

    fn encoded(row: &Row) -> String {
        let mut bytes = Vec::new();
        row.encode(&Palette::sixteen(), &mut bytes);
        String::from_utf8(bytes).unwrap()
    }

    /// Returns links to all files of `/p` whose name ends with `.rs`, and the number of questions
    /// to the disk.
    fn links() -> (PlaceLinks<'static>, Rc<Cell<usize>>) {
        let asked = Rc::new(Cell::new(0));
        let count = Rc::clone(&asked);
        let find = move |path: &Path| {
            count.set(count.get() + 1);
            let is_file = path.extension().is_some_and(|extension| extension == "rs");
            is_file.then(|| LinkedFile { host: "h", path: Path::new("/p").join(path) })
        };
        (PlaceLinks::new(Box::new(find)), asked)
    }

    #[test]
    fn places_become_links() {
        let (mut links, asked) = links();
        let bold =
            Row::plain("See ").with(Look::Bold, "src/a.rs").with(Look::Plain, ":7:2, b.rs:1");
        let mut rows = [bold, Row::plain("b.py:3 b.rs b.rs: x"), Row::plain("12:30")];
        links.link(&mut rows, 80);
        let link = "\x1b]8;;file://h/p/src/a.rs#7\x1b\\";
        let end = "\x1b]8;;\x1b\\";
        assert_eq!(
            encoded(&rows[0]),
            format!(
                "See {link}\x1b[1msrc/a.rs\x1b[0m{end}{link}:7:2{end}, \
                 \x1b]8;;file://h/p/b.rs#1\x1b\\b.rs:1{end}"
            )
        );
        assert_eq!(encoded(&rows[1]), "b.py:3 b.rs b.rs: x");
        assert_eq!(encoded(&rows[2]), "12:30");
        assert_eq!(asked.get(), 3);
        links.link(&mut rows, 80);
        assert_eq!(asked.get(), 3, "the disk is asked once");
        links.files_changed();
        links.link(&mut rows, 80);
        assert_eq!(asked.get(), 6);
    }

    #[test]
    fn a_place_that_may_be_cut_is_no_link() {
        let (mut links, _) = links();
        for (text, is_linked) in
            [("a.rs:12", false), ("a.rs:1", true), ("a.rs:1...", false), ("a.rs:1\u{2026}", false)]
        {
            let mut rows = [Row::plain(text)];
            links.link(&mut rows, if text.len() > 7 { 80 } else { 7 });
            assert_eq!(encoded(&rows[0]).contains("]8;;file:"), is_linked, "{text}");
        }
    }

    #[test]
    fn an_address_of_the_text_stays() {
        let (mut links, _) = links();
        let address = Address::web("https://evil.example").unwrap();
        let mut row = Row::default();
        row.push_link(Look::Link, Some(&address), "a.rs:1");
        let before = row.clone();
        links.link(std::slice::from_mut(&mut row), 80);
        assert_eq!(row, before);
    }

    #[test]
    fn the_disk_is_asked_for_a_limited_number_of_names() {
        let (mut links, asked) = links();
        let names: Vec<Row> = (0..1000).map(|at| Row::plain(format!("{at}/x.rs:1"))).collect();
        links.link(&mut names.clone(), 80);
        assert_eq!(asked.get(), MOST);
    }
}
