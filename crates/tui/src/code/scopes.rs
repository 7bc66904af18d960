//! Looks of the scopes of syntaxes, which follow the conventions of TextMate and Sublime Text.

use std::collections::HashMap;
use std::ops::Range;

use syntect::parsing::{Scope, ScopeStack};

use super::LineColours;
use crate::row::Look;

/// Beginnings of scopes with their looks; `Plain` hides the look of the scope around it.
const LOOKS: [(&str, Look); 33] = [
    ("comment", Look::Comment),
    ("string", Look::StringText),
    ("constant", Look::Number),
    ("constant.character.escape", Look::Number),
    ("keyword", Look::Keyword),
    ("keyword.operator", Look::Plain),
    ("keyword.operator.word", Look::Keyword),
    ("keyword.operator.logical.python", Look::Keyword),
    ("storage", Look::Keyword),
    ("storage.type.numeric", Look::Number),
    ("variable.language", Look::Keyword),
    ("variable.function", Look::Function),
    ("entity.name", Look::TypeName),
    ("entity.name.function", Look::Function),
    ("entity.name.tag", Look::Keyword),
    ("entity.name.section", Look::Keyword),
    ("entity.name.label", Look::Keyword),
    ("entity.name.module", Look::Plain),
    ("entity.name.namespace", Look::Plain),
    ("entity.other.inherited-class", Look::TypeName),
    ("entity.other.attribute-name", Look::TypeName),
    ("support.function", Look::Function),
    ("support.macro", Look::Function),
    ("support.type", Look::TypeName),
    ("support.class", Look::TypeName),
    ("support.constant", Look::Number),
    ("meta.annotation", Look::TypeName),
    ("meta.interpolation", Look::Plain),
    ("markup.inserted", Look::Green),
    ("markup.deleted", Look::Red),
    ("markup.heading", Look::Bold),
    ("markup.bold", Look::Bold),
    ("markup.italic", Look::Italic),
];

/// Looks of scopes.
pub(super) struct Scopes {
    looks: Vec<(Scope, Look)>,
    /// Looks of the scopes that occurred.
    known: HashMap<Scope, Option<Look>>,
}

impl Default for Scopes {
    fn default() -> Self {
        let look = |(name, look): &(&str, Look)| Some((Scope::new(name).ok()?, *look));
        Self { looks: LOOKS.iter().filter_map(look).collect(), known: HashMap::new() }
    }
}

impl Scopes {
    /// Adds a part of a line with the look of its innermost scope that has one.
    pub(super) fn add(
        &mut self,
        stack: &ScopeStack,
        part: Range<usize>,
        colours: &mut LineColours,
    ) {
        if part.is_empty() {
            return;
        }
        let mut scopes = stack.scopes.iter().rev();
        let look = scopes.find_map(|scope| self.look(*scope)).unwrap_or_default();
        match colours.last_mut() {
            _ if look == Look::Plain => {}
            Some((last, last_look)) if *last_look == look && last.end == part.start => {
                last.end = part.end;
            }
            _ => colours.push((part, look)),
        }
    }

    fn look(&mut self, scope: Scope) -> Option<Look> {
        let looks = &self.looks;
        *self.known.entry(scope).or_insert_with(|| {
            let fitting = looks.iter().filter(|(prefix, _)| prefix.is_prefix_of(scope));
            fitting.max_by_key(|(prefix, _)| prefix.len()).map(|(_, look)| *look)
        })
    }
}
