use super::*;

fn attributes(files: &[(&str, &str)]) -> Option<LineEnding> {
    of_attributes(&owned(files))
}

fn editor(files: &[(&str, &str)]) -> Option<LineEnding> {
    of_editor(&owned(files))
}

fn owned(files: &[(&str, &str)]) -> Vec<(String, String)> {
    files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect()
}

const CRLF: Option<LineEnding> = Some(LineEnding::CrLf);
const LF: Option<LineEnding> = Some(LineEnding::Lf);

#[test]
fn attributes_are_read_as_git_reads_them() {
    let table = [
        ("a.bat", "*.bat eol=crlf\n", CRLF),
        ("d/a.bat", "*.bat text eol=crlf\n", CRLF),
        ("a.sh", "* eol=crlf\n*.sh eol=lf\n", LF),
        ("a.sh", "*.sh eol=lf\n* eol=crlf\n", CRLF),
        ("a.bin", "* eol=crlf\n*.bin binary\n", None),
        ("a.bin", "* eol=crlf\n*.bin -text\n", None),
        ("a.txt", "* eol=crlf\n*.txt !eol\n", None),
        ("d/a.txt", "/a.txt eol=crlf\n", None),
        ("d/a.txt", "d/*.txt eol=crlf\n", CRLF),
        ("a.txt", "# *.txt eol=crlf\n* text=auto\n", None),
        ("a.txt", "eol=crlf\n[attr]x eol=crlf\n\"*\" eol=crlf\n!* eol=crlf\n", None),
    ];
    for (path, text, expected) in table {
        assert_eq!(attributes(&[(path, text)]), expected, "{path}: {text}");
    }
    let nested = [("d/a.txt", "* eol=crlf\n"), ("a.txt", "*.txt eol=lf\n")];
    assert_eq!(attributes(&nested), LF, "the nearer file wins");
}

#[test]
fn sections_of_an_editorconfig_apply_by_their_patterns() {
    let table = [
        ("a.bat", "[*.{bat,cmd}]\nend_of_line = crlf\n", CRLF),
        ("a.txt", "[*.{bat,cmd}]\nend_of_line = crlf\n", None),
        ("a.txt", "[*]\nEnd_Of_Line=CRLF\n[*.md]\nend_of_line=lf\n", CRLF),
        ("d/a.md", "[*]\nend_of_line=crlf\n[*.md]\nend_of_line=lf\n", LF),
        ("a.md", "[*]\nend_of_line=crlf\n[*.md]\nend_of_line=unset\n", None),
        ("a.md", "end_of_line=crlf\n", None),
        ("a.md", "[*]\n; end_of_line=crlf\nindent_style = tab\n", None),
        ("src/a.c", "[src/**/*.c]\nend_of_line=crlf\n", CRLF),
        ("a.c", "[{a,b}.{c,h}]\nend_of_line=crlf\n", CRLF),
    ];
    for (path, text, expected) in table {
        assert_eq!(editor(&[(path, text)]), expected, "{path}: {text}");
    }
    let above = ("d/a.txt", "[*]\nend_of_line=crlf\n");
    assert_eq!(editor(&[above, ("a.txt", "[*.c]\nend_of_line=lf\n")]), CRLF);
    assert_eq!(editor(&[above, ("a.txt", "root = true\n")]), None);
}

#[test]
fn braces_without_end_are_survived() {
    let many = "{a,b}".repeat(100);
    assert!(alternatives(&many).len() <= MOST_PATTERNS);
    for odd in ["{", "}", "{a", "}{", "{}", "{a}", "{,}"] {
        assert!(!alternatives(odd).is_empty(), "{odd}");
    }
}
