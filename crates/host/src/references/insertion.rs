//! Content of a file or folder that a custom command inserts with `@{path}`.

use pollux_fs::IgnoreRules;
use pollux_protocol::{Part, SessionFailure};

use super::report::{Report, Unresolved};
use super::resolver::{Resolver, shown_path};
use super::{Expander, References, ResourceParts};

/// Content of one path.
pub(crate) struct Insertion {
    /// The content; `None` if the placeholder stays text.
    pub(crate) parts: Option<Vec<Part>>,
    /// Messages for the user about everything that is missing.
    pub(crate) warnings: Vec<String>,
}

impl Expander {
    /// Reads a file or folder of the workspace. Every ignore file counts, because the user has not
    /// named the path. Reads on a thread where blocking is allowed.
    ///
    /// # Errors
    /// [`SessionFailure::General`] if the thread fails.
    pub(crate) async fn insertion(&self, path: &str) -> Result<Insertion, SessionFailure> {
        let Self { workspace, files, ignore, .. } = self.clone();
        let (workspace, path) = (workspace.get(), path.to_owned());
        let work = tokio::task::spawn_blocking(move || {
            let rules = IgnoreRules::for_roots(workspace.roots(), &ignore);
            References {
                workspace: &workspace,
                files: &*files,
                rules: &rules,
                kept: &rules,
                recursive_search: false,
                piped: 0,
                resources: &ResourceParts::default(),
                agents: &[],
            }
            .insertion(&path)
        });
        work.await.map_err(|error| SessionFailure::general(&error))
    }
}

impl References<'_> {
    fn insertion(&self, path: &str) -> Insertion {
        let mut resolver = Resolver::new(self.workspace, self.rules, self.kept, false);
        let mut report = Report::default();
        let resolved = match resolver.resolve(path) {
            Ok(resolved) => resolved,
            Err(Unresolved::Ignored) => {
                let text = format!(
                    "File '@{{{path}}}' was ignored by .gitignore or .geminiignore and was not included in the prompt."
                );
                return Insertion { parts: Some(Vec::new()), warnings: vec![text] };
            }
            Err(reason) => {
                let reason = match reason {
                    Unresolved::Missing => format!("Path not found in workspace: {path}"),
                    reason => reason.description().to_owned(),
                };
                let text = failed(path, &reason);
                return Insertion { parts: None, warnings: vec![text] };
            }
        };
        let root = self.workspace.root_of(&resolved.path).unwrap_or(&resolved.path);
        let folder = resolved.is_directory.then(|| shown_path(root, &resolved.path));
        let files = self.files(std::iter::once(resolved), &resolver, &mut report);
        match self.contents(&files, &mut report) {
            Ok(contents) => {
                let mut parts = match folder {
                    Some(folder) => of_folder(path, &folder, contents),
                    None => contents.into_iter().map(|(_, body)| body).collect(),
                };
                parts.extend(report.for_model.iter().map(|text| Part::text(format!("\n{text}"))));
                Insertion { parts: Some(parts), warnings: report.for_user(false) }
            }
            Err(error) => {
                let text = failed(path, &error.source.to_string());
                Insertion { parts: None, warnings: vec![text] }
            }
        }
    }
}

/// Returns the content of a folder in the layout of Gemini CLI. Labels are relative to the folder.
fn of_folder(path: &str, folder: &str, contents: Vec<(&str, Part)>) -> Vec<Part> {
    let mut parts = vec![Part::text(format!("--- Start of content for directory: {path} ---\n"))];
    for (label, body) in contents {
        let below = label.strip_prefix(folder).and_then(|rest| rest.strip_prefix('/'));
        parts.push(Part::text(format!("--- {} ---\n", below.unwrap_or(label))));
        parts.extend([body, Part::text("\n")]);
    }
    parts.push(Part::text(format!("--- End of content for directory: {path} ---")));
    parts
}

/// Returns the message about a path whose content is not inserted, in the words of Gemini CLI.
fn failed(path: &str, reason: &str) -> String {
    format!("Failed to inject content for '@{{{path}}}': {reason}. Leaving placeholder in prompt.")
}
