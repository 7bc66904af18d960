use std::fmt::Write as _;
use std::time::{Duration, Instant};

use futures::{FutureExt, StreamExt};
use proptest::prelude::*;

use super::*;

type Decoded = (Vec<ServerEvent>, Result<(), SseError>);

fn decode<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Decoded {
    let mut decoder = SseDecoder::default();
    let mut result = Ok(());
    for chunk in chunks {
        result = decoder.push(chunk);
        if result.is_err() {
            break;
        }
    }
    let result = result.and_then(|()| decoder.finish());
    (std::iter::from_fn(|| decoder.pop()).collect(), result)
}

fn payloads(text: &str) -> Vec<String> {
    let (events, result) = decode([text.as_bytes()]);
    assert_eq!(result, Ok(()), "{text:?}");
    events.into_iter().map(|event| event.data).collect()
}

#[test]
fn records_end_with_any_line_end() {
    for end in ["\n\n", "\r\r", "\r\n\r\n"] {
        let text = format!("data: {{\"a\":1}}{end}data: {{\"b\":2}}{end}");
        assert_eq!(payloads(&text), ["{\"a\":1}", "{\"b\":2}"], "{end:?}");
    }
}

#[test]
fn what_is_no_data_is_skipped() {
    assert_eq!(payloads("\u{feff}data: x\n\n"), ["x"]);
    assert_eq!(payloads(": ping\n\nid: 7\nretry: 10\nfuture-field: 1\ndata: x\n\n: bye"), ["x"]);
    assert_eq!(payloads("\n\n\ndata:x\n\n\n\n  \n"), ["x"]);
    assert_eq!(payloads("  data: x\n\n"), ["x"]);
    assert_eq!(payloads("data:\n\n"), Vec::<String>::new());
    assert_eq!(payloads("data: [DONE]\n\n"), ["[DONE]"]);
    assert_eq!(payloads("data: a\ndata:  b\n\n"), ["a\n b"]);
}

#[test]
fn the_event_field_belongs_to_one_record() {
    let (events, result) = decode([&b"event: endpoint\ndata: /a\n\ndata: b\n\n"[..]]);
    assert_eq!(result, Ok(()));
    assert_eq!(events[0].name, "endpoint");
    assert_eq!(events[1].name, "");
}

#[test]
fn leftover_bytes_are_an_error_after_the_whole_records() {
    for rest in
        ["data: {\"b\"", "data: x", "data: x\n", "dat", "<html>\n</html>\n", "{\"a\":", "hello"]
    {
        let text = format!("data: a\n\n{rest}");
        let (events, result) = decode([text.as_bytes()]);
        assert_eq!(events.len(), 1, "{rest:?}");
        assert_eq!(result, Err(SseError::Incomplete), "{rest:?}");
    }
    assert_eq!(SseError::Incomplete.to_string(), "Incomplete JSON segment at the end");
}

#[test]
fn a_bare_error_object_comes_through() {
    let compact = r#"{"error":{"code":503,"message":"busy } \" {","status":"UNAVAILABLE"}}"#;
    let pretty = "[{\n  \"error\": {\n    \"code\": 429,\n\n    \"message\": \"slow\"\n  }\n}\n]";
    for text in [compact, pretty] {
        for suffix in ["", "\n", "\r\n\r\n"] {
            let stream = format!("data: a\n\n{text}{suffix}");
            let (events, result) = decode([stream.as_bytes()]);
            assert_eq!(result, Ok(()), "{stream}");
            assert_eq!(events.len(), 2, "{stream}");
            assert!(events[1].bare_error);
            let parsed: serde_json::Value = serde_json::from_str(&events[1].data).unwrap();
            assert_eq!(parsed, serde_json::from_str::<serde_json::Value>(text).unwrap());
        }
    }
}

#[test]
fn other_bare_json_is_garbage() {
    for text in [r#"{"candidates":[]}"#, r#"{"error":{"code":200}}"#, "{}", "[]", "{]", "[}"] {
        let (events, result) = decode([text.as_bytes()]);
        assert_eq!((events.len(), result), (0, Err(SseError::Incomplete)), "{text}");
    }
}

#[test]
fn half_a_character_at_a_chunk_edge_is_put_together() {
    let text = "data: {\"t\":\"é漢😀\"}\n\n";
    let chunks = text.as_bytes().chunks(1);
    let (events, result) = decode(chunks);
    assert_eq!(result, Ok(()));
    assert_eq!(events[0].data, "{\"t\":\"é漢😀\"}");
}

