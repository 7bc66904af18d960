use std::sync::Arc;

use pollux_protocol::{Args, Invocation, ToolError, ToolKind};
use pretty_assertions::assert_eq;
use serde_json::json;

use super::*;

struct Named(&'static str, ToolSource, &'static str);

impl Tool for Named {
    fn name(&self) -> &str {
        self.0
    }
    fn display_name(&self) -> &str {
        self.2
    }
    fn kind(&self) -> ToolKind {
        ToolKind::Other
    }
    fn source(&self) -> ToolSource {
        self.1.clone()
    }
    fn declaration(&self) -> Declaration {
        Declaration { name: self.0.into(), description: self.2.into(), parameters: json!({}) }
    }
    fn prepare(&self, _: &Args) -> Result<Box<dyn Invocation>, ToolError> {
        unreachable!("nothing is called here")
    }
}

fn tool(name: &'static str, source: ToolSource) -> Arc<dyn Tool> {
    Arc::new(Named(name, source, "first"))
}

fn server(name: &str) -> ToolSource {
    ToolSource::Server(name.into())
}

fn names(toolset: &Toolset) -> Vec<String> {
    toolset.declarations().iter().map(|declared| declared.name.clone()).collect()
}

#[test]
fn tools_stand_by_their_source_and_then_as_they_came() {
    let mut set = Toolset::default();
    for (name, source) in [
        ("z1", server("Zoo")),
        ("d1", ToolSource::Discovered),
        ("a1", server("ant")),
        ("b1", ToolSource::BuiltIn),
        ("z0", server("Zoo")),
        ("b0", ToolSource::BuiltIn),
    ] {
        set.insert(tool(name, source));
    }
    assert_eq!(names(&set), ["b1", "b0", "d1", "a1", "z1", "z0"]);
    assert!(set.remove("b1") && !set.remove("b1"));
    // A tool that was removed and inserted again comes at the end of its source.
    set.insert(tool("b1", ToolSource::BuiltIn));
    assert_eq!(names(&set), ["b0", "b1", "d1", "a1", "z1", "z0"]);
}

#[test]
fn a_new_list_replaces_the_old_one() {
    let mut set = Toolset::new(vec![
        tool("b", ToolSource::BuiltIn),
        tool("x", server("s")),
        tool("y", server("s")),
        tool("o", server("other")),
    ]);
    let newer: Arc<dyn Tool> = Arc::new(Named("y", server("s"), "second"));
    set.replace_source(&server("s"), vec![newer, tool("n", server("s"))]);
    assert_eq!(names(&set), ["b", "o", "y", "n"]);
    assert_eq!(set.get("y").unwrap().display_name(), "second");
    set.replace_source(&server("s"), Vec::new());
    assert_eq!(names(&set), ["b", "o"]);
}
