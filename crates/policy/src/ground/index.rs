//! Git's index, as far as it tells which folders are repositories of their own: git looks into these too.
//!
//! The format is git's `gitformat-index`, versions 2 to 4.

/// Bytes of a name of an object.
pub(super) const SHA1: usize = 20;
pub(super) const SHA256: usize = 32;

/// What the mode of an entry says of a repository.
const REPOSITORY: u32 = 0o160_000;
/// Bytes before the name of the object: times, device, inode, mode, owner and size.
const FIXED: usize = 40;
const MODE_AT: usize = 24;
/// Bytes before the entries, and what an entry's length is a multiple of.
const HEADER: usize = 12;
const STEP: usize = 8;

/// The paths of repositories; none when the index is not understood.
pub(super) fn repositories_in(bytes: &[u8], hash: usize) -> Option<Vec<String>> {
    let version = number(bytes, 4)?;
    if bytes.get(..4)? != b"DIRC" || !(2..=4).contains(&version) {
        return None;
    }
    let mut found = Vec::new();
    let mut name: Vec<u8> = Vec::new();
    let mut at = HEADER;
    for _ in 0..number(bytes, 8)? {
        let start = at;
        let mode = number(bytes, start + MODE_AT)?;
        let flags_at = start + FIXED + hash;
        let is_extended = version >= 3 && *bytes.get(flags_at)? & 0x40 != 0;
        at = flags_at + if is_extended { 4 } else { 2 };
        if version == 4 {
            let removed = varint(bytes, &mut at)?;
            name.truncate(name.len().checked_sub(removed)?);
        } else {
            name.clear();
        }
        let rest = bytes.get(at..)?;
        let length = rest.iter().position(|byte| *byte == 0)?;
        name.extend_from_slice(&rest[..length]);
        at += length + 1;
        if version < 4 {
            at = start + (at - start).next_multiple_of(STEP);
        }
        if mode == REPOSITORY {
            found.push(String::from_utf8_lossy(&name).into_owned());
        }
    }
    (!is_split(bytes, at, hash)?).then_some(found)
}

/// Whether more entries are in another file: one of the extensions behind the entries says so.
fn is_split(bytes: &[u8], mut at: usize, hash: usize) -> Option<bool> {
    let end = bytes.len().checked_sub(hash)?;
    while at < end {
        if bytes.get(at..at + 4)? == b"link" {
            return Some(true);
        }
        at = at.checked_add(8)?.checked_add(number(bytes, at + 4)? as usize)?;
    }
    Some(false)
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    let four: [u8; 4] = bytes.get(at..at.checked_add(4)?)?.try_into().ok()?;
    Some(u32::from_be_bytes(four))
}

/// A number of git's variable width: each further byte counts one more than its bits say.
fn varint(bytes: &[u8], at: &mut usize) -> Option<usize> {
    let mut value = 0usize;
    loop {
        let byte = *bytes.get(*at)?;
        *at += 1;
        value = value.checked_mul(128)?.checked_add(usize::from(byte & 0x7f))?;
        if byte & 0x80 == 0 {
            return Some(value);
        }
        value = value.checked_add(1)?;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn no_bytes_make_it_stumble(
            version in 0u32..6,
            count in any::<u32>(),
            rest in proptest::collection::vec(any::<u8>(), 0..300),
        ) {
            let mut bytes = b"DIRC".to_vec();
            bytes.extend(version.to_be_bytes());
            bytes.extend(count.to_be_bytes());
            bytes.extend(rest);
            for hash in [SHA1, SHA256] {
                let found = repositories_in(&bytes, hash);
                prop_assert!(found.is_none_or(|found| found.len() <= bytes.len()));
            }
        }
    }
}
