//! Settings as a tree, with the structure of a settings file.

use std::sync::LazyLock;

use super::setting::Setting;

/// A group of settings and of further groups.
#[derive(Debug, Default)]
pub(crate) struct Branch {
    /// Names with their nodes, in the order of the reference.
    pub(crate) children: Vec<(&'static str, Node)>,
}

/// Node at a key of a group.
#[derive(Debug)]
pub(crate) enum Node {
    /// A group of further keys.
    Group(Branch),
    /// A setting.
    Setting(&'static Setting),
}

static ROOT: LazyLock<Branch> = LazyLock::new(|| {
    let mut root = Branch::default();
    super::all().for_each(|setting| root.add(setting.key, setting));
    root
});

/// Returns the root of a settings file.
pub(crate) fn root() -> &'static Branch {
    &ROOT
}

impl Branch {
    fn add(&mut self, key: &'static str, setting: &'static Setting) {
        let Some((group, rest)) = key.split_once('.') else {
            self.children.push((key, Node::Setting(setting)));
            return;
        };
        let at = self.children.iter().position(|(name, _)| *name == group);
        let at = at.unwrap_or_else(|| {
            self.children.push((group, Node::Group(Self::default())));
            self.children.len() - 1
        });
        if let (_, Node::Group(branch)) = &mut self.children[at] {
            branch.add(rest, setting);
        }
    }

    /// Returns the node called `name` in this group.
    pub(crate) fn get(&self, name: &str) -> Option<&Node> {
        self.children.iter().find(|(known, _)| *known == name).map(|(_, node)| node)
    }
}
