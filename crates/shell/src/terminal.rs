//! The pseudo-terminal in which a command runs.

#[cfg_attr(unix, path = "terminal/unix.rs")]
#[cfg_attr(not(unix), path = "terminal/none.rs")]
mod system;

pub(crate) use system::Terminal;

/// The size of a terminal, in cells. The limits leave room for a wide character and a wrapped line,
/// and keep lines from using much memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TerminalSize {
    columns: u16,
    rows: u16,
}

impl TerminalSize {
    /// Minimum number of columns and rows.
    const LEAST: u16 = 2;
    /// Maximum number of columns.
    const MOST_COLUMNS: u16 = 1000;
    /// Maximum number of rows.
    const MOST_ROWS: u16 = 500;

    /// Creates the permitted size that is nearest to these values.
    pub fn new(columns: u16, rows: u16) -> Self {
        Self {
            columns: columns.clamp(Self::LEAST, Self::MOST_COLUMNS),
            rows: rows.clamp(Self::LEAST, Self::MOST_ROWS),
        }
    }

    /// Returns the number of cells in a line.
    pub fn columns(self) -> u16 {
        self.columns
    }

    /// Returns the number of lines.
    pub fn rows(self) -> u16 {
        self.rows
    }
}

impl Default for TerminalSize {
    /// Returns 80 by 24, which programs assume if the size is unknown.
    fn default() -> Self {
        Self { columns: 80, rows: 24 }
    }
}

/// Terminal settings made by a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Modes {
    /// True if typed text is shown.
    pub(crate) echo: bool,
    /// True if input is passed on line by line. Programs that draw the screen or edit lines
    /// themselves read each key.
    pub(crate) lines: bool,
}
