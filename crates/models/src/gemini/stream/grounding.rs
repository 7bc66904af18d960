//! The fields of `groundingMetadata` and `urlContextMetadata` that Pollux reads: the results of
//! `googleSearch` and `urlContext`. `null` is treated as missing, and integers may be written with
//! a decimal point. An empty entry keeps its position, because other entries refer to it by index.

use pollux_protocol::{Grounding, RetrievedUrl, Support, WebSource};
use serde::Deserialize;
use serde_json::{Value, json};

/// Status of an address that was read successfully.
const READ: &str = "URL_RETRIEVAL_STATUS_SUCCESS";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WireGrounding {
    web_search_queries: Option<Vec<Option<String>>>,
    grounding_chunks: Option<Vec<Option<WireSource>>>,
    grounding_supports: Option<Vec<Option<WireSupport>>>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase")]
struct WireSource {
    web: Option<WirePage>,
    retrieved_context: Option<WirePage>,
    maps: Option<WirePage>,
}

#[derive(Deserialize)]
struct WirePage {
    uri: Option<String>,
    title: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireSupport {
    segment: Option<WireSegment>,
    grounding_chunk_indices: Option<Vec<Option<f64>>>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase")]
struct WireSegment {
    part_index: Option<f64>,
    start_index: Option<f64>,
    end_index: Option<f64>,
    text: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WireUrlContext {
    url_metadata: Option<Vec<Option<WireUrl>>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireUrl {
    retrieved_url: Option<String>,
    url_retrieval_status: Option<String>,
}

/// Combines both structures; `None` if both are empty.
pub(super) fn read(
    grounding: Option<WireGrounding>,
    context: Option<WireUrlContext>,
) -> Option<Box<Grounding>> {
    let mut read = Grounding::default();
    if let Some(wire) = grounding {
        read.queries = present(wire.web_search_queries).collect();
        let sources = wire.grounding_chunks.into_iter().flatten();
        read.sources = sources.map(|source| source.unwrap_or_default().into()).collect();
        read.supports = present(wire.grounding_supports).map(Into::into).collect();
    }
    let urls = present(context.and_then(|context| context.url_metadata));
    read.retrieved = urls.filter_map(WireUrl::named).collect();
    (read != Grounding::default()).then(|| Box::new(read))
}

fn present<T>(list: Option<Vec<Option<T>>>) -> impl Iterator<Item = T> {
    list.into_iter().flatten().flatten()
}

/// Converts an index. The cast converts negative numbers and NaN to zero.
fn place(number: Option<f64>) -> u64 {
    number.unwrap_or_default() as u64
}

impl From<WireSource> for WebSource {
    fn from(wire: WireSource) -> Self {
        let page = wire.web.or(wire.retrieved_context).or(wire.maps);
        page.map_or_else(Self::default, |page| Self { title: page.title, uri: page.uri })
    }
}

impl From<WireSupport> for Support {
    fn from(wire: WireSupport) -> Self {
        let segment = wire.segment.unwrap_or_default();
        let sources = present(wire.grounding_chunk_indices);
        Self {
            part: place(segment.part_index),
            start: place(segment.start_index),
            end: place(segment.end_index),
            text: segment.text,
            // Negative indices are invalid and skipped.
            sources: sources.filter(|place| *place >= 0.0).map(|place| place as u64).collect(),
        }
    }
}

impl WireUrl {
    fn named(self) -> Option<RetrievedUrl> {
        let status = self.url_retrieval_status.unwrap_or_default();
        Some(RetrievedUrl { url: self.retrieved_url?, success: status == READ, status })
    }
}

/// Returns the keys of a candidate that encode the grounding, for recordings.
pub(crate) fn write(grounding: &Grounding) -> Vec<(&'static str, Value)> {
    let mut keys = Vec::new();
    let Grounding { queries, sources, supports, retrieved } = grounding;
    if !(queries.is_empty() && sources.is_empty() && supports.is_empty()) {
        let chunks = sources.iter().map(|source| match (&source.uri, &source.title) {
            (None, None) => json!({}),
            (uri, title) => json!({ "web": { "uri": uri, "title": title } }),
        });
        let chunks: Vec<Value> = chunks.collect();
        let supports = supports.iter().map(|support| {
            json!({
                "segment": {
                    "partIndex": support.part,
                    "startIndex": support.start,
                    "endIndex": support.end,
                    "text": support.text,
                },
                "groundingChunkIndices": support.sources,
            })
        });
        let supports: Vec<Value> = supports.collect();
        let metadata = json!({
            "webSearchQueries": queries, "groundingChunks": chunks, "groundingSupports": supports
        });
        keys.push(("groundingMetadata", metadata));
    }
    if !retrieved.is_empty() {
        let urls = retrieved
            .iter()
            .map(|one| json!({ "retrievedUrl": one.url, "urlRetrievalStatus": one.status }));
        keys.push(("urlContextMetadata", json!({ "urlMetadata": urls.collect::<Vec<_>>() })));
    }
    keys
}
