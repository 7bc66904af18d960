use super::*;

#[test]
fn short_output_stays_whole() {
    assert_eq!(truncate("abc", 3, None), None);
    assert_eq!(truncate("äöü", 3, None), None);
    assert_eq!(truncate(&"x".repeat(100), 0, None), None, "0 turns it off");
}

#[test]
fn a_fifth_comes_from_the_beginning() {
    let text: String = ('a'..='z').collect();
    let expected = "Output too large. Showing first 2 and last 8 characters. For full output see: /t/x.txt\n\n\
                    ab\n\n... [16 characters omitted] ...\n\nstuvwxyz";
    assert_eq!(truncate(&text, 10, Some(Path::new("/t/x.txt"))).unwrap(), expected);
}

#[test]
fn thousands_are_set_apart() {
    let text = "x".repeat(108_967);
    let cut = truncate(&text, 40_000, Some(Path::new("/t/x.txt"))).unwrap();
    let head = "Output too large. Showing first 8,000 and last 32,000 characters. For full output see: /t/x.txt\n\n";
    assert!(cut.starts_with(head), "{}", &cut[..200]);
    assert!(cut.contains("\n\n... [68,967 characters omitted] ...\n\n"));
    for (number, expected) in
        [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567"), (100_000, "100,000")]
    {
        assert_eq!(grouped(number), expected);
    }
}

#[test]
fn characters_are_never_split() {
    let text = "é".repeat(50);
    let cut = truncate(&text, 10, None).unwrap();
    assert!(cut.contains("[40 characters omitted]"), "{cut}");
}

#[test]
fn file_names_are_safe() {
    let path = |tool, id| output_path(Path::new("/t"), tool, &CallId::new(id));
    assert_eq!(
        path("run_shell_command", "run_shell_command__A1"),
        Path::new("/t/run_shell_command__a1.txt")
    );
    assert_eq!(path("glob", "../../x y"), Path::new("/t/glob_______x_y.txt"));
    assert!(path("glob", &*"x".repeat(5000)).file_name().unwrap().len() < 255);
}

#[test]
fn a_missing_middle_is_counted() {
    let cut = truncate_ends("abcdefgh", "uvwxyz", 1000, 5, None);
    assert!(cut.ends_with("\n\na\n\n... [1,009 characters omitted] ...\n\nwxyz"), "{cut}");
    let short = truncate_ends("abcdefgh", "z", 1000, 5, None);
    assert!(short.ends_with("... [1,007 characters omitted] ...\n\nz"), "{short}");
}
