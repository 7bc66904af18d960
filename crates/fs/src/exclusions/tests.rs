use super::*;

#[test]
fn folders_are_cut_off_whole_and_files_by_name() {
    let search = Exclusions::for_search().unwrap();
    for folder in ["node_modules", "a/b/node_modules", ".git", "x/dist", "__pycache__"] {
        assert!(search.covers_directory(folder), "{folder}");
    }
    for folder in ["node_modules2", "src", "distance", "a"] {
        assert!(!search.covers_directory(folder), "{folder}");
    }
    assert!(search.covers_file("a.log") && search.covers_file("deep/in/a.tmp"));
    assert!(!search.covers_file("a.log.txt"));
    let custom = Exclusions::new(["secret", "only-folder/", "a/b"]).unwrap();
    assert!(custom.covers_directory("x/secret") && custom.covers_file("x/secret"));
    assert!(custom.covers_directory("x/only-folder") && !custom.covers_file("x/only-folder"));
    assert!(custom.covers_directory("a/b") && !custom.covers_directory("x/a/b"));
    let extended = Exclusions::new(["+(out|tmp)", "*.!(rs|md)", "gen/@(a|b)/**"]).unwrap();
    assert!(extended.covers_directory("x/out") && extended.covers_file("tmp"));
    assert!(extended.covers_file("x/a.ts") && !extended.covers_file("x/a.rs"));
    assert!(!extended.covers_directory("x.d"), "a negation leaves out files, not folders");
    assert!(extended.covers_directory("gen/a") && !extended.covers_directory("gen/c"));
    assert!(!Exclusions::for_glob().unwrap().covers_file("a.log"));
    assert!(matches!(Exclusions::new(["a["]), Err(Error::Pattern(_))));
    Exclusions::new(READ_MANY_FILE_EXCLUDES.iter().copied()).unwrap();
}
