//! Greatest effect of programs, and the programs that they start by themselves, according to their
//! tables.

use super::model::SimpleCommand;
use super::programs::{Does, usage};
use super::table::{Form, Usage};
use super::tables::TABLES;

/// A program that starts other programs by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Starter {
    /// Names of the program.
    pub names: Vec<&'static str>,
    /// Programs and code that it starts, as a noun phrase.
    pub starts: &'static str,
}

/// Returns the programs with a table that start other programs by themselves, in alphabetical
/// order.
pub fn starters() -> Vec<Starter> {
    let of = |name: &'static str| {
        let usage = usage(name)?;
        let further = usage.names.iter().map(String::as_str);
        let names = std::iter::once(name).chain(further).collect();
        Some(Starter { names, starts: usage.starts.as_deref()? })
    };
    TABLES.iter().filter_map(|(name, _)| of(name)).collect()
}

impl SimpleCommand {
    /// Returns a noun phrase for the programs and code that the program starts by itself, apart
    /// from its arguments.
    pub fn starts(&self) -> Option<&'static str> {
        usage(self.name())?.starts.as_deref()
    }

    /// Returns the greatest effect that the program's table allows for any arguments; `None`
    /// without a table, and for a program that only runs other commands.
    pub fn greatest_effect(&self) -> Option<Does> {
        greatest(usage(self.name())?, None)
    }

    /// Returns the names of the program's subcommands with an effect beyond reading.
    pub fn changing_subcommands(&self) -> Vec<&'static str> {
        let Some(usage) = usage(self.name()) else { return Vec::new() };
        let changes = |name: &&'static str| {
            usage.subcommands.get(*name).and_then(|inner| greatest(inner, usage.does))
                > Some(Does::Reads)
        };
        usage.subcommands.keys().map(String::as_str).filter(changes).collect()
    }
}

fn greatest(usage: &Usage, inherited: Option<Does>) -> Option<Does> {
    let own = usage.does.or(inherited);
    let options = usage.options.values().map(|kind| &kind.form);
    let mut forms = usage.operands.iter().map(|operand| &operand.form).chain(options);
    let writes = forms.any(|form| matches!(form, Form::Write | Form::Program));
    let inner = usage.subcommands.values().chain(usage.otherwise.as_deref());
    inner
        .map(|usage| greatest(usage, own))
        .chain([own, writes.then_some(Does::Changes)])
        .max()
        .flatten()
}
