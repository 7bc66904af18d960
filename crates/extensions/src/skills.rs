//! Agent skills: folders with a file `SKILL.md`, in the open format of Agent Skills.
//!
//! | module | contents |
//! |---|---|
//! | `front_matter` | name and description at the beginning of a file |
//! | `skill` | [`Skill`]: one skill |
//! | `set` | [`SkillSet`]: the skills of a session |
//! | `tool` | the tool `activate_skill` |
//! | `source` | [`SkillSource`]: places from which skills are installed |
//! | `install` | installation, links and removal |
//!
//! A skill is text for the model. Its scripts run only as commands of the model, under the policy.

mod front_matter;
mod install;
mod set;
mod skill;
mod source;
mod tool;

pub use front_matter::{FrontMatter, FrontMatterError, front_matter};
pub(crate) use front_matter::{parts, values};
pub use install::{Installed, SkillFolder};
pub use set::{SkillPlaces, SkillSet};
pub use skill::{ActivatedSkill, Skill, SkillError, SkillOwner};
pub use source::{FetchedSkills, FetchedSource, SkillSource};
pub use tool::{SkillCheck, activate_skill};
