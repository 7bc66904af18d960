use pretty_assertions::assert_eq;

use super::*;

fn file(path: &str, text: &str) -> ContextFile {
    ContextFile { path: path.into(), text: text.into() }
}

#[test]
fn given_names_come_first() {
    let given = |list: &[&str]| list.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let cases: [(&[&str], &[&str]); 4] = [
        (&[], &["GEMINI.md", "AGENTS.md"]),
        (&[" CLAUDE.md ", ""], &["CLAUDE.md", "GEMINI.md", "AGENTS.md"]),
        (&["AGENTS.md"], &["AGENTS.md", "GEMINI.md"]),
        (&["./docs//AI.md", "/x.md"], &["docs/AI.md", "x.md", "GEMINI.md", "AGENTS.md"]),
    ];
    for (list, expected) in cases {
        let expected: Vec<PathBuf> = expected.iter().map(PathBuf::from).collect();
        let names: Vec<PathBuf> = names(&given(list))
            .iter()
            .map(|name| PathBuf::from(name.trim_start_matches("./")))
            .collect();
        assert_eq!(names, expected, "{list:?}");
    }
}

#[test]
fn formats() {
    let files = [file("/a/GEMINI.md", "one"), file("/a/b/GEMINI.md", "two")];
    let both = "--- Context from: /a/GEMINI.md ---\none\n--- End of Context from: /a/GEMINI.md ---\n\n\
                --- Context from: /a/b/GEMINI.md ---\ntwo\n--- End of Context from: /a/b/GEMINI.md ---";
    assert_eq!(blocks(&files), both);
    assert_eq!(
        project_section("", &files, "").unwrap(),
        format!(
            "<loaded_context>\n<project_context>\n{both}\n</project_context>\n</loaded_context>"
        )
    );
    assert_eq!(project_section("", &[], ""), None);
    let heading = system_section(&["GEMINI.md".into(), "AGENTS.md".into()], &files, None).unwrap();
    assert!(heading.starts_with("# Contextual Instructions (GEMINI.md, AGENTS.md)\n"));
    assert!(heading.ends_with(&format!("<loaded_context>\n{both}\n</loaded_context>")));
    let notes = file("/m/MEMORY.md", "note");
    assert!(system_section(&[], &[], Some(&notes)).unwrap().contains("\nnote\n"));
}
