//! Files of colour themes.

use std::path::{Path, PathBuf};

/// Maximum size of a file, in bytes.
const LARGEST: usize = 64 << 10;

/// Returns true if the setting of the theme names a file, not a theme.
pub fn is_theme_file(name: &str) -> bool {
    let is_json = Path::new(name).extension().is_some_and(|end| end.eq_ignore_ascii_case("json"));
    is_json || name.contains('/')
}

/// Reads the file of a theme, which must be below the home of the user.
///
/// # Errors
/// The reason, for the user.
pub fn read_theme_file(name: &str, home: Option<&Path>) -> Result<String, String> {
    let home = home.ok_or("the home directory is not known")?;
    let path = match name.strip_prefix("~/") {
        Some(rest) => home.join(rest),
        None => PathBuf::from(name),
    };
    if !path.is_absolute() {
        return Err("the path must be absolute, or begin with ~/".to_owned());
    }
    let real = |path: &Path| pollux_fs::real_path(path).map_err(|error| error.to_string());
    let path = real(&path)?;
    if !path.starts_with(real(home)?) {
        return Err("the file must be in your home directory".to_owned());
    }
    let bytes = pollux_fs::read_head(&path, LARGEST + 1).map_err(|error| error.to_string())?;
    if bytes.len() > LARGEST {
        return Err(format!("the file has more than {} KiB", LARGEST >> 10));
    }
    String::from_utf8(bytes).map_err(|_| "the file is not in UTF-8".to_owned())
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn a_file_is_in_the_home_directory() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().join("home");
        std::fs::create_dir(&home).unwrap();
        std::fs::write(home.join("a.json"), "{}").unwrap();
        std::fs::write(home.join("big.json"), vec![b' '; LARGEST + 1]).unwrap();
        std::fs::write(home.join("bad.json"), b"\xff").unwrap();
        std::fs::write(folder.path().join("out.json"), "{}").unwrap();
        std::os::unix::fs::symlink(folder.path().join("out.json"), home.join("link.json")).unwrap();
        let read = |name: &str| read_theme_file(name, Some(&home));
        assert_eq!(read("~/a.json").unwrap(), "{}");
        assert_eq!(read(home.join("a.json").to_str().unwrap()).unwrap(), "{}");
        for (name, reason) in [
            ("a.json", "must be absolute"),
            ("~/link.json", "in your home directory"),
            ("~/../out.json", "in your home directory"),
            ("~/big.json", "more than 64 KiB"),
            ("~/bad.json", "not in UTF-8"),
            ("~/none.json", "none.json"),
        ] {
            let error = read(name).unwrap_err();
            assert!(error.contains(reason), "{name}: {error}");
        }
        assert!(read_theme_file("~/a.json", None).is_err());
    }

    #[test]
    fn names_and_files_differ() {
        for (name, is_file) in
            [("Dracula", false), ("a.json", true), ("~/themes/a", true), ("ANSI Light", false)]
        {
            assert_eq!(is_theme_file(name), is_file, "{name}");
        }
    }
}
