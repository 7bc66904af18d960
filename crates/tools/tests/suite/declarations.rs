//! Names, types and required parameters, as Gemini CLI 0.61 declares them.

use std::fmt::Write as _;

use pollux_protocol::ToolKind;
use pretty_assertions::assert_eq;
use serde_json::Value;

use super::session::Session;

const GOLDEN: &str = "\
list_directory (ReadFolder)
  dir_path* string
  ignore array<string>
  file_filtering_options object{respect_git_ignore boolean, respect_gemini_ignore boolean}
read_file (ReadFile)
  file_path* string
  start_line integer >=1
  end_line integer >=1
grep_search (SearchText)
  pattern* string
  dir_path string
  include_pattern string
  exclude_pattern string
  names_only boolean
  case_sensitive boolean
  fixed_strings boolean
  context integer >=0
  after integer >=0
  before integer >=0
  no_ignore boolean
  max_matches_per_file integer >=1
  total_max_matches integer >=1
glob (FindFiles)
  pattern* string
  dir_path string
  case_sensitive boolean
  respect_git_ignore boolean
  respect_gemini_ignore boolean
replace (Edit)
  file_path* string
  instruction* string
  old_string* string
  new_string* string
  allow_multiple boolean
write_file (WriteFile)
  file_path* string
  content* string
run_shell_command (Shell)
  command* string
  description string
  dir_path string
  is_background boolean
  delay_ms integer
";

#[test]
fn parameters_are_those_of_the_original() {
    let mut listing = String::new();
    for tool in Session::new().tools {
        let declaration = tool.declaration();
        assert_eq!(declaration.name, tool.name());
        assert_eq!(declaration.parameters["type"], "object");
        assert!(declaration.description.len() > 40);
        writeln!(listing, "{} ({})", tool.name(), tool.display_name()).unwrap();
        let required = declaration.parameters["required"].as_array().unwrap();
        for (name, schema) in declaration.parameters["properties"].as_object().unwrap() {
            assert!(schema["description"].is_string(), "{name}");
            let star = if required.contains(&Value::from(name.as_str())) { "*" } else { "" };
            writeln!(listing, "  {name}{star} {}", describe(schema)).unwrap();
        }
    }
    assert_eq!(listing, GOLDEN);
}

fn describe(schema: &Value) -> String {
    let kind = schema["type"].as_str().unwrap();
    match kind {
        "array" => format!("array<{}>", describe(&schema["items"])),
        "object" => {
            let properties = schema["properties"].as_object().unwrap();
            let inner: Vec<String> = properties
                .iter()
                .map(|(name, schema)| format!("{name} {}", describe(schema)))
                .collect();
            format!("object{{{}}}", inner.join(", "))
        }
        _ => match schema.get("minimum") {
            Some(minimum) => format!("{kind} >={minimum}"),
            None => kind.to_owned(),
        },
    }
}

#[test]
fn kinds_and_rendering() {
    use ToolKind::{Edit, Execute, Read, Search};
    let kinds: Vec<_> =
        Session::new().tools.iter().map(|tool| (tool.kind(), tool.renders_markdown())).collect();
    let expected = [
        (Search, true),
        (Read, true),
        (Search, true),
        (Search, true),
        (Edit, true),
        (Edit, true),
        (Execute, false),
    ];
    assert_eq!(kinds, expected);
}
