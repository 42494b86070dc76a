//! Agents on rig, async-openai and genai, recorded and replayed by the gateway, over a scripted model server.

/// Tests of an agent by their names, each with its check in `matrix.rs`.
macro_rules! tests {
    ($agent:expr; $($name:ident: $check:ident,)+) => {
        $(
            #[tokio::test]
            async fn $name() {
                crate::matrix::$check($agent).await;
            }
        )+
    };
}

/// The tests of an agent; one that also speaks the responses API converses over it, too.
macro_rules! matrix {
    ($agent:expr $(, responses: $over_responses:expr)?) => {
        tests! {
            $agent;
            a_conversation_with_tools_replays_without_a_server_and_a_key: conversation,
            after_an_edit_of_a_prompt_only_its_item_differs: edited_prompt,
            after_an_edit_of_a_tool_the_turns_before_it_replay: edited_tool,
            a_stream_replays_with_the_same_events: stream,
            each_trial_replays_its_own_answer: trials,
        }
        $(
            tests! {
                $over_responses;
                a_conversation_over_the_responses_api_replays: conversation,
            }
        )?
    };
}

mod async_openai;
mod attribution;
mod genai;
mod matrix;
mod model;
#[path = "../common/reply.rs"]
mod reply;
mod rig;
