//! Web tools: search, and reading of pages.

use pollux_testkit::{CapturedRequest, Endpoint, ModelReply, ReplyContent, reply};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::stage::{Stage, lines_of, terminal_result, texts};

/// Returns an answer to a side call, with the pages that the vendor used.
fn grounded(text: &str, candidate: &Value) -> ModelReply {
    let mut answer = json!({
        "candidates": [{"content": {"role": "model", "parts": [{"text": text}]}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": 7, "candidatesTokenCount": 3, "totalTokenCount": 10}
    });
    answer["candidates"][0].as_object_mut().unwrap().extend(candidate.as_object().unwrap().clone());
    reply().json(answer)
}

fn grounding(supports: &Value) -> Value {
    json!({"groundingMetadata": {
        "groundingChunks": [
            {"web": {"uri": "https://a.example/x", "title": "A"}},
            {"web": {"uri": "https://b.example"}},
            {"web": {"title": "C"}}
        ],
        "groundingSupports": supports
    }})
}

fn support(end: u64, sources: &[u64]) -> Value {
    json!({"segment": {"endIndex": end}, "groundingChunkIndices": sources})
}

/// Creates a stage whose model makes one call and gets its result.
fn calling(tool: &str, arguments: Value) -> Stage {
    Stage::with([reply().call(tool, arguments), reply().text("done")])
}

fn allow_pages(stage: &Stage) {
    let host = stage.server.address().to_string();
    stage.home.settings(&json!({"pollux": {"web": {"privateHosts": [host]}}}));
}

fn page(stage: &Stage, path: &str) -> String {
    format!("{}{path}", stage.server.url())
}

/// Returns the requests of side calls, each with its prompt text.
fn asides(stage: &Stage) -> Vec<(CapturedRequest, String)> {
    let requests = stage.server.requests_to(Endpoint::GenerateContent);
    let asked = |request: &CapturedRequest| texts(&request.body["contents"][0]).concat();
    requests.into_iter().map(|request| (request.clone(), asked(&request))).collect()
}

#[test]
fn a_search_is_a_side_call_whose_answer_is_marked() {
    let stage = calling("google_web_search", json!({"query": "weather"}));
    let supports = json!([support(6, &[0, 1]), support(10, &[2])]);
    stage.server.generate(grounded("日本 and 😀", &grounding(&supports)));
    let run = stage.pollux(&["-o", "stream-json", "-p", "go"]).run();
    run.assert_code(0);
    assert_eq!(
        stage.response(),
        "Web search results for \"weather\":\n\n日本[1][2] and[3] 😀\n\n\
         Sources:\n[1] A (https://a.example/x)\n[2] Untitled (https://b.example)\n[3] C (No URI)"
    );
    let results = lines_of(&run, "tool_result");
    assert_eq!(results[0]["output"], "Search results for \"weather\" returned.");
    let [(request, asked)] = &asides(&stage)[..] else { panic!("not one side call") };
    assert_eq!((request.model(), asked.as_str()), (Some("gemini-3-flash-preview"), "weather"));
    assert_eq!(request.body["tools"], json!([{"googleSearch": {}}]));
    assert_eq!(request.body["systemInstruction"], stage.requests()[0].body["systemInstruction"]);
    assert_eq!(request.body["generationConfig"], json!({"temperature": 0, "topP": 1}));
    // The request counts like every other request.
    let stats = &terminal_result(&run)["stats"]["models"];
    assert_eq!(stats["gemini-3-flash-preview"]["total_tokens"], 10, "{stats}");
}

#[test]
fn a_side_call_has_its_role_in_statistics() {
    let stage = calling("web_fetch", json!({"prompt": "sum up https://1.1.1.1/a"}));
    stage.server.generate(grounded("found", &json!({})));
    let run = stage.pollux(&["-y", "-o", "json", "-p", "go"]).run();
    run.assert_code(0);
    let [(request, _)] = &asides(&stage)[..] else { panic!("not one side call") };
    assert_eq!(request.body["tools"], json!([{"urlContext": {}}]));
    let models = &run.json()["stats"]["models"];
    assert_eq!(models["gemini-3-flash-preview"]["roles"]["utility_tool"]["totalRequests"], 1);
    assert_eq!(models["gemini-2.5-pro"]["roles"]["main"]["totalRequests"], 2);
}

#[test]
fn recorded_answers_serve_side_calls_in_their_order() {
    let stage = Stage::new();
    let call = json!({"functionCall": {"name": "google_web_search", "args": {"query": "q"}}});
    let answer = |part: Value| json!({"candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}]});
    let lines = [
        json!({"method": "generateContentStream", "response": [answer(call)]}),
        json!({"method": "generateContent", "response": answer(json!({"text": "recorded"}))}),
        json!({"method": "generateContentStream", "response": [answer(json!({"text": "the end"}))]}),
    ];
    let script = lines.map(|line| line.to_string()).join("\n");
    stage.home.project_file("script.jsonl", script);
    let arguments = ["--fake-responses", "script.jsonl", "-o", "stream-json", "-p", "go"];
    let run = stage.pollux(&arguments).run();
    run.assert_code(0);
    assert_eq!(lines_of(&run, "tool_result")[0]["output"], "Search results for \"q\" returned.");
    assert!(run.stdout_text().contains("the end"), "{}", run.report());
}

#[test]
fn vendors_that_cannot_search_or_read_get_the_pages_themselves() {
    let stage = Stage::new();
    stage
        .server
        .route("/page", |_| reply().status(200, ReplyContent::html("<h1>Title</h1><p>words")));
    let arguments = json!({"prompt": format!("sum up {}", page(&stage, "/page"))}).to_string();
    let call = json!([{"index": 0, "id": "c1", "type": "function", "function": {"name": "web_fetch", "arguments": arguments}}]);
    let asked = std::sync::Mutex::new(0);
    let chunk =
        |choice: Value| format!("data: {}\n\ndata: [DONE]\n\n", json!({"choices": [choice]}));
    let call =
        chunk(json!({"index": 0, "finish_reason": "tool_calls", "delta": {"tool_calls": call}}));
    stage.server.route("/v1/chat/completions", move |_| {
        let mut asked = asked.lock().unwrap();
        *asked += 1;
        let words = |text: &str| {
            chunk(json!({"index": 0, "finish_reason": "stop", "delta": {"content": text}}))
        };
        let body = match *asked {
            1 => call.clone(),
            2 => words("answer from the page"),
            _ => words("done"),
        };
        reply().status(200, ReplyContent::of("text/event-stream", body))
    });
    allow_pages(&stage);
    let url = format!("{}/v1", stage.server.url());
    let program = stage.alone().env("OPENAI_BASE_URL", url).env("OPENAI_API_KEY", "k");
    let run = program.args(["-m", "openai/gpt-4o", "-y", "-p", "go"]).run();
    run.assert_code(0);
    let bodies: Vec<Value> = stage
        .server
        .requests()
        .into_iter()
        .filter(|one| one.path.ends_with("completions"))
        .map(|one| one.body)
        .collect();
    let [main, aside, last] = &bodies[..] else { panic!("{} requests", bodies.len()) };
    let tools = main["tools"].to_string();
    assert!(tools.contains("\"web_fetch\"") && !tools.contains("google_web_search"), "{tools}");
    assert_eq!(aside["model"], "gpt-4o");
    assert!(aside["messages"].to_string().contains("# Title\\n\\nwords"), "{aside}");
    assert!(last["messages"].to_string().contains("answer from the page"), "{last}");
}
