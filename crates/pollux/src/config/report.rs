//! `config report`: entries of the files that have no effect, or not the expected one.

use std::fmt::Write as _;

use pollux_config::{LayerFileState, Loaded, Remark, RemarkKind};
use serde_json::{Value, json};

use super::Answer;

/// Checks all files that are read, and names those that are not.
pub(super) fn report(loaded: &Loaded) -> Answer {
    let remarks = pollux_config::report(loaded);
    let (mut text, mut files) = (String::new(), Vec::new());
    for file in &loaded.files {
        let of_file: Vec<&Remark> =
            remarks.iter().filter(|remark| remark.path == file.path).collect();
        let reason = match &file.state {
            LayerFileState::Absent => continue,
            LayerFileState::Read => None,
            LayerFileState::Skipped(reason) => Some(reason),
        };
        // Writing to a string cannot fail.
        let _infallible = match reason {
            Some(reason) => writeln!(text, "{}: not read: {reason}", file.path.display()),
            None if of_file.is_empty() => {
                writeln!(text, "{}: nothing to report", file.path.display())
            }
            None => writeln!(text, "{}:", file.path.display()),
        };
        for remark in &of_file {
            let line = remark.position.map_or(0, |position| position.line);
            let _infallible = writeln!(text, "  {line}: {}: {}", remark.key, words(&remark.kind));
        }
        files.push(json!({
            "path": file.path.display().to_string(),
            "notRead": reason,
            "remarks": of_file.iter().map(|remark| to_json(remark)).collect::<Vec<_>>(),
        }));
    }
    if files.is_empty() {
        text.push_str("There are no settings files.\n");
    }
    let unknown = pollux_host::unknown_tools(loaded);
    for (key, names) in &unknown {
        let _infallible = writeln!(text, "{key} names no known tool: {names}");
    }
    let unknown: Vec<Value> =
        unknown.iter().map(|(key, names)| json!({ "key": key, "names": names })).collect();
    Answer::new(text.trim_end().to_owned(), json!({ "files": files, "unknownTools": unknown }))
}

fn words(kind: &RemarkKind) -> String {
    match kind {
        RemarkKind::Unknown(None) => "no setting has this key".to_owned(),
        RemarkKind::Unknown(Some(meant)) => {
            format!("no setting has this key; did you mean {meant}?")
        }
        RemarkKind::NotActedOn => "has no effect in this version of Pollux".to_owned(),
        RemarkKind::WrongValue(issue) => issue.message.clone(),
        RemarkKind::OldName => "an old name, which still works; see config migrate".to_owned(),
        RemarkKind::Flat(new) => {
            format!(
                "a name of the first settings format, without effect; config migrate moves it to {new}"
            )
        }
        RemarkKind::Hidden => "overridden by a later entry with the same name".to_owned(),
        RemarkKind::NotHonoured(reason) => format!("without effect here: {reason}"),
    }
}

fn to_json(remark: &Remark) -> Value {
    let suggestion = match &remark.kind {
        RemarkKind::Unknown(meant) => *meant,
        _ => None,
    };
    json!({
        "key": remark.key,
        "kind": remark.kind.as_str(),
        "message": words(&remark.kind),
        "suggestion": suggestion,
        "line": remark.position.map(|position| position.line),
        "column": remark.position.map(|position| position.column),
    })
}
