//! Expansion of a schema: references are replaced by their targets.
//!
//! The schemas of the document are visited level by level, so that the limits cut the deepest parts
//! first. The work is limited, too: a document that refers to itself in many places would otherwise
//! grow exponentially.

use std::io;

use serde_json::{Map, Value};

use super::keywords::{self, Kind};
use super::reference::{References, Target, resource_of};

/// Maximum depth of nested schemas. A level of a schema has two levels of JSON, and common parsers
/// accept 128 of them. Tools in use have up to 12 levels of schemas.
const MAX_DEPTH: usize = 32;

/// Maximum number of schemas.
const MAX_SCHEMAS: usize = 10_000;

/// Approximate maximum size of the result, in bytes of JSON.
const MAX_SIZE: usize = 256 * 1024;

/// Maximum size of everything that is visited, in bytes of JSON, including parts that turn out to
/// be too large.
const MAX_WORK: usize = 8 * MAX_SIZE;

/// Maximum number of references that lead from one to the next.
const MAX_CHAIN: usize = 8;

/// Size of the smallest schema with its comma, in bytes of JSON.
const SMALLEST: usize = 3;

/// Size of a key without its name, in bytes of JSON.
const AROUND_KEY: usize = 4;

const REPEATED: &str = "The same structure as one that it is part of.";
const UNKNOWN: &str = "Any value. The schema of this tool does not contain its definition.";

/// Expanded schemas. The first one is the root; each one comes after the schema that contains it.
pub(super) struct Tree<'a> {
    pub(super) nodes: Vec<Node<'a>>,
}

/// One schema.
pub(super) struct Node<'a> {
    parent: Option<usize>,
    depth: usize,
    pub(super) form: Form<'a>,
}

pub(super) enum Form<'a> {
    /// Not yet expanded.
    Waiting(Target<'a>),
    Boolean(bool),
    /// A schema that is cut because of the limits, or is none.
    Open,
    Keywords {
        /// The schema itself, then the schemas that it refers to, each one by the previous one. All
        /// of them apply.
        layers: Vec<Layer<'a>>,
        /// Set if the last layer refers to a schema that is not expanded.
        cut: Option<Cut<'a>>,
    },
}

pub(super) struct Layer<'a> {
    source: &'a Map<String, Value>,
    pub(super) slots: Vec<(&'a str, Slot<'a>)>,
}

/// Value of a keyword; schemas as numbers of nodes.
pub(super) enum Slot<'a> {
    Data(&'a Value),
    Type(&'a Value),
    Schema(usize),
    Schemas(Vec<usize>),
    NamedSchemas(Vec<(&'a str, Named<'a>)>),
}

/// Value for one name.
pub(super) enum Named<'a> {
    Schema(usize),
    /// Names of required properties (`dependencies`).
    Names(&'a Value),
}

/// Substitute for a schema that is not expanded.
#[derive(Clone, Copy)]
pub(super) struct Cut<'a> {
    /// Type of the values, if known.
    pub(super) kind: Option<&'a str>,
    pub(super) description: &'static str,
}

/// Expands a schema; `None` if the root alone exceeds the limits.
pub(super) fn expand(document: &Value) -> Option<Tree<'_>> {
    let root = Target { schema: document, resource: document };
    let mut expansion = Expansion {
        references: References::new(document),
        lone_references: has_lone_references(document),
        nodes: vec![Node { parent: None, depth: 0, form: Form::Waiting(root) }],
        room: MAX_SIZE,
        work: MAX_WORK,
    };
    let mut next = 0;
    while next < expansion.nodes.len() {
        expansion.visit(next);
        next += 1;
    }
    let nodes = expansion.nodes;
    (!matches!(nodes[0].form, Form::Open)).then_some(Tree { nodes })
}

/// True if keywords beside a reference have no effect: draft 7 and older.
fn has_lone_references(document: &Value) -> bool {
    let draft = document.get("$schema").and_then(Value::as_str).unwrap_or_default();
    ["draft-03", "draft-04", "draft-06", "draft-07"].iter().any(|old| draft.contains(old))
}

