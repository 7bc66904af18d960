//! The sample of code and of a change in which a theme is shown. Pure.

use crate::diff::Change;
use crate::row::{Look, Row};

/// Change in the sample.
const PATCH: &str = "@@ -4,2 +4,2 @@\n     name = \"you\"\n\
                     -    return \"Hello, \" + name\n+    return f\"Good day, {name}!\"\n";

/// Returns the rows of the sample.
pub(super) fn rows(cells: usize) -> Vec<Row> {
    let mut rows = vec![
        Row::new(Look::Title, "Preview"),
        Row::new(Look::Comment, "# Greets a person."),
        Row::new(Look::Keyword, "def ")
            .with(Look::Function, "greet")
            .with(Look::Plain, "(name: ")
            .with(Look::TypeName, "str")
            .with(Look::Plain, ", times="),
    ];
    rows[2] = rows[2].clone().with(Look::Number, "1").with(Look::Plain, "):");
    rows.push(
        Row::new(Look::Keyword, "    return ")
            .with(Look::StringText, "\"Hello, \"")
            .with(Look::Plain, " + name"),
    );
    rows.push(Row::default());
    rows.extend(Change::of_patch(PATCH).rows(cells.max(8), 0));
    rows.push(Row::default());
    rows.push(
        Row::new(Look::Cyan, "> prompt  ")
            .with(Look::Yellow, "! warning  ")
            .with(Look::Red, "x error"),
    );
    rows.push(Row::new(Look::Link, "https://example.com").with(Look::Dim, "  1.2 s · 40 tokens"));
    for row in &mut rows {
        row.cut(cells);
    }
    rows
}
