//! One skill.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use pollux_config::skills::SKILL_FILE;
use pollux_fs::{MAX_TREE_ITEMS, folder_tree};

use super::front_matter::{FrontMatter, FrontMatterError, front_matter};
use crate::variables::Variables;

/// Number of bytes in which the front matter of most files ends.
const HEAD: usize = 2048;
/// Maximum size of the front matter, in bytes.
const MAX_FRONT_MATTER: usize = 64 << 10;
/// Maximum size of a file, in bytes.
const MAX_FILE: u64 = 1 << 20;

/// Owner of a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SkillOwner {
    /// The user.
    User,
    /// The project.
    Project,
    /// The extension with this name.
    Extension(Arc<str>),
}

/// Skill whose front matter was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skill {
    /// Name for activating the skill.
    pub name: String,
    /// Description of the tasks that the skill is for.
    pub description: String,
    /// Folder of the skill.
    pub folder: PathBuf,
    /// Owner of the folder.
    pub owner: SkillOwner,
    /// Variables that its text may name.
    pub variables: Variables,
}

/// Error of a skill that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SkillError {
    /// The file cannot be read.
    #[error(transparent)]
    File(#[from] pollux_fs::Error),
    /// The text is no skill.
    #[error("The skill {} is left out: {reason}.", file.display())]
    FrontMatter {
        /// File of the skill.
        file: PathBuf,
        /// Reason.
        reason: FrontMatterError,
    },
}

/// Text of a skill with the drawing of its folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActivatedSkill {
    /// Name of the skill.
    pub name: String,
    /// Instructions for the model.
    pub instructions: String,
    /// Drawing of the folder.
    pub tree: String,
}

impl Skill {
    /// Reads the front matter of the skill in a folder, and nothing else. Blocks the thread.
    ///
    /// # Errors
    /// The reason why it is no skill.
    pub fn read(folder: &Path, owner: SkillOwner) -> Result<Self, SkillError> {
        let file = folder.join(SKILL_FILE);
        let head = |limit| {
            let bytes = pollux_fs::read_head(&file, limit)?;
            let text = String::from_utf8_lossy(&bytes);
            Ok::<_, SkillError>(front_matter(&text).map(|(read, _)| read))
        };
        let read = match head(HEAD)? {
            Err(FrontMatterError::Unclosed) => head(MAX_FRONT_MATTER)?,
            read => read,
        };
        let FrontMatter { name, description } =
            read.map_err(|reason| SkillError::FrontMatter { file, reason })?;
        let (folder, variables) = (folder.to_owned(), Variables::default());
        Ok(Self { name, description, folder, owner, variables })
    }

    /// Returns the path of the skill's file.
    pub fn file(&self) -> PathBuf {
        self.folder.join(SKILL_FILE)
    }

    /// Returns the drawing of the skill's folder. Blocks the thread.
    pub fn tree(&self) -> String {
        folder_tree(&self.folder, None, MAX_TREE_ITEMS).trim_end().to_owned()
    }

    /// Reads the skill as it is now. Blocks the thread.
    ///
    /// # Errors
    /// The reason why it is no skill any more.
    pub fn activate(&self) -> Result<ActivatedSkill, SkillError> {
        let file = self.file();
        let bytes = pollux_fs::read_bytes(&file, MAX_FILE)?;
        let text = String::from_utf8_lossy(&bytes);
        let (_, body) = front_matter(&text)
            .map_err(|reason| SkillError::FrontMatter { file: file.clone(), reason })?;
        let (name, instructions) = (self.name.clone(), self.variables.fill_text(body));
        Ok(ActivatedSkill { name, instructions, tree: self.tree() })
    }
}

impl ActivatedSkill {
    /// Returns the text for the model, in the layout of Gemini CLI.
    pub fn for_model(&self) -> String {
        let Self { name, instructions, tree } = self;
        format!(
            "<activated_skill name=\"{name}\">\n  <instructions>\n    {instructions}\n  </instructions>\n\n  <available_resources>\n    {tree}\n  </available_resources>\n</activated_skill>"
        )
    }
}
