//! Formatting of context files for the model.

use super::ContextFile;

/// Formats each file between an opening and a closing line, with a blank line between files.
pub fn blocks(files: &[ContextFile]) -> String {
    let block = |file: &ContextFile| {
        let path = file.path.display();
        format!("--- Context from: {path} ---\n{}\n--- End of Context from: {path} ---", file.text)
    };
    files.iter().map(block).collect::<Vec<_>>().join("\n\n")
}

/// Returns the user's own files and private notes for the system instruction, or `None` if there
/// are none. `names` are the names of context files, for the heading.
pub fn system_section(
    names: &[String],
    global: &[ContextFile],
    private_memory: Option<&ContextFile>,
) -> Option<String> {
    let Some(notes) = private_memory else {
        let content = blocks(global);
        return (!content.is_empty()).then(|| {
            format!(
                "# Contextual Instructions ({})\n\
                 What follows was written by the user for you and outranks your defaults. \
                 Where two texts disagree, the one about the narrower folder wins.\n\n\
                 <loaded_context>\n{content}\n</loaded_context>",
                names.join(", ")
            )
        });
    };
    let mut parts = Vec::new();
    if !global.is_empty() {
        parts.push(format!("<global_context>\n{}\n</global_context>", blocks(global)));
    }
    parts.push(format!(
        "<user_project_memory>\n\
         --- Private Project Memory Index (private, not committed to repo) ---\n{}\n\
         --- End Private Project Memory Index ---\n</user_project_memory>",
        blocks(std::slice::from_ref(notes))
    ));
    Some(format!("---\n\n<loaded_context>\n{}\n</loaded_context>", parts.join("\n")))
}

/// Returns the context of extensions and of the project for the first message, or `None` if there
/// is none. `extensions` and `servers` (instructions of MCP servers) are already formatted.
pub fn project_section(extensions: &str, project: &[ContextFile], servers: &str) -> Option<String> {
    let mut parts = Vec::new();
    if !extensions.is_empty() {
        parts.push(format!("<extension_context>\n{extensions}\n</extension_context>"));
    }
    let project = blocks(project);
    let project: Vec<_> =
        [project.as_str(), servers].into_iter().filter(|text| !text.is_empty()).collect();
    if !project.is_empty() {
        parts.push(format!("<project_context>\n{}\n</project_context>", project.join("\n\n")));
    }
    (!parts.is_empty())
        .then(|| format!("<loaded_context>\n{}\n</loaded_context>", parts.join("\n")))
}
