use std::fs;
use std::time::Instant;

use pollux_fs::IgnoreOptions;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use tempfile::TempDir;

use pollux_protocol::LocalFiles;

use super::*;

/// A workspace on disk.
struct Sample {
    folder: TempDir,
    recursive_search: bool,
    typed: bool,
    agents: Vec<String>,
}

impl Sample {
    fn new(files: &[(&str, &str)]) -> Self {
        let sample = Self {
            folder: TempDir::new().unwrap(),
            recursive_search: true,
            typed: true,
            agents: Vec::new(),
        };
        for (name, text) in files {
            sample.write(name, text.as_bytes());
        }
        sample
    }

    fn write(&self, name: &str, bytes: &[u8]) {
        let path = self.root().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    fn expand(&self, prompt: &str) -> Result<Expansion, ReferenceError> {
        let mut workspace = Workspace::new(self.root(), self.folder.path().join("temp"));
        workspace.add_root(self.folder.path().join("second"));
        let rules = IgnoreRules::for_roots(workspace.roots(), &IgnoreOptions::default());
        let options = IgnoreOptions { git: !self.typed, ..IgnoreOptions::default() };
        let kept = IgnoreRules::for_roots(workspace.roots(), &options);
        let (workspace, rules, kept) = (&workspace, &rules, &kept);
        let recursive_search = self.recursive_search;
        let files = &LocalFiles;
        let piped = if self.typed { 0 } else { prompt.len() };
        let resources = &ResourceParts::new();
        let agents = &self.agents;
        References { workspace, files, rules, kept, recursive_search, piped, resources, agents }
            .expand(prompt)
    }

    /// Returns the parts in their serialised form.
    fn parts(&self, prompt: &str) -> Value {
        serde_json::to_value(self.expand(prompt).unwrap().parts).unwrap()
    }

    /// Returns the messages for the user about what is missing.
    fn warnings(&self, prompt: &str) -> Vec<String> {
        self.expand(prompt).unwrap().report.for_user(false)
    }

    /// Returns the labels of the files whose content was included.
    fn labels(&self, prompt: &str) -> Vec<String> {
        let parts = self.expand(prompt).unwrap().parts;
        let label = |part: &Part| {
            let label = part.as_text()?.strip_prefix("\nContent from @")?.strip_suffix(":\n")?;
            Some(label.to_owned())
        };
        parts.iter().filter_map(label).collect()
    }
}

#[test]
fn the_layout() {
    let sample = Sample::new(&[("src/b.txt", "two\r\nlines\r\n"), ("a.txt", "one\n")]);
    assert_eq!(
        sample.parts("compare @src/b.txt with @./a.txt. \n"),
        json!([
            {"text": "compare @src/b.txt with @./a.txt."},
            {"text": "\n--- Content from referenced files ---"},
            {"text": "\nContent from @./a.txt:\n"},
            {"text": "one"},
            {"text": "\nContent from @src/b.txt:\n"},
            {"text": "two\nlines"},
            {"text": "\n--- End of content ---"},
        ])
    );
}

#[test]
fn a_prompt_that_refers_to_nothing_is_left_alone() {
    let mut sample = Sample::new(&[("a.txt", "one")]);
    fs::write(sample.folder.path().join("secret"), "x").unwrap();
    sample.recursive_search = false;
    let absolute = sample.folder.path().join("secret");
    let outside = format!("@{} ", absolute.display());
    for prompt in
        ["@nosuch \n", "@@ -1 +1 @@", "me@example.com", "@../secret", &outside, "@a\0b", "@\"\""]
    {
        assert_eq!(sample.parts(prompt), json!([{"text": prompt}]), "{prompt:?}");
    }
}

#[test]
fn what_is_not_found_stays_as_typed_beside_what_is() {
    let sample = Sample::new(&[("my file.txt", "one")]);
    let parts = sample.parts("me@example.com: @my\\ file.txt,\n@no\\ such");
    assert_eq!(parts[0], json!({"text": "me@example.com: @my file.txt,\n@no\\ such"}));
    assert_eq!(parts[2], json!({"text": "\nContent from @my file.txt:\n"}));
}

#[test]
fn punctuation_after_a_path_belongs_to_the_sentence() {
    let sample = Sample::new(&[("a.txt", "one"), ("b:c", "two")]);
    for (prompt, labels) in [
        ("Quote \"@a.txt\"!", vec!["a.txt"]),
        ("Look at '@a.txt': what?", vec!["a.txt"]),
        ("`@a.txt` <@a.txt>", vec!["a.txt"]),
        ("看@a.txt，然后 。", vec!["a.txt"]),
        ("@a.txt…", vec!["a.txt"]),
        ("@b:c: a name with a colon", vec!["b:c"]),
        ("@nosuch: x", vec![]),
    ] {
        assert_eq!(sample.labels(prompt), labels, "{prompt}");
    }
    let parts = sample.parts("看@a.txt，然后");
    assert_eq!(parts[0], json!({"text": "看@a.txt，然后"}));
}

#[test]
fn an_absolute_path_is_shown_from_the_workspace() {
    let sample = Sample::new(&[("src/a.rs", "fn")]);
    let prompt = format!("@{}", sample.root().join("src/a.rs").display());
    assert_eq!(sample.parts(&prompt)[0], json!({"text": "@src/a.rs"}));
    assert_eq!(sample.labels(&prompt), ["src/a.rs"]);
}

#[test]
fn a_folder_brings_its_text_files() {
    let sample = Sample::new(&[
        ("src/z.rs", "z"),
        ("src/.hidden/a.rs", "a"),
        ("src/node_modules/x.js", "x"),
        ("src/lib.so", "x"),
        ("src/a.log", "x"),
        (".gitignore", "*.log\n"),
        ("other.rs", "o"),
    ]);
    fs::create_dir(sample.root().join(".git")).unwrap();
    sample.write("src/picture.png", b"\x89PNG\r\n\x1a\n\0\0");
    sample.write("src/binary", b"\0\x01\x02");
    for prompt in ["look at @src/ now", "look at @src now", "look at @./other/../src now"] {
        assert_eq!(sample.labels(prompt), ["src/.hidden/a.rs", "src/z.rs"], "{prompt}");
        assert_eq!(sample.parts(prompt)[0], json!({"text": "look at @src/** now"}));
    }
    assert_eq!(sample.parts("@./")[0], json!({"text": "@**"}));
    assert_eq!(sample.labels("@src @src/z.rs @src/z.rs").len(), 2);
    fs::create_dir(sample.root().join("empty")).unwrap();
    assert_eq!(sample.parts("in @empty"), json!([{"text": "in @empty/**"}]));
}

#[test]
fn ignored_files_are_skipped_and_reported() {
    let sample = Sample::new(&[
        (".geminiignore", "secret*\nhidden/\n"),
        ("secret.txt", "x"),
        ("hidden/a", "x"),
    ]);
    let expansion = sample.expand("@secret.txt @hidden @hidden/a").unwrap();
    assert_eq!(expansion.parts, [Part::text("@secret.txt @hidden @hidden/a")]);
    assert_eq!(
        expansion.report.for_user(true),
        [
            "@secret.txt: ignored; sent as text.",
            "@hidden: ignored; sent as text.",
            "@hidden/a: ignored; sent as text."
        ]
    );
}

#[test]
fn a_person_may_name_what_git_leaves_out() {
    let mut sample = Sample::new(&[
        (".git/HEAD", ""),
        (".gitignore", "*.log\nout/\n"),
        (".geminiignore", "secret*\n"),
        ("x.log", "x"),
        ("secret.log", "s"),
        ("out/a.txt", "a"),
        ("out/secret", "s"),
        ("out/node_modules/m.js", "m"),
    ]);
    assert_eq!(sample.labels("@x.log @secret.log"), ["x.log"]);
    assert_eq!(sample.labels("@out @out/secret"), ["out/a.txt"]);
    assert_eq!(sample.labels("@./"), [".geminiignore", ".gitignore"]);
    sample.typed = false;
    assert_eq!(sample.parts("@x.log @out"), json!([{"text": "@x.log @out"}]));
}

#[test]
fn media_travel_as_bytes_when_they_are_named() {
    let sample = Sample::new(&[]);
    sample.write("p.png", b"\x89PNG");
    sample.write("d.pdf", b"%PDF-1.7");
    sample.write("x.zip", b"PK\x03\x04");
    assert_eq!(
        sample.parts("@p.png @d.pdf @x.zip"),
        json!([
            {"text": "@p.png @d.pdf @x.zip"},
            {"text": "\n--- Content from referenced files ---"},
            {"text": "\nContent from @d.pdf:\n"},
            {"inlineData": {"mimeType": "application/pdf", "data": "JVBERi0xLjc="}},
            {"text": "\nContent from @p.png:\n"},
            {"inlineData": {"mimeType": "image/png", "data": "iVBORw=="}},
            {"text": "\nContent from @x.zip:\n"},
            {"text": "Cannot display content of binary file: x.zip"},
            {"text": "\n--- End of content ---"},
        ])
    );
}

#[test]
fn a_name_is_searched_for_below_the_folders() {
    let mut sample = Sample::new(&[
        ("deep/down/UserService.java", "class"),
        ("deep/node_modules/userservice.js", "no"),
        ("deep/ignored/userservice.txt", "no"),
        (".geminiignore", "ignored/\n"),
    ]);
    let parts = sample.parts("explain @userservice");
    assert_eq!(parts[0], json!({"text": "explain @deep/down/UserService.java"}));
    assert_eq!(parts[3], json!({"text": "class"}));
    assert_eq!(sample.labels("explain @down/user"), ["deep/down/UserService.java"]);
    sample.recursive_search = false;
    assert_eq!(sample.parts("explain @userservice"), json!([{"text": "explain @userservice"}]));
}

#[test]
fn the_second_folder_counts_too() {
    let sample = Sample::new(&[("a.txt", "first")]);
    sample.write("../second/b/c.txt", b"second");
    assert_eq!(sample.labels("@a.txt @b/c.txt"), ["a.txt", "b/c.txt"]);
    assert_eq!(sample.labels("@b"), ["b/c.txt"]);
}

#[test]
fn a_named_file_that_cannot_be_read_ends_the_run() {
    // Uses a socket, because permissions do not stop a test that runs as root.
    let sample = Sample::new(&[("a", "x")]);
    #[cfg(unix)]
    {
        let _socket = std::os::unix::net::UnixListener::bind(sample.root().join("s")).unwrap();
        let error = sample.expand("@a @s").unwrap_err().to_string();
        let expected =
            "Exiting due to an error processing the @ command: Error reading files (s): ";
        assert!(error.starts_with(expected), "{error}");
        assert_eq!(sample.labels("@./"), ["a"]);
    }
}

#[test]
fn too_much_is_left_out_and_said() {
    let sample = Sample::new(&[]);
    let big = format!("{}\n", "x".repeat(999)).repeat(700);
    for name in ["a", "b", "c", "d"] {
        sample.write(name, big.as_bytes());
    }
    assert_eq!(sample.labels("@./"), ["a", "b"]);
    let expansion = sample.expand("@./").unwrap();
    let total: usize = expansion.parts.iter().filter_map(Part::as_text).map(str::len).sum();
    assert!(total < (1 << 20) + 1000);
    let [.., said, closing] = &expansion.parts[..] else { panic!("too few parts") };
    assert!(said.as_text().unwrap().contains("2 files, beginning with c"));
    let left_out = "Left out because the files are too large together: 2 files, beginning with c.";
    assert_eq!(expansion.report.for_user(false), [left_out]);
    assert_eq!(closing.as_text(), Some(CLOSING));

    let huge = fs::File::create(sample.root().join("huge")).unwrap();
    huge.set_len(21 * 1024 * 1024).unwrap();
    let parts = sample.parts("@huge");
    let said = parts[3]["text"].as_str().unwrap();
    assert!(
        said.starts_with("File size exceeds the 20MB limit: ") && said.ends_with("huge (21.00MB)")
    );
}

#[test]
fn a_name_that_stays_text_is_reported_with_the_reason() {
    let mut sample = Sample::new(&[("a.txt", "one")]);
    fs::write(sample.folder.path().join("secret"), "x").unwrap();
    let outside = "not in the workspace, or not open to the model; sent as text.";
    let table = [
        ("see @nosuch.md.", vec!["@nosuch.md: no such file; sent as text.".to_owned()]),
        ("@../secret and @.env", vec![format!("@../secret: {outside}"), missing(".env")]),
        ("(@gone) @gone, @gone", vec![missing("gone")]),
        ("@a.txt @@ -1 +1 @@ me@example.com", vec![]),
    ];
    for (prompt, expected) in table {
        assert_eq!(sample.warnings(prompt), expected, "{prompt}");
    }
    let long = "x".repeat(300);
    assert_eq!(sample.warnings(&format!("@{long}")), [missing(&format!("{}…", &long[..200]))]);
    sample.typed = false;
    assert_eq!(sample.warnings("@nosuch.md"), [] as [&str; 0]);
}

fn missing(name: &str) -> String {
    format!("@{name}: no such file; sent as text.")
}

#[test]
fn what_is_included_is_reported_at_a_terminal() {
    let sample = Sample::new(&[("a.txt", "one\n"), ("b/1", "1\n2"), ("b/2", "1"), ("b/3", "1")]);
    fs::create_dir(sample.root().join("empty")).unwrap();
    sample.write("x.zip", b"PK\x03\x04");
    let reported = |prompt| sample.expand(prompt).unwrap().report.for_user(true);
    assert_eq!(reported("@a.txt"), ["Included: a.txt, 1 line."]);
    assert_eq!(reported("@a.txt @b"), ["Included: a.txt, b/1, b/2 and 1 other file, 5 lines."]);
    assert_eq!(reported("@empty"), ["@empty: no files to send."]);
    assert_eq!(reported("@x.zip"), ["@x.zip: binary file; not sent."]);
    sample.write("b/4", b"\x00\x01");
    assert_eq!(
        reported("@b"),
        ["Not sent, because they are no text: b/4.", "Included: b/1, b/2, b/3, 4 lines.",]
    );
    for name in ["b/5.zip", "b/6.docx", "b/.env", "b/deep/lib.so", "b/venv.bin/x"] {
        sample.write(name, b"PK\x03\x04");
    }
    let excluded =
        "Not sent, because of their names: 4 files (b/.env, b/5.zip, b/6.docx and 1 other file).";
    assert_eq!(reported("@b")[1], excluded);
    let named = reported("@b @b/5.zip");
    assert!(named.contains(&"@b/5.zip: binary file; not sent.".to_owned()), "{named:?}");
    assert!(named.iter().any(|line| line.contains("names: 3 files (b/.env,")), "{named:?}");
    assert_eq!(
        reported("see @../ and @..."),
        ["@../: not in the workspace, or not open to the model; sent as text."]
    );
    assert_eq!(reported("nothing"), [] as [&str; 0]);
}

#[test]
fn a_file_that_is_cut_is_reported() {
    let sample = Sample::new(&[]);
    sample.write("long.txt", "l\n".repeat(2500).as_bytes());
    sample.write("whole.txt", "l\n".repeat(2000).as_bytes());
    sample.write("min.json", "x".repeat(5000).as_bytes());
    assert_eq!(sample.warnings("@min.json"), ["Lines are cut after 2,000 characters: min.json."]);
    assert_eq!(
        sample.warnings("@long.txt @whole.txt"),
        ["Only the first 2,000 lines are included: long.txt (2,500 lines)."]
    );
}

#[test]
fn a_folder_with_too_many_files_is_reported_with_the_first_folder_left_out() {
    let sample = Sample::new(&[]);
    for (folder, count) in [("pkg0", 9_990), ("pkg1", 10), ("pkg2", 1_500)] {
        fs::create_dir_all(sample.root().join(folder)).unwrap();
        for number in 0..count {
            fs::write(sample.root().join(folder).join(number.to_string()), "x").unwrap();
        }
    }
    let expansion = sample.expand("look at @./").unwrap();
    assert_eq!(
        expansion.report.for_user(false),
        ["@./: 10,000 of 11,500 files; the first folder left out is pkg2."]
    );
    let [.., said, _] = &expansion.parts[..] else { panic!("too few parts") };
    assert_eq!(
        said.as_text().unwrap(),
        "\n[Only 10000 of 11500 files of ./ are included. The first folder left out is pkg2. \
         Find and read the others with the tools if needed.]"
    );
}

#[test]
fn any_number_of_names_takes_bounded_work() {
    let sample = Sample::new(&[("a.txt", "one")]);
    let names: Vec<String> = (0..5000).map(|number| format!("@name{number}")).collect();
    let begun = Instant::now();
    let expansion = sample.expand(&format!("@a.txt {}", names.join(" "))).unwrap();
    // A quadratic algorithm takes minutes.
    assert!(begun.elapsed() < Duration::from_secs(10));
    assert_eq!(expansion.parts.len(), 5);
    let messages = expansion.report.for_user(false);
    assert_eq!(messages.len(), 7, "{messages:?}");
    assert_eq!(messages[0], "Only the first 1,000 names after an @ are resolved.");
    assert_eq!(messages[1], "@name0: no such file; sent as text.");
    assert_eq!(messages[6], "994 more names after an @ sent as text.");
}

#[cfg(unix)]
#[test]
fn a_link_out_of_the_workspace_is_not_followed() {
    let sample = Sample::new(&[("in/a.txt", "one")]);
    fs::write(sample.folder.path().join("secret"), "x").unwrap();
    std::os::unix::fs::symlink(sample.folder.path().join("secret"), sample.root().join("in/link"))
        .unwrap();
    assert_eq!(sample.parts("@in/link"), json!([{"text": "@in/link"}]));
    assert_eq!(sample.labels("@in"), ["in/a.txt"]);
}

#[test]
fn a_subagent_is_named_like_a_file() {
    let mut sample = Sample::new(&[("a.txt", "alpha"), ("helper", "a file")]);
    sample.agents = vec!["helper".to_owned(), "other".to_owned()];
    let note = |names: &str| {
        json!({"text": format!(
            "\n<system_note>\nThe user has chosen these subagents with an @: {names}. Delegate the \
             work that the prompt describes to them.\n</system_note>\n"
        )})
    };
    let prompt = "@helper, do it with @other, and @helper";
    let expected = json!([{"text": prompt}, note("helper, other")]);
    assert_eq!(sample.parts(prompt), expected);
    assert_eq!(sample.warnings(prompt), [""; 0]);
    let parts = sample.parts("@helper reads @a.txt");
    assert_eq!((&parts[0]["text"], &parts[1]), (&json!("@helper reads @a.txt"), &note("helper")));
    assert_eq!(parts[4]["text"], "alpha");
    // A file with the same name has a path.
    assert_eq!(sample.parts("@./helper")[3]["text"], "a file");
    assert_eq!(sample.parts("me@helper.org"), json!([{"text": "me@helper.org"}]));
    sample.typed = false;
    let parts = sample.parts("@other");
    assert_eq!(parts, json!([{"text": "@other"}]), "piped text chooses no subagent");
}
