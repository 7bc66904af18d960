//! Matcher of extended globs: `+(a|b)`, `*(a|b)`, `?(a|b)`, `@(a|b)` and `!(a|b)`.
//!
//! A regular expression without lookahead cannot express `!(…)`, so patterns with such groups have
//! their own matcher. A pattern is a list of nodes; each node refers to the nodes after it. The
//! matcher decides for each position of a path, from the end to the start, which nodes match the
//! rest of the path. The time is proportional to the length of the path times that of the pattern.

use std::iter::Peekable;
use std::str::Chars;

use crate::error::{Error, Result};

#[cfg(test)]
mod tests;

/// Maximum length of an extended pattern in bytes.
const MAX_LENGTH: usize = 1024;
/// Maximum nesting depth of groups.
const MAX_DEPTH: usize = 8;

/// Compiled pattern. Names that begin with a dot are matched like others.
#[derive(Debug, Clone)]
pub(crate) struct ExtendedPattern {
    nodes: Vec<Node>,
    start: usize,
    case_sensitive: bool,
}

/// Condition on the rest of a path. The numbers are indices of nodes.
#[derive(Debug, Clone)]
enum Node {
    /// The path ends here.
    End,
    /// A character, then the node.
    One(Letters, usize),
    /// Any number of characters other than a slash, then the node.
    Star(usize),
    /// Any number of characters, then the node.
    Everything(usize),
    /// The rest of a folder name and a slash, then the node.
    Folder(usize),
    /// One of the nodes.
    Either(Vec<usize>),
    /// The last node, but none of the first ones.
    Except(Vec<usize>, usize),
}

/// Set of characters that match at one position.
#[derive(Debug, Clone)]
enum Letters {
    /// This character.
    Literal(char),
    /// Any character except a slash: `?`.
    Any,
    /// Ranges of characters: `[a-z]`, `[!a-z]`.
    Class { ranges: Vec<(char, char)>, negated: bool },
}

impl Letters {
    fn hold(&self, letter: char) -> bool {
        match self {
            Self::Literal(own) => *own == letter,
            Self::Any => letter != '/',
            Self::Class { ranges, negated } => {
                let within = ranges.iter().any(|(first, last)| (*first..=*last).contains(&letter));
                letter != '/' && within != *negated
            }
        }
    }
}

/// Returns true if a pattern contains an extended group.
pub(crate) fn is_extended(pattern: &str) -> bool {
    let mut characters = pattern.chars().peekable();
    while let Some(character) = characters.next() {
        if character == '\\' {
            characters.next();
        } else if "+*?@!".contains(character) && characters.peek() == Some(&'(') {
            return true;
        }
    }
    false
}

impl ExtendedPattern {
    /// Compiles a pattern relative to a folder.
    ///
    /// # Errors
    /// [`Error::Pattern`] for a group that is not closed, and for a pattern that is too long or
    /// nested too deep.
    pub(crate) fn new(pattern: &str, case_sensitive: bool) -> Result<Self> {
        if pattern.len() > MAX_LENGTH {
            return Err(Error::Pattern("the pattern is too long".into()));
        }
        let mut parser = Parser { rest: pattern.chars().peekable(), depth: 0 };
        let items = parser.sequence("", true)?;
        let mut nodes = vec![Node::End];
        let start = compile(&items, 0, &mut nodes);
        Ok(Self { nodes, start, case_sensitive })
    }

    /// Returns true if the whole path, separated by `/`, matches.
    pub(crate) fn matches(&self, path: &str) -> bool {
        let nowhere = vec![false; self.nodes.len()];
        let mut after = self.values(None, &nowhere);
        for letter in path.chars().rev() {
            after = self.values(Some(letter), &after);
        }
        after[self.start]
    }

    /// Returns for each node whether it matches the rest of the path that begins with `letter`.
    /// `after` has the same information for the rest without this letter.
    fn values(&self, letter: Option<char>, after: &[bool]) -> Vec<bool> {
        let mut here = vec![false; self.nodes.len()];
        // A repeated group refers to itself. A repetition without a character adds nothing, so a
        // few rounds reach the final values.
        for _ in 0..MAX_DEPTH + 2 {
            let mut changed = false;
            for (index, node) in self.nodes.iter().enumerate() {
                let value = match node {
                    Node::End => letter.is_none(),
                    Node::One(letters, next) => {
                        letter.is_some_and(|letter| self.hold(letters, letter)) && after[*next]
                    }
                    Node::Star(next) => {
                        here[*next] || letter.is_some_and(|letter| letter != '/') && after[index]
                    }
                    Node::Everything(next) => here[*next] || letter.is_some() && after[index],
                    Node::Folder(next) => {
                        letter == Some('/') && after[*next] || letter.is_some() && after[index]
                    }
                    Node::Either(nodes) => nodes.iter().any(|node| here[*node]),
                    Node::Except(nodes, next) => {
                        here[*next] && !nodes.iter().any(|node| here[*node])
                    }
                };
                changed |= here[index] != value;
                here[index] = value;
            }
            if !changed {
                break;
            }
        }
        here
    }

    fn hold(&self, letters: &Letters, letter: char) -> bool {
        letters.hold(letter)
            || !self.case_sensitive
                && (letter.to_lowercase().any(|lower| letters.hold(lower))
                    || letter.to_uppercase().any(|upper| letters.hold(upper)))
    }
}

/// Part of a pattern.
enum Item {
    One(Letters),
    Star,
    Everything,
    Folders,
    Group(Kind, Vec<Vec<Self>>),
}

