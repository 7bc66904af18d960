use proptest::prelude::*;

use super::*;

fn numbers(count: usize) -> String {
    (0..count).flat_map(|number| [number.to_string(), "\n".to_owned()]).collect()
}

#[test]
fn what_fits_is_kept_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new/log");
    let text = numbers(100);
    let mut file = CappedFile::create(&path, 100_000).unwrap();
    file.write(text.as_bytes()).unwrap();
    assert_eq!((file.written(), file.omitted()), (text.len() as u64, 0));
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
}

#[test]
fn too_much_loses_its_middle() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let text = numbers(10_000);
    let mut file = CappedFile::create(&path, 1000).unwrap();
    file.write(text.as_bytes()).unwrap();
    let kept = fs::read_to_string(&path).unwrap();
    assert!(kept.len() <= 1000, "{}", kept.len());
    assert!(text.starts_with(&kept[..400]));
    assert!(text.ends_with(&kept[kept.len() - 200..]));
    let missing = format!("{} bytes omitted] ...\n", file.omitted());
    assert!(kept.contains(&missing), "{missing}{kept}");
}

#[cfg(unix)]
#[test]
fn a_link_in_its_place_is_removed_and_not_followed() {
    use std::os::unix::fs::PermissionsExt as _;

    let folder = tempfile::tempdir().unwrap();
    let (path, other) = (folder.path().join("private/log"), folder.path().join("other"));
    fs::write(&other, "kept").unwrap();
    fs::create_dir(folder.path().join("private")).unwrap();
    std::os::unix::fs::symlink(&other, &path).unwrap();
    CappedFile::replace(&path, 1000).unwrap().write(b"log").unwrap();
    assert_eq!(fs::read_to_string(&other).unwrap(), "kept");
    assert_eq!(fs::read_to_string(&path).unwrap(), "log");
    assert_eq!(fs::symlink_metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn both_ends_stay_whatever_the_pieces(
        cap in 512_u64..3000,
        pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..2000), 0..20),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let mut file = CappedFile::create(&path, cap).unwrap();
        for piece in &pieces {
            file.write(piece).unwrap();
        }
        let (whole, kept) = (pieces.concat(), fs::read(&path).unwrap());
        prop_assert!(kept.len() as u64 <= cap);
        if file.omitted() == 0 {
            prop_assert_eq!(kept, whole);
        } else {
            let (head, tail) = ((cap / 5 * 2) as usize, (cap / 5) as usize);
            let gap = line(file.omitted());
            let behind = head + gap.len();
            prop_assert_eq!(&kept[..head], &whole[..head]);
            prop_assert_eq!(&kept[head..behind], gap.as_bytes());
            prop_assert!(kept.len() - behind >= tail);
            prop_assert!(whole.ends_with(&kept[behind..]));
            prop_assert_eq!(file.omitted() as usize, whole.len() - head - (kept.len() - behind));
        }
    }
}
