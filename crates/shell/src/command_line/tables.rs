//! List of the tables in `programs/`; a test compares it with the directory.

/// Includes the tables of these names.
macro_rules! tables {
    ($($name:literal)*) => {
        &[$(($name, include_str!(concat!("../../programs/", $name, ".toml")))),*]
    };
}

/// Name and text of each table.
#[rustfmt::skip]
pub(super) const TABLES: &[(&str, &str)] = tables![
    "cat" "echo" "find" "git" "grep" "ls" "rm" "sed" "sh" "timeout" "xargs"
];
