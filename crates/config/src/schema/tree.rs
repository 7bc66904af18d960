//! The settings as the tree that a settings file is.

use std::sync::LazyLock;

use super::setting::Setting;

/// A group of settings, or of groups.
#[derive(Debug, Default)]
pub(crate) struct Branch {
    /// Names and what they stand for, in the order of the reference.
    pub(crate) children: Vec<(&'static str, Node)>,
}

/// What a key of a group stands for.
#[derive(Debug)]
pub(crate) enum Node {
    /// More keys.
    Group(Branch),
    /// A setting.
    Setting(&'static Setting),
}

static ROOT: LazyLock<Branch> = LazyLock::new(|| {
    let mut root = Branch::default();
    super::all().for_each(|setting| root.add(setting.key, setting));
    root
});

/// The root of a settings file.
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

    /// What `name` stands for here.
    pub(crate) fn get(&self, name: &str) -> Option<&Node> {
        self.children.iter().find(|(known, _)| *known == name).map(|(_, node)| node)
    }
}
