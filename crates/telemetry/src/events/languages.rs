//! Programming languages by file extension, with Gemini CLI's names.

/// Returns the language of files with this extension, in upper or lower case.
pub(super) fn language(extension: &str) -> Option<&'static str> {
    Some(match extension.to_lowercase().as_str() {
        "asm" | "s" => "assembly",
        "bat" | "cmd" => "bat",
        "c" | "h" => "c",
        "clj" | "cljs" => "clojure",
        "cpp" | "cxx" | "cc" | "hpp" => "cpp",
        "cs" => "csharp",
        "css" => "css",
        "dart" => "dart",
        "dockerfile" => "dockerfile",
        "ejs" => "ejs",
        "ex" => "elixir",
        "erl" => "erlang",
        "fs" => "fsharp",
        "go" => "go",
        "graphql" => "graphql",
        "groovy" => "groovy",
        "hbs" => "handlebars",
        "hs" => "haskell",
        "html" | "htm" => "html",
        "java" => "java",
        "js" | "mjs" | "cjs" => "javascript",
        "jsx" => "javascriptreact",
        "json" => "json",
        "jl" => "julia",
        "kt" => "kotlin",
        "tex" => "latex",
        "less" => "less",
        "lisp" => "lisp",
        "lua" => "lua",
        "md" | "markdown" => "markdown",
        "m" => "objective-c",
        "mm" => "objective-cpp",
        "pl" | "pm" => "perl",
        "php" | "phtml" => "php",
        "ps1" => "powershell",
        "proto" => "proto",
        "py" => "python",
        "r" => "r",
        "rkt" => "racket",
        "rb" => "ruby",
        "rs" => "rust",
        "sass" => "sass",
        "scala" | "sc" => "scala",
        "scss" => "scss",
        "sh" => "shellscript",
        "sql" => "sql",
        "svelte" => "svelte",
        "swift" => "swift",
        "toml" => "toml",
        "ts" => "typescript",
        "tsx" => "typescriptreact",
        "vb" => "vb",
        "vim" => "vim",
        "vue" => "vue",
        "xml" => "xml",
        "yaml" | "yml" => "yaml",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_case_of_an_extension_does_not_matter() {
        for (extension, expected) in [
            ("rs", Some("rust")),
            ("R", Some("r")),
            ("TSX", Some("typescriptreact")),
            ("txt", None),
        ] {
            assert_eq!(language(extension), expected);
        }
    }
}