struct Expansion<'a> {
    references: References<'a>,
    lone_references: bool,
    nodes: Vec<Node<'a>>,
    /// Bytes that may still be added to the result.
    room: usize,
    /// Bytes that may still be visited.
    work: usize,
}

impl<'a> Expansion<'a> {
    fn visit(&mut self, index: usize) {
        let Form::Waiting(target) = self.nodes[index].form else { return };
        self.nodes[index].form = match target.schema {
            Value::Bool(accepts) => Form::Boolean(*accepts),
            Value::Object(source) if self.nodes[index].depth < MAX_DEPTH => {
                let (room, count) = (self.room, self.nodes.len());
                self.keywords(index, source, target.resource).unwrap_or_else(|| {
                    self.room = room;
                    self.nodes.truncate(count);
                    Form::Open
                })
            }
            _ => Form::Open,
        };
    }

    /// Expands an object; `None` if there is no room for it.
    fn keywords(
        &mut self,
        index: usize,
        mut source: &'a Map<String, Value>,
        mut resource: &'a Value,
    ) -> Option<Form<'a>> {
        let mut layers: Vec<Layer<'a>> = Vec::new();
        loop {
            let reference = source.get("$ref").and_then(Value::as_str);
            let slots = self.slots(index, source, resource, reference.is_some())?;
            layers.push(Layer { source, slots });
            let is_dynamic = |key: &String| keywords::kind(key) == Kind::DynamicReference;
            let cut = match reference {
                None if source.keys().any(is_dynamic) => {
                    Some(Cut { kind: None, description: UNKNOWN })
                }
                None => None,
                Some(reference) => match self.follow(index, &layers, reference, resource)? {
                    Ok(target) => match target.schema {
                        Value::Object(next) => {
                            (source, resource) = (next, target.resource);
                            continue;
                        }
                        Value::Bool(true) => None,
                        Value::Bool(false) => return Some(Form::Boolean(false)),
                        _ => Some(Cut { kind: None, description: UNKNOWN }),
                    },
                    Err(cut) => Some(cut),
                },
            };
            if let Some(cut) = cut {
                self.spend(cut.description.len() + 40)?;
            }
            return Some(Form::Keywords { layers, cut });
        }
    }

    /// Returns the target of a reference, or what takes its place; `None` if there is no room.
    fn follow(
        &mut self,
        index: usize,
        layers: &[Layer<'a>],
        reference: &str,
        resource: &'a Value,
    ) -> Option<Result<Target<'a>, Cut<'a>>> {
        self.work = self.work.checked_sub(reference.len() + 64)?;
        let Some(target) = self.references.resolve(reference, resource) else {
            return Some(Err(Cut { kind: None, description: UNKNOWN }));
        };
        let is_repeated = target.schema.as_object().is_some_and(|keys| {
            let contains =
                |layers: &[Layer<'a>]| layers.iter().any(|layer| std::ptr::eq(layer.source, keys));
            contains(layers) || self.ancestors(index).any(contains)
        });
        if is_repeated || layers.len() == MAX_CHAIN {
            let kind = target.schema.get("type").and_then(Value::as_str);
            let kind = kind.filter(|name| keywords::is_type(name));
            return Some(Err(Cut { kind, description: REPEATED }));
        }
        Some(Ok(target))
    }

    /// Returns the layers of the schemas that contain a schema.
    fn ancestors(&self, index: usize) -> impl Iterator<Item = &[Layer<'a>]> {
        let parents =
            std::iter::successors(self.nodes[index].parent, |index| self.nodes[*index].parent);
        parents.filter_map(|index| match &self.nodes[index].form {
            Form::Keywords { layers, .. } => Some(layers.as_slice()),
            _ => None,
        })
    }

    /// Returns the keywords of an object, without those that are omitted.
    fn slots(
        &mut self,
        index: usize,
        source: &'a Map<String, Value>,
        resource: &'a Value,
        refers: bool,
    ) -> Option<Vec<(&'a str, Slot<'a>)>> {
        let is_tuple = matches!(source.get("items"), Some(Value::Array(_)));
        let mut slots = Vec::with_capacity(source.len());
        for (key, value) in source {
            if refers && (key == "$ref" || self.lone_references && !keywords::is_annotation(key)) {
                continue;
            }
            let mut child = |value| self.child(index, value, resource);
            let (key, slot) = match (keywords::kind(key), value) {
                (Kind::Items, Value::Array(_)) => {
                    ("prefixItems", Slot::Schemas(self.children(index, value, resource)?))
                }
                (Kind::Schema | Kind::Items, _) => (key.as_str(), Slot::Schema(child(value)?)),
                (Kind::AdditionalItems, _) if is_tuple => ("items", Slot::Schema(child(value)?)),
                (Kind::Schemas, Value::Array(items))
                    if !(items.is_empty() || is_tuple && key == "prefixItems") =>
                {
                    (key.as_str(), Slot::Schemas(self.children(index, value, resource)?))
                }
                (Kind::NamedSchemas | Kind::Dependencies, Value::Object(named)) => {
                    (key.as_str(), Slot::NamedSchemas(self.named(index, named, resource)?))
                }
                (Kind::Type, _) => (key.as_str(), Slot::Type(value)),
                (Kind::Address, Value::String(_))
                    if index == 0 && keywords::describes_document(key) =>
                {
                    (key.as_str(), Slot::Data(value))
                }
                (Kind::Data, _) if key != "$ref" && keywords::is_well_formed(key, value) => {
                    (key.as_str(), Slot::Data(value))
                }
                _ => continue,
            };
            self.spend(key.len() + AROUND_KEY)?;
            if let Slot::Data(value) | Slot::Type(value) = slot {
                self.spend_value(value)?;
            }
            slots.push((key, slot));
        }
        Some(slots)
    }

    fn named(
        &mut self,
        index: usize,
        schemas: &'a Map<String, Value>,
        resource: &'a Value,
    ) -> Option<Vec<(&'a str, Named<'a>)>> {
        let named = schemas.iter().map(|(name, value)| {
            self.spend(name.len() + AROUND_KEY)?;
            let value = if keywords::is_names(value) {
                self.spend_value(value)?;
                Named::Names(value)
            } else {
                Named::Schema(self.child(index, value, resource)?)
            };
            Some((name.as_str(), value))
        });
        named.collect()
    }

    fn children(
        &mut self,
        index: usize,
        schemas: &'a Value,
        resource: &'a Value,
    ) -> Option<Vec<usize>> {
        let schemas = schemas.as_array().into_iter().flatten();
        schemas.map(|schema| self.child(index, schema, resource)).collect()
    }

    /// Adds a schema that is part of another one.
    fn child(&mut self, parent: usize, schema: &'a Value, around: &'a Value) -> Option<usize> {
        self.spend(SMALLEST)?;
        if self.nodes.len() == MAX_SCHEMAS {
            return None;
        }
        let target = Target { schema, resource: resource_of(schema, around) };
        let depth = self.nodes[parent].depth + 1;
        self.nodes.push(Node { parent: Some(parent), depth, form: Form::Waiting(target) });
        Some(self.nodes.len() - 1)
    }

    fn spend(&mut self, bytes: usize) -> Option<()> {
        self.work = self.work.checked_sub(bytes)?;
        self.room = self.room.checked_sub(bytes)?;
        Some(())
    }

    fn spend_value(&mut self, value: &Value) -> Option<()> {
        let mut size = Size { left: self.room.min(self.work) };
        let before = size.left;
        let fits = serde_json::to_writer(&mut size, value).is_ok();
        let spent = self.spend(before - size.left);
        // What does not fit was visited nevertheless.
        if fits { spent } else { None }
    }
}

/// Counter of the bytes of a value's JSON, which fails when there are too many.
struct Size {
    left: usize,
}

impl io::Write for Size {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let left = self.left.checked_sub(bytes.len());
        self.left = left.unwrap_or(0);
        if left.is_some() { Ok(bytes.len()) } else { Err(io::ErrorKind::StorageFull.into()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
