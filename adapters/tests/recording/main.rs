//! Agents on rig, async-openai, genai and adk-rust, recorded and replayed by the gateway, over a scripted model server, and their traces.

/// Tests of an agent by their names, each with its check.
macro_rules! tests {
    ($agent:expr; $($name:ident: $module:ident::$check:ident,)+) => {
        $(
            #[tokio::test]
            async fn $name() {
                crate::$module::$check($agent).await;
            }
        )+
    };
}

/// The tests of an agent; one that also speaks the responses API converses over it, too.
macro_rules! matrix {
    ($agent:expr $(, responses: $over_responses:expr)?) => {
        tests! {
            $agent;
            a_conversation_with_tools_replays_without_a_server_and_a_key: matrix::conversation,
            after_an_edit_of_a_prompt_only_its_item_differs: matrix::edited_prompt,
            after_an_edit_of_a_tool_the_turns_before_it_replay: matrix::edited_tool,
            a_stream_replays_with_the_same_events: matrix::stream,
            each_trial_replays_its_own_answer: matrix::trials,
            a_conversation_has_each_call_once_in_its_trace: traces::trace,
            a_streamed_call_is_once_in_its_trace: traces::stream_trace,
        }
        $(
            tests! {
                $over_responses;
                a_conversation_over_the_responses_api_replays: matrix::conversation,
                a_conversation_over_the_responses_api_has_each_call_once_in_its_trace: traces::trace,
            }
        )?
    };
}

mod adk;
mod async_openai;
mod attribution;
#[path = "../common/count_tool.rs"]
mod count_tool;
mod genai;
mod many;
mod matrix;
mod model;
#[path = "../common/reply.rs"]
mod reply;
mod rig;
mod rig_old;
mod traces;