#[test]
fn bytes_that_are_no_text_are_replaced() {
    let (events, result) = decode([&b"data: a\xFFb\n\n"[..]]);
    assert_eq!(result, Ok(()));
    assert_eq!(events[0].data, "a\u{fffd}b");
}

#[test]
fn a_line_beyond_the_limit_is_an_error_and_earlier_events_survive() {
    let mut decoder = SseDecoder::with_limit(100);
    decoder.push(b"data: ok\n\ndata: ").unwrap();
    let result = (0..100).try_for_each(|_| decoder.push(b"xxxxxxxxxx"));
    assert_eq!(result, Err(SseError::TooLarge));
    assert_eq!(decoder.pop().unwrap().data, "ok");

    let mut decoder = SseDecoder::with_limit(100);
    let many_lines = (0..100).try_for_each(|_| decoder.push(b"data: xxxxxxxxxx\n"));
    assert_eq!(many_lines, Err(SseError::TooLarge), "a record of many lines is bounded too");
}

/// Tells a linear decoder (seconds, even on a slow machine) from a quadratic one (minutes).
#[test]
fn a_line_of_50_megabytes_takes_linear_time() {
    let started = Instant::now();
    let mut decoder = SseDecoder::default();
    let chunk = vec![b'x'; 8 * 1024];
    decoder.push(b"data: ").unwrap();
    for _ in 0..(50 * 1024 * 1024 / chunk.len()) {
        decoder.push(&chunk).unwrap();
    }
    decoder.push(b"\n\n").unwrap();
    assert_eq!(decoder.pop().unwrap().data.len(), 50 * 1024 * 1024);
    // An algorithm that is not linear takes minutes.
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
}

fn stream_text() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        Just("data: ".to_owned()),
        Just("data:".to_owned()),
        Just("event: e".to_owned()),
        Just(": c".to_owned()),
        Just("\n".to_owned()),
        Just("\r".to_owned()),
        Just("\r\n".to_owned()),
        Just("\n\n".to_owned()),
        Just("\u{feff}".to_owned()),
        Just("{\"error\":{\"code\":500}}".to_owned()),
        Just("{\"a\":".to_owned()),
        "[a-z{}\\[\\]\"\\\\é漢:]{0,6}",
    ];
    proptest::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat().into_bytes())
}

/// Splits `bytes` at the given places, taken modulo the length.
fn cut<'a>(bytes: &'a [u8], places: &[usize]) -> Vec<&'a [u8]> {
    let mut places: Vec<usize> = places.iter().map(|place| place % (bytes.len() + 1)).collect();
    places.push(bytes.len());
    places.sort_unstable();
    let mut start = 0;
    places
        .into_iter()
        .map(|end| {
            let piece = &bytes[start..end];
            start = end;
            piece
        })
        .collect()
}

proptest! {
    #[test]
    fn any_cutting_gives_the_same_events(
        bytes in stream_text(),
        places in proptest::collection::vec(any::<usize>(), 0..12),
    ) {
        prop_assert_eq!(decode(cut(&bytes, &places)), decode([&bytes[..]]));
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let _decoded = decode(bytes.chunks(7));
    }

    /// Compares with `sse-stream`, an independent implementation of the same standard.
    #[test]
    fn well_formed_streams_read_as_sse_stream_reads_them(
        records in proptest::collection::vec(("[a-z]{0,5}", "[ -~é漢]{1,20}"), 0..8),
        end in prop_oneof![Just("\n"), Just("\r\n"), Just("\r")],
    ) {
        let mut text = String::new();
        for (name, data) in &records {
            write!(text, "event: {name}{end}: note{end}data: {data}{end}{end}").unwrap();
        }
        let reader = sse_stream::SseByteStream::new(futures::stream::iter([
            Ok::<_, std::convert::Infallible>(bytes::Bytes::from(text.clone())),
        ]));
        let theirs: Vec<(String, String)> =
            reader.collect::<Vec<_>>().now_or_never().unwrap()
                .into_iter()
                .map(|event| event.unwrap())
                .map(|event| (event.event.unwrap_or_default(), event.data.unwrap_or_default()))
                .filter(|(_, data)| !data.is_empty())
                .collect();
        let (ours, result) = decode([text.as_bytes()]);
        prop_assert_eq!(result, Ok(()));
        let ours: Vec<(String, String)> =
            ours.into_iter().map(|event| (event.name, event.data)).collect();
        prop_assert_eq!(ours, theirs);
    }
}
