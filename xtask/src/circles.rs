//! Checks that the modules of a crate depend on each other in one direction only.
//!
//! A module is a file or a folder directly under `src`, with all files in it: the files of one
//! folder may use each other. Other modules are named by `crate::`, as everywhere in this
//! repository.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;

use crate::finding::Finding;
use crate::source::SourceFile;
use crate::tokens::{self, Token};

/// Crates whose modules must not form a circle.
const WITHOUT_CIRCLES: &[&str] = &["policy", "tools"];

/// Modules that each module uses, with the file and the line of a use.
type Uses<'f> = BTreeMap<String, BTreeMap<String, (&'f Path, usize)>>;

/// Returns one circle of modules of each crate that has any.
pub(crate) fn check(files: &[SourceFile]) -> Vec<Finding> {
    let circle = |owner: &&str| circle(&uses(owner, files));
    WITHOUT_CIRCLES.iter().filter_map(circle).collect()
}

/// Reads the uses of the modules of a crate.
fn uses<'f>(owner: &str, files: &'f [SourceFile]) -> Uses<'f> {
    let source = Path::new("crates").join(owner).join("src");
    let of_crate = || files.iter().filter(|file| file.path.starts_with(&source));
    let exports: BTreeMap<String, String> =
        of_crate().filter(|file| file.path.ends_with("src/lib.rs")).flat_map(exports).collect();
    let mut uses = Uses::new();
    for file in of_crate().filter(|file| !file.is_test()) {
        let below = file.path.strip_prefix(&source).unwrap_or(&file.path);
        let Some(first) = below.components().next() else { continue };
        let module = Path::new(&first).with_extension("").to_string_lossy().into_owned();
        let used = uses.entry(module.clone()).or_default();
        let tokens = tokens::without_tests(&tokens::read(&file.text));
        for (name, line) in names_in_crate(&tokens) {
            let name = exports.get(&name).cloned().unwrap_or(name);
            if name != module {
                used.entry(name).or_insert((&file.path, line));
            }
        }
    }
    uses
}

/// Returns the names that the crate exports, each with its module.
fn exports(library: &SourceFile) -> Vec<(String, String)> {
    let tokens = tokens::read(&library.text);
    let mut exports = Vec::new();
    for statement in tokens.split(|token| token.text == ";") {
        let start = statement.windows(2).position(|pair| is(pair, &["pub", "use"]));
        let Some([module, names @ ..]) = start.map(|start| &statement[start + 2..]) else {
            continue;
        };
        exports.extend(names.iter().map(|name| (name.text.clone(), module.text.clone())));
    }
    exports
}

/// Returns the first names of all paths that begin with `crate::`, with their lines.
fn names_in_crate(tokens: &[Token]) -> Vec<(String, usize)> {
    let mut names = Vec::new();
    for (index, _) in
        tokens.windows(3).enumerate().filter(|(_, three)| is(three, &["crate", ":", ":"]))
    {
        let rest = &tokens[index + 3..];
        let mut depth = 0_usize;
        for (place, token) in rest.iter().enumerate() {
            let begins = depth == 0 || depth == 1 && matches!(&*rest[place - 1].text, "{" | ",");
            match token.text.as_str() {
                "{" => depth += 1,
                "}" => depth = depth.saturating_sub(1),
                name if begins => names.push((name.to_owned(), token.line)),
                _ => {}
            }
            if depth == 0 {
                break;
            }
        }
    }
    names
}

fn is(tokens: &[Token], texts: &[&str]) -> bool {
    tokens.iter().map(|token| token.text.as_str()).eq(texts.iter().copied())
}

/// Returns a shortest circle through the first module that is on one.
fn circle(uses: &Uses<'_>) -> Option<Finding> {
    uses.keys().find_map(|module| {
        let path = way_back(uses, module)?;
        let (file, line) = uses[module][&path[1]];
        let message = format!("the modules form a circle: {}", path.join(" → "));
        Some(Finding::error(file, line, message))
    })
}

/// Returns a shortest path of uses from a module to itself.
fn way_back(uses: &Uses<'_>, module: &str) -> Option<Vec<String>> {
    let mut seen = BTreeSet::new();
    let mut paths = VecDeque::from([vec![module.to_owned()]]);
    while let Some(path) = paths.pop_front() {
        for next in path.last().and_then(|last| uses.get(last)).into_iter().flat_map(BTreeMap::keys)
        {
            let longer = [path.as_slice(), std::slice::from_ref(next)].concat();
            if next == module {
                return Some(longer);
            }
            if seen.insert(next.clone()) {
                paths.push_back(longer);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn file(path: &str, text: &str) -> SourceFile {
        SourceFile {
            path: Path::new("crates/policy/src").join(path),
            owner: "policy".to_owned(),
            text: text.to_owned(),
        }
    }

    fn found(files: &[SourceFile]) -> Vec<String> {
        check(files).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn circles_of_modules_are_found() {
        for (path, text, circle) in [
            ("c.rs", "fn f() {}", None),
            ("c.rs", "#[cfg(test)]\nmod tests { use crate::a; }", None),
            ("c/tests.rs", "use crate::a;", None),
            ("c.rs", "use crate::a::f;", Some("a → b → c → a")),
            ("c/deep.rs", "fn f() { crate::a::f(); }", Some("a → b → c → a")),
            ("c.rs", "use crate::{names, a::{f, g}};", Some("a → b → c → a")),
            // An exported name stands for its module.
            ("c.rs", "use crate::Other;", Some("b → c → b")),
        ] {
            let files = [
                file("lib.rs", "mod a; mod b; mod c; pub use b::{B, Other}; pub use c::C;"),
                file("a.rs", "use crate::b::B;\nfn f() { a::part(); }"),
                file("a/part.rs", "use super::f;\nuse crate::a::f as g;"),
                file("b.rs", "use crate::{c, names::{a, b}};"),
                file(path, text),
            ];
            let found = found(&files);
            let expected = circle.map(|circle| format!("the modules form a circle: {circle}"));
            assert_eq!(found.len(), usize::from(expected.is_some()), "{path} {text}: {found:?}");
            if let Some(expected) = expected {
                assert!(found[0].contains(&expected), "{path} {text}: {found:?}");
            }
        }
    }
}
