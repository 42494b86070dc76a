//! Conversations in words: how they ended, what each turn took, and what went wrong.

use super::format::Style;
use crate::duration::format_duration;
use crate::prices::{JudgeUsage, format_cost_precise};
use crate::report::{Transcript, Turn};
use crate::wording::{count, escape_control, group_thousands, truncate};

/// The whole conversation as lines: its end and the simulated user, then each turn with its messages, calls and expectations. Each
/// text has at most `max_chars` characters.
#[must_use]
pub fn render_transcript(transcript: &Transcript, max_chars: usize, paint: Style) -> String {
    let text = |text: &str| escape_control(&truncate(text, max_chars)).trim_end().replace('\n', "\n    ");
    let mut lines = vec![format_conversation(transcript)];
    lines.extend(transcript.user.iter().map(|usage| format!("simulated user: {}", format_user_usage(usage))));
    lines.extend(transcript.mistakes.iter().map(|mistake| {
        let mistake = format!("turn {}, {}: {}", mistake.turn, mistake.kind.label(), text(&mistake.reason));
        paint.warning(format!("mistake of the simulated user, not of the agent: {mistake}"))
    }));
    lines.extend(transcript.unchecked.iter().map(|reason| {
        paint.warning(format!("the simulated user was not checked for mistakes by a model: {}", text(reason)))
    }));
    for (number, turn) in (1..).zip(&transcript.turns) {
        let usage = paint.faint(format!("({})", format_turn_usage(turn)));
        lines.push(format!("\n{} {usage}", paint.bold(format!("turn {number}"))));
        lines.push(format!("  user: {}", text(&turn.message)));
        if !turn.tool_calls.is_empty() {
            lines.push(format!("  calls: {}", text(&turn.tool_calls.join(", "))));
        }
        lines.extend(turn.reply.iter().map(|reply| format!("  agent: {}", text(reply))));
        lines.extend(turn.checks.iter().map(|check| match check.passed {
            true => format!("  met: {}", text(&check.expected)),
            false => format!("  {}", paint.error(format!("missed: {}", text(&check.expected)))),
        }));
        let error = turn.error.iter();
        lines.extend(error.map(|error| format!("  {}", paint.error(format!("failed: {}", text(error))))));
    }
    let unplayed = transcript.unplayed.iter();
    lines.extend(
        unplayed.map(|check| format!("\n{}", paint.error(format!("missed: {}", text(&check.expected))))),
    );
    lines.join("\n")
}

/// The length of a conversation, its user and its end: `3 turns with a simulated user, goal met`.
#[must_use]
pub fn format_conversation(transcript: &Transcript) -> String {
    let user = if transcript.simulated { " with a simulated user" } else { "" };
    format!("{}{user}, {}", count(transcript.turns.len(), "turn"), transcript.end.label())
}

/// What a turn took: `420 ms, 1,234 tokens, agent cost $0.0012, 2 model calls`.
#[must_use]
pub fn format_turn_usage(turn: &Turn) -> String {
    let mut parts = vec![format_duration(turn.latency_ms)];
    parts.extend(turn.tokens.map(|tokens| format!("{} tokens", group_thousands(tokens))));
    parts.extend(turn.cost.map(|cost| format!("agent cost {}", format_cost_precise(cost))));
    parts.extend((turn.model_calls > 0).then(|| count(turn.model_calls as usize, "model call")));
    parts.join(", ")
}

/// The turn that failed and the expectations that were missed: `turn 3 failed; turn 1 missed contains "Friday"`. `None` if all went
/// well.
#[must_use]
pub fn format_turn_problems(transcript: &Transcript) -> Option<String> {
    let problems = (1..).zip(&transcript.turns).filter_map(|(number, turn): (usize, _)| {
        let missed = turn.checks.iter().filter(|check| !check.passed).map(|check| &*check.expected);
        let missed = missed.collect::<Vec<_>>().join(" and ");
        let parts = [
            turn.error.is_some().then(|| "failed".to_owned()),
            (!missed.is_empty()).then(|| format!("missed {missed}")),
        ];
        let parts = parts.into_iter().flatten().collect::<Vec<_>>().join(" and ");
        (!parts.is_empty()).then(|| format!("turn {number} {parts}"))
    });
    let unplayed = transcript.unplayed.iter().map(|check| format!("missed {}", check.expected));
    let problems = problems.chain(unplayed).collect::<Vec<_>>().join("; ");
    (!problems.is_empty()).then_some(problems)
}

