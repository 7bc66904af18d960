//! Folders of a session, with the rules about which paths may be read and written.

use std::path::{Path, PathBuf};

use pollux_config::protected::{ProtectedPlaces, Secrecy};
use pollux_config::{Loaded, Places, ProjectIdentity, context};
use pollux_fs::Workspace;
use pollux_protocol::SessionRequest;

/// Returns the workspace of a session: the project's folder, and the further folders that the
/// settings and the request name. Reports folders that cannot be read.
pub(super) fn read(
    request: &SessionRequest,
    loaded: &Loaded,
    places: &Places,
    project: &ProjectIdentity,
    protected: &ProtectedPlaces,
) -> Workspace {
    let cwd = request.folder.as_path();
    let mut workspace = Workspace::new(cwd.to_owned(), project.temporary_dir.clone());
    deny_credentials(&mut workspace, protected, cwd);
    let configured = loaded.settings.texts("context.includeDirectories").unwrap_or_default();
    let configured = configured.iter().map(|folder| places.expand_home(folder));
    let requested = request.further_folders.iter();
    let requested = requested.map(|folder| places.expand_home(&folder.to_string_lossy()));
    for given in configured.chain(requested) {
        let folder = pollux_fs::absolute(cwd, &given);
        if folder.is_dir() {
            add_folder(&mut workspace, protected, folder);
        } else {
            let text = format!("[WARN] Skipping unreadable directory: {}", folder.display());
            request.notices.warning(&text);
        }
    }
    // In the user's own folder tools may touch only context files. Project settings may name other
    // files, but never files that hold settings or credentials.
    let names = context::names(&loaded.settings.context().file_names);
    for name in
        names.iter().filter(|name| Path::new(name).extension().is_some_and(|end| end == "md"))
    {
        workspace.allow_memory_file(&places.gemini_dir().join(name));
    }
    workspace.deny(&project.memory_dir().join(".inbox"));
    workspace
}

/// Adds a folder. The credentials of Pollux in it and around it stay closed.
pub(crate) fn add_folder(workspace: &mut Workspace, protected: &ProtectedPlaces, folder: PathBuf) {
    deny_credentials(workspace, protected, &folder);
    workspace.add_root(folder);
}

fn deny_credentials(workspace: &mut Workspace, protected: &ProtectedPlaces, folder: &Path) {
    for path in protected.paths(&[folder.to_owned()]) {
        if path.secrecy == Secrecy::Credential {
            workspace.deny(&path.path);
        }
    }
}

#[cfg(test)]
mod tests;
