//! Names, kinds, types and required parameters must match those of Gemini CLI 0.61.

use std::fmt::Write as _;

use pollux_protocol::ModelLimits;
use pretty_assertions::assert_eq;
use serde_json::Value;

use super::session::Session;

const GOLDEN: &str = "\
update_topic (Update Topic Context, think)
  title string
  summary string
  strategic_intent* string
  wait_for_previous boolean
list_directory (ReadFolder, search)
  dir_path* string
  ignore array<string>
  file_filtering_options object{respect_git_ignore boolean, respect_gemini_ignore boolean}
read_file (ReadFile, read)
  file_path* string
  start_line integer >=1
  end_line integer >=1
grep_search (SearchText, search)
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
glob (FindFiles, search)
  pattern* string
  dir_path string
  case_sensitive boolean
  respect_git_ignore boolean
  respect_gemini_ignore boolean
replace (Edit, edit)
  file_path* string
  instruction* string
  old_string* string
  new_string* string
  allow_multiple boolean
write_file (WriteFile, edit)
  file_path* string
  content* string
web_fetch (WebFetch, fetch)
  prompt* string
read_many_files (ReadManyFiles, read)
  include* array<string>
  exclude array<string>
  recursive boolean
  useDefaultExcludes boolean
  file_filtering_options object{respect_git_ignore boolean, respect_gemini_ignore boolean}
run_shell_command (Shell, execute, plain)
  command* string
  description string
  dir_path string
  is_background boolean
  delay_ms integer
  timeout_ms integer >=1
list_background_processes (List Background Processes, read)
  wait_for_previous boolean
read_background_output (Read Background Output, read)
  pid* integer
  lines integer >=1
  delay_ms integer
  wait_for_previous boolean
stop_background_process (Stop Background Process, execute)
  pid* integer
google_web_search (GoogleSearch, search)
  query* string
ask_user (Ask User, communicate)
  questions* array<object{question string, header string, type string choice|text|yesno, options array<object{label string, description string}>, multiSelect boolean, placeholder string}>
write_todos (WriteTodos, other)
  todos* array<object{description string, status string pending|in_progress|completed|cancelled|blocked}>
exit_plan_mode (Exit Plan Mode, plan)
  plan_filename* string
enter_plan_mode (Enter Plan Mode, plan)
  reason string
tracker_create_task (Create Task, edit)
  title* string
  description* string
  type* string epic|task|bug
  parentId string
  dependencies array<string>
tracker_update_task (Update Task, edit)
  id* string
  title string
  description string
  status string open|in_progress|blocked|closed
  dependencies array<string>
tracker_get_task (Get Task, read)
  id* string
tracker_list_tasks (List Tasks, search)
  status string open|in_progress|blocked|closed
  type string epic|task|bug
  parentId string
tracker_add_dependency (Add Dependency, edit)
  taskId* string
  dependencyId* string
tracker_visualize (Visualize Tracker, read)
save_memory (SaveMemory, edit)
  fact* string
  scope string global|project
get_internal_docs (GetInternalDocs, think)
  path string
";

#[test]
fn a_direct_fetch_takes_one_address() {
    let session = Session::with(|context| context.options.direct_web_fetch = true);
    let parameters = session.tool("web_fetch").declaration().parameters;
    assert_eq!(parameters["required"], serde_json::json!(["url"]));
    assert_eq!(parameters["properties"].as_object().unwrap().len(), 1);
}

#[test]
fn a_search_is_offered_where_somebody_can_search() {
    let session = Session::new();
    let offered = |web_search| {
        let limits = ModelLimits { web_search, ..ModelLimits::default() };
        session.tool("google_web_search").is_offered_to("m", limits)
    };
    assert!(offered(true) && !offered(false));
    assert!(session.tool("web_fetch").is_offered_to("m", ModelLimits::default()));
}

#[test]
fn declarations_are_those_of_the_original() {
    let mut listing = String::new();
    for tool in Session::new().tools {
        let declaration = tool.declaration();
        assert_eq!(declaration.name, tool.name());
        assert_eq!(declaration.parameters["type"], "object");
        assert!(declaration.description.len() > 40);
        let kind = serde_json::to_value(tool.kind()).unwrap();
        let plain = if tool.renders_markdown() { "" } else { ", plain" };
        let (name, shown) = (tool.name(), tool.display_name());
        writeln!(listing, "{name} ({shown}, {}{plain})", kind.as_str().unwrap()).unwrap();
        let required = declaration.parameters.get("required");
        let required = required.map_or(&[][..], |names| names.as_array().unwrap().as_slice());
        for (name, schema) in declaration.parameters["properties"].as_object().unwrap() {
            let item = &schema["items"];
            assert!(schema["description"].is_string() || item["type"] == "object", "{name}");
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
        _ => match (schema.get("minimum"), schema.get("enum")) {
            (Some(minimum), _) => format!("{kind} >={minimum}"),
            (None, Some(words)) => {
                let words: Vec<&str> =
                    words.as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
                format!("{kind} {}", words.join("|"))
            }
            (None, None) => kind.to_owned(),
        },
    }
}
