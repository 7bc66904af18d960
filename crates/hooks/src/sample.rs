//! Sample events for trying hooks.

use pollux_protocol::{
    CompressTrigger, Display, HookEvent, HookPayload, SessionEndReason, SessionSource,
    ToolCallPayload, ToolResponsePayload,
};
use serde_json::{Value, json};

/// Text of the sample prompt.
const PROMPT: &str = "Explain what this project does.";

/// Returns a plausible event of this kind. `tool` and `input` are the call of tool events.
pub fn sample(event: HookEvent, tool: &str, input: Value) -> HookPayload {
    let request = || {
        json!({
            "model": "gemini-2.5-flash",
            "messages": [{ "role": "user", "content": PROMPT }],
            "config": { "temperature": 1, "topP": 0.95, "topK": 64 },
        })
    };
    let call = |input: Value| ToolCallPayload {
        tool_name: tool.to_owned(),
        tool_input: input,
        mcp_context: None,
        original_request_name: None,
    };
    match event {
        HookEvent::SessionStart => HookPayload::SessionStart { source: SessionSource::Startup },
        HookEvent::SessionEnd => HookPayload::SessionEnd { reason: SessionEndReason::Exit },
        HookEvent::BeforeAgent => HookPayload::BeforeAgent { prompt: PROMPT.to_owned() },
        HookEvent::AfterAgent => HookPayload::AfterAgent {
            prompt: PROMPT.to_owned(),
            prompt_response: "It is a sample.".to_owned(),
            stop_hook_active: false,
        },
        HookEvent::BeforeModel => HookPayload::BeforeModel { llm_request: request() },
        HookEvent::BeforeToolSelection => {
            HookPayload::BeforeToolSelection { llm_request: request() }
        }
        HookEvent::AfterModel => HookPayload::AfterModel {
            llm_request: request(),
            llm_response: json!({
                "text": "It is a sample.",
                "candidates": [{ "content": { "role": "model", "parts": ["It is a sample."] },
                    "finishReason": "STOP", "index": 0 }],
                "usageMetadata": { "promptTokenCount": 100, "candidatesTokenCount": 5,
                    "totalTokenCount": 105 },
            }),
        },
        HookEvent::BeforeTool => HookPayload::BeforeTool(call(input)),
        HookEvent::AfterTool => HookPayload::AfterTool {
            call: call(input),
            tool_response: ToolResponsePayload {
                llm_content: "sample output".into(),
                return_display: Some(Display::Text("sample output".to_owned())),
                error: None,
            },
        },
        HookEvent::PreCompress => HookPayload::PreCompress { trigger: CompressTrigger::Manual },
        HookEvent::Notification => HookPayload::Notification {
            notification_type: "ToolPermission",
            message: "Tool Confirm Shell Command requires execution".to_owned(),
            details: json!({ "type": "exec", "title": "Confirm Shell Command",
                "command": "echo sample", "rootCommand": "echo" }),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_event_has_a_sample_of_its_own() {
        for event in HookEvent::ALL {
            assert_eq!(sample(event, "glob", json!({})).event(), event);
        }
    }
}
