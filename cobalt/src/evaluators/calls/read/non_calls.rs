//! Recognises entries that contain no calls, and entries that may be calls in an unknown format.

use cobalt_core::wording::truncate;
use serde_json::{Map, Value};

use super::reader::Entry;
use super::vendors;

/// Types of entries in API lists that are not calls.
pub const NO_CALLS: [&str; 16] = [
    "text",
    "thinking",
    "redacted_thinking",
    "image",
    "document",
    "search_result",
    "container_upload",
    "output_text",
    "refusal",
    "reasoning",
    "compaction",
    "item_reference",
    "tool_search_output",
    "mcp_list_tools",
    "mcp_approval_request",
    "mcp_approval_response",
];

/// Further types of message blocks that contain no call: text, media, sources.
const NO_CALL_BLOCKS: [&str; 37] = [
    "input_text",
    "input_image",
    "input_file",
    "input_audio",
    "input_video",
    "output_audio",
    "image_url",
    "audio_url",
    "video_url",
    "document_url",
    "audio",
    "video",
    "file",
    "media",
    "summary_text",
    "reasoning_text",
    "encrypted_content",
    "computer_screenshot",
    "reference",
    "citation",
    "tool_reference",
    "resource",
    "resource_link",
    "redacted-reasoning",
    "reasoning-file",
    "source",
    "source-url",
    "source-document",
    "step-start",
    "tool-approval-request",
    "tool-approval-response",
    "blob",
    "uri",
    "file_data",
    "guard_content",
    "cache_point",
    "non_standard_annotation",
];

/// Fields of message blocks that contain no call. Those of Gemini, adk, genai and Bedrock replace the type.
const NO_CALL_FIELDS: [&str; 69] = [
    "type",
    "id",
    "index",
    "kind",
    "state",
    "text",
    "Text",
    "refusal",
    "redacted",
    "thinking",
    "thought",
    "thoughtSignature",
    "thought_signature",
    "ThoughtSignature",
    "signature",
    "reasoning",
    "reasoningContent",
    "reasoning_content",
    "ReasoningContent",
    "inlineData",
    "inline_data",
    "fileData",
    "file_data",
    "fileUri",
    "file_uri",
    "mimeType",
    "mime_type",
    "mediaType",
    "media_type",
    "media",
    "mediaResolution",
    "media_resolution",
    "videoMetadata",
    "video_metadata",
    "partMetadata",
    "part_metadata",
    "resource",
    "image",
    "image_url",
    "video",
    "audio",
    "document",
    "file",
    "filename",
    "file_id",
    "Binary",
    "data",
    "url",
    "uri",
    "title",
    "format",
    "source",
    "guardContent",
    "guard_content",
    "cachePoint",
    "cache_point",
    "cache_control",
    "citations",
    "citationsContent",
    "citations_content",
    "searchResult",
    "search_result",
    "annotations",
    "logprobs",
    "metadata",
    "modality",
    "content",
    "providerMetadata",
    "providerOptions",
];

/// Message fields with information about the message; their content is ignored.
const ABOUT_MESSAGE: [&str; 22] = [
    "usage",
    "usageMetadata",
    "usage_metadata",
    "metadata",
    "responseMetadata",
    "response_metadata",
    "providerMetadata",
    "provider_metadata",
    "providerOptions",
    "options",
    "origin",
    "stop",
    "annotations",
    "citations",
    "logprobs",
    "audio",
    "container",
    "context_management",
    "groundingMetadata",
    "grounding_metadata",
    "tools",
    "reasoning_details",
];

/// Whether a message block is known to contain no call, by its type or by all of its fields.
pub fn is_known_block(fields: Entry<'_>) -> bool {
    let kind = fields.kind();
    if NO_CALLS.contains(&kind) {
        return true;
    }
    let is_of_type = NO_CALL_BLOCKS.contains(&kind) || kind.starts_with("data-") && !suggests_call(kind);
    let has_no_other = || {
        let is_known =
            |(name, value): (&String, &Value)| value.is_null() || NO_CALL_FIELDS.contains(&&**name);
        !suggests_call(kind) && fields.object.iter().all(is_known)
    };
    let may_hold_calls = || {
        vendors::is_call(fields.object)
            || fields.object.iter().any(|(name, value)| may_hold_call_under(name, value))
    };
    (is_of_type || has_no_other()) && !may_hold_calls()
}

/// Whether a message field only describes the message.
pub fn is_about_message(name: &str) -> bool {
    ABOUT_MESSAGE.contains(&name)
}

/// Whether a field may contain calls, by its name and value.
pub fn may_hold_call_under(name: &str, value: &Value) -> bool {
    let holds_some = match value {
        Value::Array(values) => !values.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        _ => false,
    };
    holds_some && (suggests_call(name) || may_hold_call(value))
}

/// Whether a value contains a field name that suggests calls, or an object with a tool's name and arguments.
pub fn may_hold_call(value: &Value) -> bool {
    match value {
        Value::Array(values) => values.iter().any(may_hold_call),
        Value::Object(object) => {
            vendors::is_call(object) || object.iter().any(|(name, value)| may_hold_call_under(name, value))
        }
        _ => false,
    }
}

/// Whether a name suggests tool calls, such as `toolInvocations`, `tool-call`, `toolUse` or `functionCall`.
pub fn suggests_call(name: &str) -> bool {
    let name = name.to_lowercase();
    let has = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
    has(&["tool", "function"]) && has(&["call", "use", "invocation", "request"])
}

/// Outlines a value: its fields, with only the values that determine its kind. The outline is the same for every call in the
/// same format.
pub fn outline(value: &Value) -> String {
    const LONGEST: usize = 300;
    let field = |(name, value): (&String, &Value)| {
        let kind = ["type", "role", "kind", "state"].contains(&&**name);
        let value = match value {
            Value::String(text) if kind => format!("{:?}", truncate(text, 40)),
            Value::String(_) => "\"…\"".to_owned(),
            Value::Object(_) => "{…}".to_owned(),
            Value::Array(_) => "[…]".to_owned(),
            Value::Number(_) => "…".to_owned(),
            other => other.to_string(),
        };
        format!("{name:?}: {value}")
    };
    let object = |object: &Map<String, Value>| {
        let fields: Vec<_> = object.iter().map(field).collect();
        format!("{{{}}}", fields.join(", "))
    };
    let text = match value {
        Value::Object(fields) => object(fields),
        Value::Array(values) => match values.first() {
            Some(Value::Object(fields)) => format!("[{}, …]", object(fields)),
            _ => "[…]".to_owned(),
        },
        other => other.to_string(),
    };
    truncate(&text, LONGEST).into_owned()
}
