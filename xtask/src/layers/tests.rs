use super::*;

const TABLE: &str = "\
# Title\n\
\n\
| crate | floor | may use |\n\
|---|---|---|\n\
| `protocol` | 0 | — |\n\
| `fs` | 1a | `protocol` |\n\
| `net` | 1b | protocol, fs |\n\
| `testkit` | dev | — |\n\
\n\
| crate | other |\n";

fn manifest(name: &str, uses: &[(&str, bool)]) -> Crate {
    let mut text = format!("[package]\nname = \"{name}\"\n[lints]\nworkspace = true\n");
    for (used, _) in uses {
        text.extend(["pollux-", used, ".workspace = true\n"]);
    }
    let uses = uses.iter().map(|(used, only_in_tests)| Use {
        name: (*used).to_owned(),
        only_in_tests: *only_in_tests,
    });
    Crate {
        name: name.into(),
        manifest: format!("crates/{name}/Cargo.toml").into(),
        text,
        uses: uses.collect(),
        features: Vec::new(),
    }
}

fn workspace(change: impl FnOnce(&mut Vec<Crate>)) -> Vec<String> {
    let mut crates = vec![
        manifest("protocol", &[]),
        manifest("fs", &[("protocol", false), ("testkit", true)]),
        manifest("net", &[("protocol", false), ("fs", false)]),
        manifest("testkit", &[]),
    ];
    change(&mut crates);
    compare(&parse(TABLE), &crates).iter().map(ToString::to_string).collect()
}

#[test]
fn the_table_is_read_to_its_end() {
    let rows = parse(TABLE);
    assert_eq!(rows.len(), 4);
    assert_eq!(
        rows[2],
        Row {
            name: "net".into(),
            floor: "1b".into(),
            may_use: vec!["protocol".into(), "fs".into()],
            line: 7,
        }
    );
    assert_eq!(rows[0].may_use, [""; 0]);
    assert_eq!(parse("no table here"), []);
}

#[test]
fn a_workspace_that_follows_the_table_has_no_findings() {
    assert_eq!(workspace(|_| {}), [""; 0]);
}

#[test]
fn an_arrow_that_the_table_lacks_is_found_at_its_line() {
    let found = workspace(|crates| crates[1] = manifest("fs", &[("net", false)]));
    assert_eq!(
        found,
        ["crates/fs/Cargo.toml:5: `fs` may not use `net` \
                        (ARCHITECTURE.md, line 6); move the shared code down, or use a port"]
    );
}

#[test]
fn the_testkit_is_for_tests() {
    let found = workspace(|crates| crates[1] = manifest("fs", &[("testkit", false)]));
    assert_eq!(found.len(), 1, "{found:?}");
    let found = workspace(|crates| crates[1] = manifest("fs", &[("net", true)]));
    assert_eq!(found.len(), 1, "{found:?}");
}

#[test]
fn table_and_workspace_name_the_same_crates() {
    let found = workspace(|crates| crates[2] = manifest("web", &[]));
    assert!(found[0].starts_with("ARCHITECTURE.md:7: there is no crate `net`"), "{found:?}");
    assert!(found[1].starts_with("crates/web/Cargo.toml:2: `web` has no row"), "{found:?}");
}

#[test]
fn a_table_whose_arrows_run_up_is_refused() {
    let table = TABLE.replace("| `fs` | 1a | `protocol` |", "| `fs` | 1a | net, testkit, gone |");
    let rows = parse(&table);
    assert_eq!(rows.iter().flat_map(|row| check_row(row, &rows)).count(), 3);
}

#[test]
fn features_and_missing_lints_are_found() {
    let found = workspace(|crates| {
        crates[0].features = vec!["fast".into()];
        crates[0].text = "[package]\n".into();
    });
    assert_eq!(found.len(), 2, "{found:?}");
}

#[test]
fn a_page_without_the_table_is_one_finding() {
    assert_eq!(compare(&[], &[manifest("fs", &[])]).len(), 1);
}