/// Meaning of a group.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Once,
    Optional,
    Repeated,
    AnyNumber,
    Not,
}

/// Adds the nodes of `items`, followed by `next`, and returns the first node.
fn compile(items: &[Item], next: usize, nodes: &mut Vec<Node>) -> usize {
    items.iter().rev().fold(next, |next, item| match item {
        Item::One(letters) => add(nodes, Node::One(letters.clone(), next)),
        Item::Star => add(nodes, Node::Star(next)),
        Item::Everything => add(nodes, Node::Everything(next)),
        Item::Folders => {
            let repeated = add(nodes, Node::Either(vec![next]));
            let folder = add(nodes, Node::Folder(repeated));
            nodes[repeated] = Node::Either(vec![next, folder]);
            repeated
        }
        Item::Group(kind, choices) => compile_group(*kind, choices, next, nodes),
    })
}

fn compile_group(kind: Kind, choices: &[Vec<Item>], next: usize, nodes: &mut Vec<Node>) -> usize {
    let repeats = matches!(kind, Kind::Repeated | Kind::AnyNumber);
    let end = if repeats { add(nodes, Node::Either(vec![next])) } else { next };
    let mut starts: Vec<usize> = choices.iter().map(|choice| compile(choice, end, nodes)).collect();
    if kind == Kind::Not {
        let anything = add(nodes, Node::Star(next));
        return add(nodes, Node::Except(starts, anything));
    }
    let first = add(nodes, Node::Either(starts.clone()));
    starts.push(next);
    if repeats {
        nodes[end] = Node::Either(starts.clone());
    }
    match kind {
        Kind::Once | Kind::Repeated => first,
        _ => add(nodes, Node::Either(starts)),
    }
}

fn add(nodes: &mut Vec<Node>, node: Node) -> usize {
    nodes.push(node);
    nodes.len() - 1
}

struct Parser<'a> {
    rest: Peekable<Chars<'a>>,
    depth: usize,
}

impl Parser<'_> {
    /// Parses up to one of `stops`, which is not consumed, or to the end. `at_start` is true if the
    /// sequence is the beginning of a name.
    fn sequence(&mut self, stops: &str, at_start: bool) -> Result<Vec<Item>> {
        let mut items = Vec::new();
        let mut at_start = at_start;
        while let Some(character) = self.rest.next_if(|letter| !stops.contains(*letter)) {
            let opens = self.rest.peek() == Some(&'(');
            let kind = match character {
                '@' => Some(Kind::Once),
                '?' => Some(Kind::Optional),
                '+' => Some(Kind::Repeated),
                '*' => Some(Kind::AnyNumber),
                '!' => Some(Kind::Not),
                _ => None,
            };
            let item = match (character, kind) {
                (_, Some(kind)) if opens => {
                    self.rest.next();
                    Item::Group(kind, self.choices("|)", at_start)?)
                }
                ('{', _) => Item::Group(Kind::Once, self.choices(",}", at_start)?),
                ('*', _) => self.stars(at_start),
                ('?', _) => Item::One(Letters::Any),
                ('[', _) => self.class()?,
                ('\\', _) => Item::One(Letters::Literal(self.rest.next().unwrap_or('\\'))),
                _ => Item::One(Letters::Literal(character)),
            };
            at_start = character == '/' || matches!(item, Item::Folders);
            items.push(item);
        }
        Ok(items)
    }

    /// Parses the choices of a group after its opening bracket. `stops` are the separator and the
    /// closing bracket.
    fn choices(&mut self, stops: &str, at_start: bool) -> Result<Vec<Vec<Item>>> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Error::Pattern("groups are nested too deep".into()));
        }
        let mut choices = Vec::new();
        loop {
            choices.push(self.sequence(stops, at_start)?);
            match self.rest.next() {
                Some(stop) if stops.ends_with(stop) => break,
                Some(_) => {}
                None => return Err(Error::Pattern("unclosed group in the pattern".into())),
            }
        }
        self.depth -= 1;
        Ok(choices)
    }

    /// Parses the rest of a row of stars. Two stars that are a whole name stand for folders.
    fn stars(&mut self, at_start: bool) -> Item {
        let mut count = 1;
        let mut ahead = self.rest.clone();
        while ahead.next_if_eq(&'*').is_some() && ahead.peek() != Some(&'(') {
            self.rest.next();
            count += 1;
        }
        if count != 2 || !at_start {
            return Item::Star;
        }
        match self.rest.peek() {
            None | Some('|' | ')' | ',' | '}') => Item::Everything,
            Some('/') => {
                self.rest.next();
                Item::Folders
            }
            _ => Item::Star,
        }
    }

    /// Parses a class after its opening bracket.
    fn class(&mut self) -> Result<Item> {
        let negated = self.rest.next_if(|letter| matches!(letter, '!' | '^')).is_some();
        let mut ranges = Vec::new();
        loop {
            let first = match self.rest.next() {
                Some(']') if !ranges.is_empty() => break,
                Some('\\') => self.rest.next(),
                letter => letter,
            };
            let Some(first) = first else {
                return Err(Error::Pattern("unclosed `[` in the pattern".into()));
            };
            let mut ahead = self.rest.clone();
            let last = match (ahead.next(), ahead.next()) {
                (Some('-'), Some(last)) if last != ']' => {
                    self.rest = ahead;
                    last
                }
                _ => first,
            };
            ranges.push((first, last));
        }
        Ok(Item::One(Letters::Class { ranges, negated }))
    }
}
