//! Folders that a pattern names. They may be links, because whoever writes `docs/**` means the
//! content of `docs`; links that only a wildcard matches are not followed.

use globset::{GlobBuilder, GlobMatcher};

/// Names of folders at the beginning of a pattern, by their depth.
#[derive(Debug, Default)]
pub(crate) struct NamedFolders(Vec<Component>);

/// Component of a pattern.
#[derive(Debug)]
enum Component {
    /// Names, such as `docs` and `{docs,src}`.
    Names(GlobMatcher),
    /// A name with a wildcard.
    Wildcard,
}

impl NamedFolders {
    /// Finds the folders in a glob (relative, with `/`): the components up to `**`, except for the
    /// last one, which is for files.
    pub(crate) fn new(glob: &str, case_sensitive: bool) -> Self {
        let folders = glob.rsplit_once('/').map_or("", |(folders, _)| folders);
        let is_whole =
            |component: &&str| component.matches('{').count() == component.matches('}').count();
        let component = |component: &str| {
            let names = GlobBuilder::new(component).case_insensitive(!case_sensitive).build();
            match names {
                Ok(names) if !has_wildcard(component) => Component::Names(names.compile_matcher()),
                _ => Component::Wildcard,
            }
        };
        let leading = folders.split('/').take_while(|name| *name != "**").take_while(is_whole);
        Self(leading.map(component).collect())
    }

    /// Returns true if the pattern names the folder at this relative path.
    pub(crate) fn contains(&self, relative: &str) -> bool {
        let names: Vec<&str> = relative.split('/').collect();
        let fits = |(component, name): (&Component, &&str)| match component {
            Component::Names(matcher) => matcher.is_match(name),
            Component::Wildcard => true,
        };
        matches!(self.0.get(names.len() - 1), Some(Component::Names(_)))
            && self.0.iter().zip(&names).all(fits)
    }
}

/// Returns true if a component has a wildcard that no backslash precedes.
fn has_wildcard(component: &str) -> bool {
    let mut letters = component.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => {
                letters.next();
            }
            '*' | '?' | '[' | '(' | '|' => return true,
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_spelled_out_is_named() {
        for (glob, named, not_named) in [
            ("docs/**/*.md", &["docs"][..], &["doc", "docs/x", "x/docs"][..]),
            ("a/b/c.md", &["a", "a/b"], &["b", "a/c", "a/b/c.md"]),
            ("{docs,src}/*.md", &["docs", "src"], &["x"]),
            ("*/docs/**", &["x/docs"], &["x", "docs", "x/y/docs"]),
            ("**/docs/*.md", &[], &["docs", "x/docs"]),
            ("{a/b,c}/d/*", &[], &["a", "a/b", "c"]),
            ("docs", &[], &["docs"]),
            ("@(docs)/*", &[], &["docs"]),
            ("\\[id\\]/*", &["[id]"], &["id"]),
        ] {
            let folders = NamedFolders::new(glob, true);
            assert!(named.iter().all(|path| folders.contains(path)), "{glob}");
            assert!(!not_named.iter().any(|path| folders.contains(path)), "{glob}");
        }
        assert!(NamedFolders::new("Docs/*", false).contains("docs"));
        assert!(!NamedFolders::new("Docs/*", true).contains("docs"));
    }
}
