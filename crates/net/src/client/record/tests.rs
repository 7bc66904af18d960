use bytes::Bytes;
use http::HeaderValue;
use http::header::{AUTHORIZATION, SET_COOKIE};

use super::*;

fn read(recording: &Path, file: &str) -> String {
    let folders = std::fs::read_dir(recording).unwrap();
    let folders: Vec<_> = folders.map(|entry| entry.unwrap().path()).collect();
    let [folder] = folders.as_slice() else { panic!("not one request: {folders:?}") };
    std::fs::read_to_string(folder.join(file)).unwrap()
}

#[test]
fn secrets_are_left_out_of_heads_and_overwritten_in_bodies() {
    let home = tempfile::tempdir().unwrap();
    let url = "https://me:passwort@h.test/v1/x?alt=sse&key=AIza-secret&api-version=3#AIza-secret";
    let body =
        vec![Bytes::from_static(b"{\"a\":\"sk-se"), Bytes::from_static(b"cret AIza-secret\"}")];
    let request = HttpRequest::post_json(url.parse().unwrap(), body)
        .header(AUTHORIZATION, HeaderValue::from_static("Bearer sk-secret"))
        .header(HeaderName::from_static("x-new-key"), HeaderValue::from_static("n-secret"));
    let recorder = WireRecorder::new(home.path().join("wire"));
    let mut recorded = recorder.start(&request).unwrap().unwrap();
    let mut headers = HeaderMap::new();
    headers.insert(SET_COOKIE, HeaderValue::from_static("id=c-secret"));
    headers.insert("x-ratelimit-remaining", HeaderValue::from_static("7"));
    recorded.answered(StatusCode::UNAUTHORIZED, &headers);
    recorded.received(b"wrong key: sk-s");
    recorded.received(b"ecret, n-secret");
    recorded.ended(Ok(()));

    let folder = home.path().join("wire");
    let files = ["request.json", "request.body", "response.json", "response.body", "pieces.jsonl"];
    for file in files {
        let text = read(&folder, file);
        assert!(!text.contains("secret") && !text.contains("passwort"), "{file}: {text}");
    }
    let head: Value = serde_json::from_str(&read(&folder, "request.json")).unwrap();
    let shown = "https://h.test/v1/x?alt=sse&key=%28removed%29&api-version=3";
    assert_eq!(head["url"], shown);
    assert!(head["headers"].to_string().contains(r#"["authorization","(removed)"]"#), "{head}");
    assert_eq!(read(&folder, "request.body"), r#"{"a":"********* ***********"}"#);
    assert_eq!(read(&folder, "response.body"), "wrong key: *********, ********");
    let head: Value = serde_json::from_str(&read(&folder, "response.json")).unwrap();
    assert!(head["headers"].to_string().contains(r#"["x-ratelimit-remaining","7"]"#), "{head}");
    let pieces = read(&folder, "pieces.jsonl");
    let pieces: Vec<Value> =
        pieces.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let sizes: Vec<&Value> = pieces.iter().map(|piece| &piece["bytes"]).collect();
    assert_eq!(sizes, [&json!(15), &json!(15), &Value::Null]);
    assert_eq!(pieces[2]["end"], "complete");
}

#[test]
fn forms_are_not_recorded() {
    let home = tempfile::tempdir().unwrap();
    let body = vec![Bytes::from_static(b"refresh_token=1%2F%2Fsecret")];
    let request = HttpRequest::post_json("https://h.test/token".parse().unwrap(), body)
        .header(CONTENT_TYPE, HeaderValue::from_static("application/x-www-form-urlencoded"));
    drop(WireRecorder::new(home.path().to_path_buf()).start(&request).unwrap());
    let head: Value = serde_json::from_str(&read(home.path(), "request.json")).unwrap();
    assert_eq!(head["bodyRecorded"], false);
    let folder = std::fs::read_dir(home.path()).unwrap().next().unwrap().unwrap().path();
    assert!(!folder.join("request.body").exists());
    assert!(read(home.path(), "pieces.jsonl").contains(r#""end":"closed""#));
}

#[test]
fn the_recording_is_private_and_bounded() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("wire");
    let recorder = WireRecorder::new(folder.clone());
    let request = HttpRequest::get("https://h.test/".parse().unwrap());
    assert!(recorder.start(&request).unwrap().is_some());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let entry = std::fs::read_dir(&folder).unwrap().next().unwrap().unwrap().path();
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&entry), mode(&entry.join("request.json"))), (0o700, 0o600));
    }
    recorder.count_bytes(TOTAL_LIMIT);
    assert!(recorder.start(&request).unwrap().is_none());
    assert!(folder.join(FULL).exists());
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 2);
}

#[test]
fn a_body_is_cut_at_its_limit() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("body");
    let mut file = MaskedFile::create(&path, Secrets::default()).unwrap();
    file.room = 3;
    file.write(b"ab").unwrap();
    file.write(b"cdef").unwrap();
    assert_eq!(file.finish().unwrap(), 3);
    assert_eq!(std::fs::read(&path).unwrap(), b"abc");
}

#[test]
fn a_folder_that_cannot_be_written_to_is_named() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("file");
    std::fs::write(&file, "").unwrap();
    let request = HttpRequest::get("https://h.test/".parse().unwrap());
    let error = WireRecorder::new(file).start(&request).unwrap_err();
    assert!(error.to_string().contains("--record-wire"), "{error}");
}