/// The calls, tokens and cost of a simulated user in one line.
#[must_use]
pub fn format_user_usage(usage: &JudgeUsage) -> String {
    let mut parts =
        vec![format!("{} call{}", group_thousands(usage.calls), if usage.calls == 1 { "" } else { "s" })];
    parts.extend((usage.cached > 0).then(|| format!("{} cached", group_thousands(usage.cached))));
    parts.extend((usage.replayed > 0).then(|| format!("{} replayed", group_thousands(usage.replayed))));
    let tokens = usage.tokens.total();
    parts.extend((tokens > 0).then(|| format!("{} tokens", group_thousands(tokens))));
    let cost = usage.known_cost().map_or_else(|| "unknown".to_owned(), format_cost_precise);
    parts.push(format!("user cost {cost}"));
    let models: Vec<_> = usage.models.iter().map(|model| escape_control(model)).collect();
    let models = if models.is_empty() { String::new() } else { format!(" ({})", models.join(", ")) };
    parts.join(", ") + &models
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn transcript() -> Transcript {
        serde_json::from_value(json!({
            "turns": [
                {
                    "message": "Hello", "reply": "Where to?\nAnd \u{1b}when?", "latencyMs": 420, "tokens": 1234, "cost": 0.0012, "modelCalls": 2,
                    "toolCalls": ["seats", "book"],
                    "checks": [
                        { "expected": "contains \"Friday\"", "passed": false },
                        { "expected": "calls seats", "passed": true },
                        { "expected": "calls book", "passed": false },
                    ],
                },
                { "message": "York", "latencyMs": 5, "error": "no seats" },
            ],
            "end": "error", "simulated": true, "unchecked": "no key",
            "user": { "models": ["gpt-4o"], "calls": 3, "cached": 0, "tokens": { "input": 900, "output": 100 }, "cost": 0.25 },
            "mistakes": [{ "turn": 2, "kind": "told-answer", "reason": "it named the city" }],
        }))
        .unwrap()
    }

    #[test]
    fn a_conversation_says_how_it_ended_and_a_turn_what_it_took() {
        let transcript = transcript();
        assert_eq!(format_conversation(&transcript), "2 turns with a simulated user, error");
        assert_eq!(
            format_turn_usage(&transcript.turns[0]),
            "420 ms, 1,234 tokens, agent cost $0.0012, 2 model calls"
        );
        assert_eq!(format_turn_usage(&transcript.turns[1]), "5 ms");
    }

    #[test]
    fn a_transcript_names_the_mistakes_of_the_user_apart_from_the_problems_of_the_agent() {
        let expected = "2 turns with a simulated user, error\n\
            simulated user: 3 calls, 1,000 tokens, user cost $0.25 (gpt-4o)\n\
            mistake of the simulated user, not of the agent: turn 2, told the answer: it named the city\n\
            the simulated user was not checked for mistakes by a model: no key\n\n\
            turn 1 (420 ms, 1,234 tokens, agent cost $0.0012, 2 model calls)\n  \
            user: Hello\n  calls: seats, book\n  agent: Where to?\n    And \\u{1b}when?\n  \
            missed: contains \"Friday\"\n  met: calls seats\n  missed: calls book\n\n\
            turn 2 (5 ms)\n  user: York\n  failed: no seats";
        assert_eq!(render_transcript(&transcript(), 100, Style::Plain), expected);
        let cut = render_transcript(&transcript(), 5, Style::Plain);
        assert!(cut.contains("\n  agent: Where…\n"), "{cut}");
        assert!(render_transcript(&transcript(), 5, Style::Ansi).contains("\u{1b}["));
    }

    #[test]
    fn problems_are_those_of_the_agent_and_name_their_turn() {
        let mut transcript = transcript();
        let problems = "turn 1 missed contains \"Friday\" and calls book; turn 2 failed";
        assert_eq!(format_turn_problems(&transcript).unwrap(), problems);
        transcript.turns.clear();
        assert_eq!(format_turn_problems(&transcript), None, "a user's mistake is not the agent's");
    }
}
