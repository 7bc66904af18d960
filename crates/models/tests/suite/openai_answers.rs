use futures::StreamExt;
use pollux_protocol::{CancellationToken, FinishReason, ModelErrorKind, Opaque, Part, Usage};
use pollux_testkit::{ModelReply, ModelServer, ReplyContent, reply};
use pretty_assertions::assert_eq;
use serde_json::json;

use super::harness::{CHAT, answer, delta, events, finish, openai, say, script, text};

fn body(bytes: impl Into<Vec<u8>>) -> ModelReply {
    reply().status(200, bytes.into())
}

fn hello() -> Vec<serde_json::Value> {
    vec![
        delta(&json!({"role": "assistant", "content": "grüße, "})),
        delta(&json!({"content": "世界"})),
    ]
}

#[tokio::test]
async fn an_answer_streams_with_thoughts_calls_and_usage() {
    let server = ModelServer::start();
    let call = |index: u64, id: &str, arguments: &str| {
        delta(&json!({"tool_calls": [{"index": index, "id": id, "type": "function",
            "function": {"name": "glob", "arguments": arguments}}]}))
    };
    let more = |index: u64, arguments: &str| {
        delta(&json!({"tool_calls": [{"index": index, "function": {"arguments": arguments}}]}))
    };
    let usage = json!({"choices": [], "usage": {"prompt_tokens": 90, "completion_tokens": 20, "total_tokens": 110,
        "prompt_tokens_details": {"cached_tokens": 64}, "completion_tokens_details": {"reasoning_tokens": 5}}});
    let payloads = [
        delta(&json!({"reasoning_content": "hm"})),
        delta(&json!({"content": "Look:"})),
        call(0, "a", ""),
        call(1, "b", "{\"p\""),
        more(0, "{}"),
        more(1, ": broken"),
        finish("tool_calls"),
        usage,
    ];
    let bytes = [events(&payloads), b"data: [DONE]\n\n".to_vec()].concat();
    script(&server, CHAT, vec![body(bytes)]);
    let chunks = answer(&openai(&server, "gpt-x").await).await.unwrap();
    let parts: Vec<Part> = chunks.iter().flat_map(|chunk| chunk.parts.clone()).collect();
    let data = json!({"model": "gpt-x", "reasoning_content": "hm"}).to_string();
    let opaque = Some(Opaque { dialect: "openai".to_owned(), data });
    let returned = Part { opaque, ..Part::thought("") };
    assert_eq!(
        parts,
        [
            Part::thought("hm"),
            Part::text("Look:"),
            returned,
            Part::call("a", "glob", json!({})),
            Part::call("b", "glob", json!("{\"p\": broken")),
        ]
    );
    let last = chunks.last().unwrap().usage.unwrap();
    let expected = Usage {
        prompt: 90,
        candidates: 15,
        total: 110,
        cached: 64,
        cache_write: 0,
        thoughts: 5,
        tool: 0,
    };
    assert_eq!(last, expected);
    let finished = chunks.iter().filter_map(|chunk| chunk.finish.clone());
    assert_eq!(finished.collect::<Vec<_>>(), [FinishReason::Stop]);
}

#[tokio::test]
async fn every_end_of_a_stream() {
    let server = ModelServer::start();
    let model = openai(&server, "gpt-x").await;
    let done = b"data: [DONE]\n\n".to_vec();
    let finished = || events(&[&hello()[..], &[finish("stop")]].concat());
    for bytes in [
        [finished(), done.clone()].concat(),
        finished(),
        [finished(), b"data: {\"cut".to_vec()].concat(),
        [events(&hello()), done].concat(),
    ] {
        script(&server, CHAT, vec![body(bytes)]);
        let chunks = answer(&model).await.unwrap();
        assert_eq!(text(&chunks), "grüße, 世界");
        let reason = chunks.iter().find_map(|chunk| chunk.finish.clone());
        assert_eq!(reason, Some(FinishReason::Stop));
    }
    let call =
        delta(&json!({"tool_calls": [{"index": 0, "function": {"name": "f", "arguments": "{"}}]}));
    for cut in [
        events(&[&hello()[..], &[call]].concat()),
        events(&hello()),
        [events(&hello()), b"data: {\"cut".to_vec()].concat(),
    ] {
        script(&server, CHAT, vec![body(cut)]);
        let (chunks, error) = answer(&model).await.unwrap_err();
        assert_eq!(
            (text(&chunks).as_str(), error.kind, error.retryable),
            ("grüße, 世界", ModelErrorKind::Broken, true)
        );
        let mut parts = chunks.iter().flat_map(|chunk| &chunk.parts);
        assert!(parts.all(|part| part.as_call().is_none()));
    }
}

#[tokio::test]
async fn comments_names_and_odd_line_ends_do_not_matter() {
    let server = ModelServer::start();
    let payload = delta(&json!({"content": "ok"}));
    let bytes = format!(
        ": OPENROUTER PROCESSING\r\n\r\n\u{a}event: message\r\ndata: {payload}\r\rdata:{}\n\n",
        finish("stop")
    );
    script(&server, CHAT, vec![body(bytes)]);
    assert_eq!(text(&answer(&openai(&server, "gpt-x").await).await.unwrap()), "ok");
}

