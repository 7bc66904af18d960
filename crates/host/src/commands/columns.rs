//! Aligned text for the output of commands.

/// Returns one line for each pair, with the values in one column.
pub(super) fn fields<'a, V: AsRef<str>>(rows: impl IntoIterator<Item = (&'a str, V)>) -> String {
    let rows: Vec<(&str, V)> = rows.into_iter().collect();
    let width = rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or_default();
    let line = |(name, value): &(&str, V)| format!("{name:<width$}  {}", value.as_ref());
    rows.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Returns a table. The first column is aligned to the left, all others to the right.
pub(crate) fn table_of(rows: &[Vec<String>]) -> String {
    let columns = rows.first().map_or(0, Vec::len);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or_default()
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, width))| {
            if column == 0 { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
        });
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Returns a list with one item on each line.
pub(super) fn joined_list(items: impl IntoIterator<Item = String>) -> String {
    items.into_iter().map(|item| format!("- {item}")).collect::<Vec<_>>().join("\n")
}
