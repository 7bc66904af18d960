//! The file of trusted folders: any text is read or rejected, a rule that is added takes effect,
//! and all other rules stay the same.

use std::path::Path;

use pollux_config::{TrustLevel, TrustStore};

const FILE: &str = "/trustedFolders.json";
const FOLDER: &str = "/no-such-folder/of-the-fuzzer";

pub(crate) fn run(text: &str) {
    let (file, folder) = (Path::new(FILE), Path::new(FOLDER));
    let Ok(before) = TrustStore::parse(file, text) else { return };
    // Outside the reach of the folder's own rule, even if that rule trusts the parent.
    let elsewhere = Path::new("/no-such-other-folder/elsewhere");
    for level in [TrustLevel::TrustFolder, TrustLevel::DoNotTrust] {
        let changed = TrustStore::with_rule(file, text, folder, level).expect("what was read");
        let after = TrustStore::parse(file, &changed).expect("a file that was made can be read");
        assert_eq!(after.decide(folder), Some(level == TrustLevel::TrustFolder), "{changed}");
        assert_eq!(after.decide(elsewhere), before.decide(elsewhere), "{changed}");
        let again = TrustStore::with_rule(file, &changed, folder, level).expect("what was made");
        assert_eq!(again, changed, "the same rule twice changes nothing");
    }
}