#[tokio::test]
async fn a_server_that_does_not_stream_is_read_too() {
    let server = ModelServer::start();
    let whole = json!({"id": "c", "choices": [{"index": 0, "finish_reason": "stop",
        "message": {"role": "assistant", "content": "whole"}}], "usage": {"prompt_tokens": 3}});
    script(&server, CHAT, vec![reply().json(whole)]);
    let chunks = answer(&openai(&server, "gpt-x").await).await.unwrap();
    assert_eq!((text(&chunks).as_str(), chunks[0].usage.unwrap().prompt), ("whole", 3));
    assert_eq!(chunks[0].finish, Some(FinishReason::Stop));
}

#[tokio::test]
async fn success_that_is_none() {
    let server = ModelServer::start();
    let model = openai(&server, "gpt-x").await;
    let page = ReplyContent::html("<html><body>Sign in to the proxy</body></html>");
    for (bad, kind, words) in [
        (reply().status(200, page), ModelErrorKind::Broken, "OPENAI_BASE_URL"),
        (
            reply().json(json!({"error": {"message": "Bad key.", "code": "invalid_api_key"}})),
            ModelErrorKind::Auth,
            "Bad key.",
        ),
        (
            reply().json(json!({"error": {"message": "Try later.", "code": 503}})),
            ModelErrorKind::Overloaded,
            "Try later.",
        ),
        (body(""), ModelErrorKind::Broken, "nothing"),
        (body("{\"choices\": 7}"), ModelErrorKind::Broken, "expected form"),
    ] {
        script(&server, CHAT, vec![bad]);
        let (chunks, error) = answer(&model).await.unwrap_err();
        assert!(chunks.is_empty());
        assert_eq!(error.kind, kind, "{error}");
        assert!(error.message.contains(words) && !error.message.contains('<'), "{error}");
    }
}

#[tokio::test]
async fn an_error_in_the_middle_keeps_what_came() {
    let server = ModelServer::start();
    let model = openai(&server, "gpt-x").await;
    let named = format!("event: error\ndata: {}\n\n", json!({"message": "x"}));
    for last in [
        events(&[json!({"error": {"message": "Overloaded.", "code": 502}})]),
        events(&[
            json!({"choices": [{"delta": {"content": ""}, "finish_reason": "error", "error": {"code": 502}}],
            "error": {"message": "Overloaded.", "code": 502}}),
        ]),
        named.into_bytes(),
        b"data: nonsense\n\n".to_vec(),
    ] {
        script(&server, CHAT, vec![body([events(&hello()), last].concat())]);
        let (chunks, error) = answer(&model).await.unwrap_err();
        assert_eq!(text(&chunks), "grüße, 世界");
        assert!(error.retryable, "{error}");
    }
}

#[tokio::test]
async fn refusals_are_understood_and_passing_ones_tried_again() {
    let server = ModelServer::start();
    let model = openai(&server, "gpt-x").await;
    let error = |status: u16, code: &str| {
        reply().status(status, json!({"error": {"message": "no", "code": code}}))
    };
    for (refusal, kind, requests) in [
        (error(401, "invalid_api_key"), ModelErrorKind::Auth, 1),
        (error(404, "model_not_found"), ModelErrorKind::NotFound, 1),
        (error(429, "insufficient_quota"), ModelErrorKind::Quota, 1),
        (error(429, "rate_limit_exceeded"), ModelErrorKind::RateLimited, 10),
        (
            reply().status(502, ReplyContent::html("<html>bad</html>")),
            ModelErrorKind::Overloaded,
            10,
        ),
    ] {
        let before = server.requests().len();
        script(&server, CHAT, vec![refusal]);
        let (_, error) = answer(&model).await.unwrap_err();
        assert_eq!((error.kind, server.requests().len() - before), (kind, requests), "{error}");
    }
    let fine = body(events(&[&hello()[..], &[finish("stop")]].concat()));
    script(&server, CHAT, vec![error(503, "busy"), reply().hang_up(), fine]);
    assert_eq!(text(&answer(&model).await.unwrap()), "grüße, 世界");
}

#[tokio::test]
async fn twenty_thousand_chunks_all_arrive() {
    let server = ModelServer::start();
    let mut payloads: Vec<_> =
        (0..20_000).map(|number| delta(&json!({"content": format!("{number} ")}))).collect();
    payloads.push(finish("stop"));
    script(&server, CHAT, vec![body(events(&payloads))]);
    let chunks = answer(&openai(&server, "gpt-x").await).await.unwrap();
    assert_eq!(chunks.len(), 20_001);
    assert!(text(&chunks).ends_with(" 19998 19999 "));
}

#[tokio::test]
async fn cancelling_ends_the_stream() {
    let server = ModelServer::start();
    script(&server, CHAT, vec![reply().never_answer()]);
    let model = openai(&server, "gpt-x").await;
    let cancel = CancellationToken::new();
    let reported = cancel.clone();
    let asking =
        tokio::spawn(async move { model.stream(say("hi"), cancel).await.map(StreamExt::boxed) });
    tokio::task::yield_now().await;
    reported.cancel();
    assert_eq!(asking.await.unwrap().err().unwrap().kind, ModelErrorKind::Cancelled);
}
