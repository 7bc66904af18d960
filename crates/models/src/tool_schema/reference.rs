//! Targets of references.

use std::cell::OnceCell;
use std::collections::HashMap;

use serde_json::Value;

/// Place that a reference leads to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Target<'a> {
    pub(super) schema: &'a Value,
    /// Innermost schema with an own address (`$id`) around the target: references in the target
    /// begin there.
    pub(super) resource: &'a Value,
}

/// The references of a document.
#[derive(Debug)]
pub(super) struct References<'a> {
    document: &'a Value,
    /// Schemas by the names that `$anchor` gives them.
    anchors: OnceCell<HashMap<&'a str, &'a Value>>,
}

impl<'a> References<'a> {
    pub(super) fn new(document: &'a Value) -> Self {
        Self { document, anchors: OnceCell::new() }
    }

    /// Returns the target of a reference in a schema of this resource; `None` if it is not in the
    /// document.
    pub(super) fn resolve(&self, reference: &str, resource: &'a Value) -> Option<Target<'a>> {
        let (address, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let resource = match address {
            "" => resource,
            _ if own_address(self.document) == Some(address) => self.document,
            _ => return None,
        };
        let fragment = percent_decoded(fragment)?;
        if fragment.is_empty() {
            return Some(Target { schema: resource, resource });
        }
        if let Some(pointer) = fragment.strip_prefix('/') {
            return follow(pointer, resource);
        }
        let anchors = self.anchors.get_or_init(|| anchors(self.document));
        let schema = *anchors.get(&*fragment)?;
        Some(Target { schema, resource: resource_of(schema, resource) })
    }
}

/// Returns the resource of a schema inside a resource.
pub(super) fn resource_of<'a>(schema: &'a Value, around: &'a Value) -> &'a Value {
    if own_address(schema).is_some() { schema } else { around }
}

/// Returns the address that a schema has by itself. In draft 7, `$id` can also be an anchor.
fn own_address(schema: &Value) -> Option<&str> {
    let address = schema.get("$id")?.as_str()?.trim_end_matches('#');
    (!address.is_empty() && !address.starts_with('#')).then_some(address)
}

/// Follows a JSON pointer without its first slash.
fn follow<'a>(pointer: &str, start: &'a Value) -> Option<Target<'a>> {
    let mut target = Target { schema: start, resource: start };
    for token in pointer.split('/') {
        let schema = match target.schema {
            Value::Object(keys) => keys.get(&*token.replace("~1", "/").replace("~0", "~"))?,
            Value::Array(items) => items.get(token.parse::<usize>().ok()?)?,
            _ => return None,
        };
        target = Target { schema, resource: resource_of(schema, target.resource) };
    }
    Some(target)
}

fn anchors(document: &Value) -> HashMap<&str, &Value> {
    let mut anchors = HashMap::new();
    let mut open = vec![document];
    while let Some(value) = open.pop() {
        match value {
            Value::Object(keys) => {
                let text = |key: &str| keys.get(key).and_then(Value::as_str);
                let names = [
                    text("$anchor"),
                    text("$dynamicAnchor"),
                    text("$id").and_then(|id| id.strip_prefix('#')),
                ];
                anchors.extend(names.into_iter().flatten().map(|name| (name, value)));
                open.extend(keys.values());
            }
            Value::Array(items) => open.extend(items),
            _ => {}
        }
    }
    anchors
}

/// Decodes `%20` and the like; `None` if the result is not text.
fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let code = tail.get(..2).and_then(|code| std::str::from_utf8(code).ok());
        let code = code.and_then(|code| u8::from_str_radix(code, 16).ok());
        if let Some(byte) = code.filter(|_| *first == b'%') {
            bytes.push(byte);
            rest = &tail[2..];
        } else {
            bytes.push(*first);
            rest = tail;
        }
    }
    String::from_utf8(bytes).ok()
}
