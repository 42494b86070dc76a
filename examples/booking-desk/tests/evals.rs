//! The desk's conversations: `cargo test -p booking-desk --test evals`.
//!
//! The users of `travellers` are simulated. Here a scripted model plays them, so that the example runs offline; remove `base_url` to let
//! the configured judge's model play them.

mod traveller;

use booking_desk::{Answer, Booking, Desk};
use cobalt::report::ConversationEnd;
use cobalt::{
    Chat, CombineTurns, Contains, Conversation, EvalContext, Reply, Score, SimulatedUser, TranscriptCheck,
};

/// The experiments call this function once per turn; each conversation has a desk of its own.
fn reply(chat: &mut Chat<Desk>, message: &str) -> Reply {
    match chat.state.answer(message) {
        Answer::Asks(text) => Reply::new(text),
        Answer::Booked(text, booking) => {
            Reply::new(text).output(serde_json::to_value(booking).expect("a booking is JSON"))
        }
        Answer::HandsOver(text) => Reply::new(text).hand_over(),
    }
}

/// The share of the trip that is as the traveller wants it.
#[cobalt::evaluator]
fn right_booking(cx: &EvalContext) -> Score {
    let Ok(booked) = cx.output_as::<Booking>() else { return Score::new(0.0).reason("nothing was booked") };
    let booked = serde_json::to_value(booked).unwrap_or_default();
    let wrong: Vec<_> = ["from", "to", "day", "people"]
        .into_iter()
        .filter(|field| booked[field] != cx.item()["booking"][field])
        .collect();
    let score = Score::new(1.0 - wrong.len() as f64 / 4.0);
    if wrong.is_empty() { score } else { score.reason(format!("wrong: {}", wrong.join(", "))) }
}

/// A model plays travellers with a goal and a way to talk.
#[cobalt::experiment(
    dataset = "datasets/travellers.jsonl",
    evaluators = [
        right_booking,
        TranscriptCheck::ended("booked", [ConversationEnd::GoalMet]),
        TranscriptCheck::turns("brief", 1..=5),
        Contains::text("asks-once", "did not get that").none().each_turn(CombineTurns::Mean),
    ],
    conversation = Conversation::new()
        .max_turns(8)
        .user(SimulatedUser::new().model("scripted-traveller").base_url(traveller::base_url())),
    thresholds = [
        right_booking.avg >= 0.7,
        booked.pass_rate >= 0.7,
        brief.pass_rate >= 0.9,
        metrics["user_mistakes"].total <= 0,
    ],
)]
async fn travellers(chat: &mut Chat<Desk>, message: &str) -> Reply {
    reply(chat, message)
}

/// Without thresholds, every script must be met.
#[cobalt::experiment(
    dataset = "datasets/scripts.jsonl",
    evaluators = [TranscriptCheck::script("script"), TranscriptCheck::no_repeated_reply("fresh")],
)]
async fn scripts(chat: &mut Chat<Desk>, message: &str) -> Reply {
    reply(chat, message)
}

fn main() {
    cobalt::main();
}
