//! The pseudo-terminal that a command takes for the terminal it runs in.

#[cfg_attr(unix, path = "terminal/unix.rs")]
#[cfg_attr(not(unix), path = "terminal/none.rs")]
mod system;

pub(crate) use system::Terminal;

/// The size of a terminal, in cells. Neither side is ever too short for a wide character or a broken line, or so long
/// that a line would cost memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TerminalSize {
    columns: u16,
    rows: u16,
}

impl TerminalSize {
    /// The shortest sides.
    const LEAST: u16 = 2;
    /// The longest line.
    const MOST_COLUMNS: u16 = 1000;
    /// The most lines.
    const MOST_ROWS: u16 = 500;

    /// A size as near to this one as a terminal may have.
    pub fn new(columns: u16, rows: u16) -> Self {
        Self {
            columns: columns.clamp(Self::LEAST, Self::MOST_COLUMNS),
            rows: rows.clamp(Self::LEAST, Self::MOST_ROWS),
        }
    }

    /// Cells of a line.
    pub fn columns(self) -> u16 {
        self.columns
    }

    /// Lines.
    pub fn rows(self) -> u16 {
        self.rows
    }
}

impl Default for TerminalSize {
    /// 80 by 24, which is what programs expect where nobody tells.
    fn default() -> Self {
        Self { columns: 80, rows: 24 }
    }
}

/// How a program has set its terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Modes {
    /// What is typed is shown.
    pub(crate) echo: bool,
    /// It is handed on line by line. Programs that draw or edit lines by themselves take each key.
    pub(crate) lines: bool,
}
