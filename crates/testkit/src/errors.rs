//! Error replies in each form that the service, its gateways and proxies send. Bodies follow the
//! JSON mapping of `google.rpc.Status`; reasons and quota ids are those that Gemini CLI 0.61
//! distinguishes.

use serde_json::{Value, json};

use crate::reply::{ModelReply, ReplyContent, reply};

const CLOUD_CODE: &str = "cloudcode-pa.googleapis.com";

/// 429: the quota of the day is used up. Waiting does not help.
pub fn per_day_quota() -> ModelReply {
    quota("GenerateRequestsPerDayPerProjectPerModel-FreeTier")
}

/// 429: the quota of the minute is used up. Retry in a minute.
pub fn per_minute_quota() -> ModelReply {
    quota("GenerateRequestsPerMinutePerProjectPerModel-FreeTier")
}

/// 429 with `RetryInfo`; `delay` in the format of the service: `17s`, `34.07s`, `800ms`.
pub fn retry_info(delay: &str) -> ModelReply {
    let detail = json!({
        "@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay
    });
    exhausted("Resource has been exhausted (e.g. check quota).", &[detail])
}

/// 429: the model has no capacity left (`MODEL_CAPACITY_EXHAUSTED`).
pub fn capacity() -> ModelReply {
    let detail = error_info("MODEL_CAPACITY_EXHAUSTED", CLOUD_CODE);
    exhausted("No capacity available for this model on the server.", &[detail])
}

/// 429: `RATE_LIMIT_EXCEEDED` of the Code Assist server, without `RetryInfo`.
pub fn rate_limit_exceeded() -> ModelReply {
    exhausted("Rate limit exceeded.", &[error_info("RATE_LIMIT_EXCEEDED", CLOUD_CODE)])
}

/// 429 without details; the delay is only in the message: `Please retry in 7.5s.`
pub fn retry_in_message(delay: &str) -> ModelReply {
    exhausted(&format!("You exceeded your current quota. Please retry in {delay}."), &[])
}

/// 400 `INVALID_ARGUMENT` with this message.
pub fn bad_request(message: &str) -> ModelReply {
    api_error(400, "INVALID_ARGUMENT", message, &[])
}

/// 400: the API key is not valid.
pub fn invalid_key() -> ModelReply {
    let detail = error_info("API_KEY_INVALID", "googleapis.com");
    api_error(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", &[detail])
}

/// 401 `UNAUTHENTICATED`.
pub fn unauthenticated() -> ModelReply {
    api_error(401, "UNAUTHENTICATED", "Request had invalid authentication credentials.", &[])
}

/// 403: the account must be validated first (`VALIDATION_REQUIRED`) at `link`.
pub fn validation_required(link: &str) -> ModelReply {
    let help = json!({
        "@type": "type.googleapis.com/google.rpc.Help",
        "links": [{"description": "Complete validation", "url": link}]
    });
    let details = [error_info("VALIDATION_REQUIRED", CLOUD_CODE), help];
    api_error(403, "PERMISSION_DENIED", "Validation required.", &details)
}

/// 404: the model does not exist.
pub fn not_found(model: &str) -> ModelReply {
    let message = format!("models/{model} is not found for API version v1beta.");
    api_error(404, "NOT_FOUND", &message, &[])
}

/// 500 `INTERNAL` as JSON.
pub fn internal() -> ModelReply {
    api_error(500, "INTERNAL", "An internal error has occurred.", &[])
}

/// 502 with an HTML page, as proxies send it.
pub fn html() -> ModelReply {
    let page = "<!DOCTYPE html>\n<html><head><title>502 Bad Gateway</title></head>\n\
                <body><h1>Bad Gateway</h1></body></html>\n";
    reply().status(502, ReplyContent::html(page))
}

/// An error with this status and a short plain text.
pub fn plain(status: u16) -> ModelReply {
    reply().status(status, format!("upstream said {status}\n").as_str())
}

/// Status 200, but the stream contains a bare JSON error instead of an event.
pub fn in_stream(code: u16, status: &str, message: &str) -> ModelReply {
    let body = status_body(code, status, message, &[]);
    reply().sse_bytes(vec![body.to_string().into_bytes()])
}

/// An API error with any HTTP status, `google.rpc.Code` name, message and details.
pub fn api_error(code: u16, status: &str, message: &str, details: &[Value]) -> ModelReply {
    reply().status(code, status_body(code, status, message, details))
}

fn quota(quota_id: &str) -> ModelReply {
    let detail = json!({
        "@type": "type.googleapis.com/google.rpc.QuotaFailure",
        "violations": [{
            "quotaMetric":
                "generativelanguage.googleapis.com/generate_content_free_tier_requests",
            "quotaId": quota_id,
            "quotaValue": "250"
        }]
    });
    exhausted("You exceeded your current quota, please check your plan.", &[detail])
}

fn exhausted(message: &str, details: &[Value]) -> ModelReply {
    api_error(429, "RESOURCE_EXHAUSTED", message, details)
}

fn error_info(reason: &str, domain: &str) -> Value {
    json!({
        "@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason, "domain": domain
    })
}

fn status_body(code: u16, status: &str, message: &str, details: &[Value]) -> Value {
    let mut error = json!({"code": code, "message": message, "status": status});
    if !details.is_empty() {
        error["details"] = details.into();
    }
    json!({"error": error})
}
