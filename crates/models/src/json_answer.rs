//! Requests whose response must be one JSON object.

use std::time::Duration;

use pollux_net::Backoff;
use pollux_protocol::{CancellationToken, ModelError, ModelErrorKind, ResponseChunk, Usage};
use serde_json::Value;

/// Repeats a request until the response is a JSON object, `max_attempts` times at most (0 counts as
/// 1). The usage is the sum of all attempts.
///
/// # Errors
/// The errors of `ask`, immediately; [`ModelErrorKind::Broken`] when no attempt returned an object.
pub(crate) async fn ask<F>(
    max_attempts: u32,
    backoff: Backoff,
    cancel: &CancellationToken,
    mut ask: impl FnMut() -> F,
) -> Result<(Value, Usage), ModelError>
where
    F: Future<Output = Result<ResponseChunk, ModelError>>,
{
    let mut usage = Usage::default();
    let mut attempt = 1;
    loop {
        let chunk = ask().await?;
        usage += chunk.usage.unwrap_or_default();
        let reason = match object(&chunk) {
            Ok(value) => return Ok((value, usage)),
            Err(reason) => reason,
        };
        if attempt >= max_attempts {
            return Err(ModelError::new(
                ModelErrorKind::Broken,
                format!("Retry attempts exhausted: {reason}"),
            ));
        }
        let delay: Duration = backoff.delay(attempt, None, rand::random());
        if cancel.run_until_cancelled(tokio::time::sleep(delay)).await.is_none() {
            return Err(ModelError::cancelled());
        }
        attempt += 1;
    }
}

/// Returns the JSON object in a response, or a description of the problem.
fn object(chunk: &ResponseChunk) -> Result<Value, String> {
    let text = chunk.text();
    let text = without_fence(&text);
    if text.is_empty() {
        return Err("the model returned no JSON.".to_owned());
    }
    match serde_json::from_str::<Value>(text) {
        Ok(value) if value.is_object() => Ok(value),
        Ok(_) => Err("the model returned JSON that is not an object.".to_owned()),
        Err(error) => Err(format!("the model returned invalid JSON ({error}).")),
    }
}

/// Returns the text without the Markdown fence that some models put around JSON.
fn without_fence(text: &str) -> &str {
    let text = text.trim();
    let Some(inner) = text.strip_prefix("```").and_then(|rest| rest.strip_suffix("```")) else {
        return text;
    };
    inner.strip_prefix("json").unwrap_or(inner).trim()
}

#[cfg(test)]
mod tests {
    use pollux_protocol::Part;

    use super::*;

    fn chunk(text: &str) -> ResponseChunk {
        let parts = vec![Part::thought("hm"), Part::text(text)];
        let usage = Some(Usage { prompt: 3, ..Usage::default() });
        ResponseChunk { parts, usage, ..ResponseChunk::default() }
    }

    #[test]
    fn objects_are_found_with_and_without_a_fence() {
        for text in ["{\"a\":1}", " {\"a\":1}\n", "```json\n{\"a\":1}\n```", "```{\"a\":1}```"] {
            assert_eq!(object(&chunk(text)), Ok(serde_json::json!({"a": 1})), "{text}");
        }
        for text in ["", "[1]", "7", "{\"a\":", "``````", "```", "```json"] {
            assert!(object(&chunk(text)).is_err(), "{text}");
        }
    }

    async fn asked(
        answers: &[&str],
        max_attempts: u32,
    ) -> (Result<(Value, Usage), ModelError>, usize) {
        let backoff = Backoff { initial: Duration::ZERO, ..Backoff::MID_STREAM };
        let mut count = 0;
        let cancel = CancellationToken::new();
        let result = ask(max_attempts, backoff, &cancel, || {
            let answer = chunk(answers[count]);
            count += 1;
            async move { Ok(answer) }
        })
        .await;
        (result, count)
    }

    #[tokio::test]
    async fn an_unusable_answer_is_asked_again_and_usage_adds_up() {
        let (result, count) = asked(&["x", "[]", "{}"], 5).await;
        assert_eq!((result.unwrap().1.prompt, count), (9, 3));
        let (result, count) = asked(&["x", "[]", "{}"], 2).await;
        let error = result.unwrap_err();
        assert!(error.message.starts_with("Retry attempts exhausted"), "{error}");
        assert_eq!((error.kind, count), (ModelErrorKind::Broken, 2));
        let (_, count) = asked(&["x"], 0).await;
        assert_eq!(count, 1);
    }
}
