//! Agents on rig, async-openai and genai, recorded and replayed by the gateway, over a scripted model server.

/// The tests of an agent.
macro_rules! matrix {
    ($agent:expr) => {
        #[tokio::test]
        async fn a_conversation_with_tools_replays_without_a_server_and_a_key() {
            crate::matrix::conversation($agent).await;
        }

        #[tokio::test]
        async fn after_an_edit_of_a_prompt_only_its_item_differs() {
            crate::matrix::edited_prompt($agent).await;
        }

        #[tokio::test]
        async fn after_an_edit_of_a_tool_the_turns_before_it_replay() {
            crate::matrix::edited_tool($agent).await;
        }

        #[tokio::test]
        async fn a_stream_replays_with_the_same_events() {
            crate::matrix::stream($agent).await;
        }

        #[tokio::test]
        async fn each_trial_replays_its_own_answer() {
            crate::matrix::trials($agent).await;
        }
    };
}

mod async_openai;
mod genai;
mod matrix;
mod model;
#[path = "../common/reply.rs"]
mod reply;
mod rig;
mod ways_in;
