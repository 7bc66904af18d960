//! Project files that programs run by convention, without a name in the command.

use super::model::{SimpleCommand, Word};

/// Programs that run the scripts of one file, with the names of the file.
const BY_CONVENTION: [(&[&str], &[&str]); 5] = [
    (&["make", "gmake", "bmake"], &["GNUmakefile", "makefile", "Makefile", "BSDmakefile"]),
    (&["npm", "pnpm", "yarn"], &["package.json", ".npmrc", ".yarnrc", ".yarnrc.yml"]),
    (&["just"], &["justfile", "Justfile", ".justfile"]),
    (&["rake"], &["Rakefile", "rakefile", "Rakefile.rb", "rakefile.rb"]),
    (&["composer"], &["composer.json"]),
];

/// Programs that run project files that cannot be listed: sources, tests, plug-ins, and what they
/// load.
const UNLISTED: [&str; 63] = [
    "ansible-playbook",
    "ant",
    "bazel",
    "behave",
    "black",
    "buck2",
    "bun",
    "bundle",
    "bundler",
    "cargo",
    "cmake",
    "ctest",
    "cucumber",
    "cypress",
    "deno",
    "dotnet",
    "eslint",
    "flake8",
    "flutter",
    "gem",
    "go",
    "gradle",
    "gradlew",
    "grunt",
    "gulp",
    "invoke",
    "jest",
    "lein",
    "meson",
    "mix",
    "mocha",
    "mvn",
    "mvnw",
    "mypy",
    "ninja",
    "nox",
    "npx",
    "nx",
    "phpunit",
    "pip",
    "pip3",
    "playwright",
    "pnpx",
    "poetry",
    "pre-commit",
    "prettier",
    "py.test",
    "pylint",
    "pytest",
    "rspec",
    "sbt",
    "scons",
    "swift",
    "task",
    "terraform",
    "tox",
    "ts-node",
    "tsx",
    "turbo",
    "uv",
    "vite",
    "vitest",
    "webpack",
];

/// Returns the files that the command runs by convention, in the current directory and in the
/// directories that its words name; `None` if they cannot be listed.
pub(super) fn of(command: &SimpleCommand) -> Option<Vec<String>> {
    let name = command.base_name();
    if UNLISTED.contains(&name) || runs_module(command) {
        return None;
    }
    let convention = BY_CONVENTION.iter().find(|(names, _)| names.contains(&name));
    let Some((_, files)) = convention else { return Some(Vec::new()) };
    let named = command.words.iter().skip(1).filter_map(Word::literal);
    let folders = named.map(|word| match word.rsplit_once('=') {
        Some((_, value)) => value,
        None => word.strip_prefix("-C").filter(|rest| !rest.is_empty()).unwrap_or(word),
    });
    let inner = folders.flat_map(|folder| files.iter().map(move |file| format!("{folder}/{file}")));
    Some(files.iter().map(|file| (*file).to_owned()).chain(inner).collect())
}

/// Returns true for an interpreter that runs a module or the package of a folder.
fn runs_module(command: &SimpleCommand) -> bool {
    let name = command.base_name().trim_end_matches(|one: char| one.is_ascii_digit() || one == '.');
    let mut words = command.words.iter().skip(1).filter_map(Word::literal);
    match name {
        "python" | "pypy" | "py" => words.any(|word| {
            let is_group = word.starts_with('-') && !word.starts_with("--");
            (is_group && word.contains('m')) || is_folder(word)
        }),
        "node" | "nodejs" => words.any(|word| {
            let is_option = ["-r", "--require", "--import", "--test", "--run", "--loader"]
                .iter()
                .any(|option| word.starts_with(option));
            is_option || is_folder(word)
        }),
        "ruby" | "perl" | "php" => words.any(|word| word.starts_with("-r") || word == "-S"),
        _ => false,
    }
}

/// Returns true for the path of a folder, as far as the path shows it.
fn is_folder(word: &str) -> bool {
    let last = word.trim_end_matches('/').rsplit('/').next().unwrap_or(word);
    !word.starts_with('-') && (word.ends_with('/') || matches!(last, "." | ".."))
}
