//! Imports of a context file: bounded in number, depth and size, and limited to the files of the
//! reader, in both formats.

use std::path::Path;

use pollux_config::imports::{ImportFailure, ImportFormat, MAX_IMPORTS, MAX_TOTAL_BYTES, expand};

pub(crate) fn run(files: [&str; 4]) {
    for format in [ImportFormat::Tree, ImportFormat::Flat] {
        let mut asked = 0;
        let mut read = |path: &Path| {
            asked += 1;
            assert!(path.is_absolute(), "{}", path.display());
            assert!(path.components().all(|part| part.as_os_str() != ".."), "{}", path.display());
            // Names are as short as possible, so that the files can refer to each other.
            match path.file_name().and_then(|name| name.to_str()) {
                Some("a") => Ok(files[1].to_owned()),
                Some("b") => Ok(files[2].to_owned()),
                Some("c") => Ok(files[3].to_owned()),
                Some("o") => Err(ImportFailure::Outside),
                Some("u") => Err(ImportFailure::Unreadable("EACCES".to_owned())),
                _ => Err(ImportFailure::Missing),
            }
        };
        let expanded = expand(files[0], Path::new("/p/q"), format, &mut read);
        assert!(asked <= MAX_IMPORTS, "{asked} files were read");
        // The text around an import names its path, which is not longer than all texts together.
        let names: usize = files.iter().map(|file| file.len() + 100).sum();
        assert!(expanded.len() <= files[0].len() + MAX_TOTAL_BYTES + MAX_IMPORTS * 3 * names);
        if format == ImportFormat::Tree && !files[0].contains('@') {
            assert_eq!(expanded, files[0]);
        }
    }
}
