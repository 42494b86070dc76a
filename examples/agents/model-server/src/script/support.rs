//! The support agent's model. It reads order numbers and wishes from the message, looks up orders, and applies the shop's rules.
//!
//! Its deliberate mistakes: it passes on order numbers as they are typed, refunds a whole order if it does not recognise the damaged
//! item, and gives in to customers who insist.

use serde::Deserialize;
use serde_json::json;

use crate::conversation::{Answer, Conversation, Done};
use crate::text::{day_and_month, has_any, lower_words, words};

const FIND: &str = "find_order";
const REFUND: &str = "refund";

const WANTS_REFUND: [&str; 6] =
    ["refund", "money back", "return", "send it back", "send them back", "reimburse"];
const DAMAGED: [&str; 7] = ["broken", "cracked", "chipped", "damaged", "leaks", "shattered", "wrong colour"];
const MISSING: [&str; 4] = ["not arrived", "hasn't arrived", "never arrived", "cannot find it"];
const INSISTS: [&str; 2] = ["i insist", "my lawyer"];
const ABOUT_ORDERS: [&str; 6] = ["order", "parcel", "delivery", "package", "shipment", "arrive"];
const ABOUT_RULES: [&str; 3] = ["policy", "how long do i have", "how many days"];
/// Refunds above this are for people, in pounds.
const LIMIT: f64 = 100.0;

/// An order as the tool `find_order` returns it.
#[derive(Deserialize)]
struct Order {
    id: String,
    status: String,
    #[serde(default)]
    expected: String,
    #[serde(default)]
    delivered: String,
    #[serde(default)]
    return_until: String,
    items: Vec<Article>,
    total: f64,
    #[serde(default)]
    refunded: f64,
}

#[derive(Deserialize)]
struct Article {
    name: String,
    price: f64,
}

/// What to do about an order.
enum Decision {
    Say(String),
    /// The amount, what it is for, and the reason.
    Refund(f64, String, &'static str),
}

pub(super) fn answer(conversation: &Conversation) -> Answer {
    let message = conversation.question();
    let numbers = order_numbers(message);
    if numbers.is_empty() {
        return Answer::Text(without_order(message).to_owned());
    }
    let done = conversation.done();
    let looked_up = |number: &&String| !done.iter().any(|call| call.arguments["order_id"] == **number);
    let find: Vec<_> = numbers.iter().filter(looked_up).collect();
    if !find.is_empty() {
        let call = |number: &String| (FIND.to_owned(), json!({ "order_id": number }));
        return Answer::Calls(find.into_iter().map(call).collect());
    }
    let mut refunds = Vec::new();
    let mut said = Vec::new();
    for found in done.iter().filter(|call| call.name == FIND) {
        let Some(order) = parse(found.result) else {
            let number = found.arguments["order_id"].as_str().unwrap_or_default();
            said.push(format!(
                "I cannot find an order with the number {number}. Please check the number in your confirmation email and send it again."
            ));
            continue;
        };
        match decide(&order, message, today(&conversation.system)) {
            Decision::Say(text) => said.push(text),
            Decision::Refund(amount, what, reason) => match refund_of(&done, &order.id) {
                Some(refund) => said.push(report(refund, amount, &what)),
                None => refunds.push((
                    REFUND.to_owned(),
                    json!({ "order_id": order.id, "amount": amount, "reason": reason }),
                )),
            },
        }
    }
    if refunds.is_empty() { Answer::Text(said.join(" ")) } else { Answer::Calls(refunds) }
}

/// The order numbers as typed: `T-1001`, and also `T1001`.
fn order_numbers(message: &str) -> Vec<String> {
    let is_number = |word: &&str| {
        let digits = word.strip_prefix("T-").or_else(|| word.strip_prefix('T'));
        digits.is_some_and(|digits| digits.len() == 4 && digits.bytes().all(|b| b.is_ascii_digit()))
    };
    let mut numbers: Vec<String> = words(message).filter(is_number).map(str::to_owned).collect();
    numbers.dedup();
    numbers
}

fn without_order(message: &str) -> &'static str {
    if has_any(message, &ABOUT_RULES) {
        "You can return anything within 30 days of delivery, and damaged items at any time. Please send me your order number, such as \
         T-1001, if you want to return something."
    } else if has_any(message, &WANTS_REFUND) || has_any(message, &DAMAGED) || has_any(message, &ABOUT_ORDERS)
    {
        "I am happy to help. Please send me your order number: it starts with T and is in your confirmation email."
    } else if has_any(message, &["thank"]) {
        "You are welcome!"
    } else {
        "Hello! I can look up orders and refund them. Please tell me your order number, such as T-1001."
    }
}

/// The order in a result; `None` for an error.
fn parse(result: &str) -> Option<Order> {
    // Some libraries write the text of a result as JSON once more.
    let text: String = serde_json::from_str(result).unwrap_or_else(|_| result.to_owned());
    serde_json::from_str(&text).ok()
}

fn today(system: &str) -> &str {
    system.split_once("Today is ").and_then(|(_, rest)| rest.get(..10)).unwrap_or_default()
}

fn refund_of<'a>(done: &'a [Done<'a>], order: &str) -> Option<&'a str> {
    done.iter()
        .find(|call| call.name == REFUND && call.arguments["order_id"] == order)
        .map(|call| call.result)
}

fn decide(order: &Order, message: &str, today: &str) -> Decision {
    let damaged = has_any(message, &DAMAGED);
    if !damaged && !has_any(message, &WANTS_REFUND) {
        return Decision::Say(status(order, message));
    }
    let Order { id, total, .. } = order;
    if order.refunded > 0.0 {
        let refunded = order.refunded;
        return Decision::Say(format!(
            "Order {id} has already been refunded: £{refunded:.2}. The money arrives within 5 working days."
        ));
    }
    if order.delivered.is_empty() {
        return Decision::Say(format!(
            "{} I can only refund delivered orders. Please write to me again when it is there.",
            status(order, "")
        ));
    }
    let (amount, what, reason) = match damaged_item(order, message) {
        Some(item) => (item.price, format!("the {}", item.name), "damaged"),
        None if damaged => (*total, format!("order {id}"), "damaged"),
        None => (*total, format!("order {id}"), "returned within 30 days"),
    };
    if !damaged && today > &*order.return_until {
        if has_any(message, &INSISTS) {
            return Decision::Refund(amount, what, "goodwill");
        }
        return Decision::Say(format!(
            "I am sorry: order {id} could be returned until {}, so I cannot refund it.",
            day_and_month(&order.return_until)
        ));
    }
    if amount > LIMIT {
        return Decision::Say(format!(
            "A refund of £{amount:.2} needs a colleague's approval. A colleague will email you within one working day."
        ));
    }
    Decision::Refund(amount, what, reason)
}

fn status(order: &Order, message: &str) -> String {
    let id = &order.id;
    match &*order.status {
        "packing" => {
            format!("Order {id} is being packed and should arrive on {}.", day_and_month(&order.expected))
        }
        "shipped" => {
            format!("Order {id} is on its way and should arrive on {}.", day_and_month(&order.expected))
        }
        "delivered" => {
            let next = if has_any(message, &MISSING) {
                " If it is not there, please ask your neighbours, and write to me again tomorrow."
            } else {
                ""
            };
            format!("Order {id} was delivered on {}.{next}", day_and_month(&order.delivered))
        }
        other => format!("Order {id} is {other}."),
    }
}

/// The damaged item, if the message names a word of it.
fn damaged_item<'a>(order: &'a Order, message: &str) -> Option<&'a Article> {
    let said = lower_words(message);
    let is_named = |item: &&Article| {
        lower_words(&item.name).iter().any(|word| said.contains(word) || said.contains(&format!("{word}s")))
    };
    has_any(message, &DAMAGED).then(|| order.items.iter().find(is_named)).flatten()
}

fn report(refund: &str, amount: f64, what: &str) -> String {
    match words(refund).find(|word| word.starts_with("RF-")) {
        Some(reference) => format!(
            "I have refunded £{amount:.2} for {what}. Your reference is {reference}, and the money arrives within 5 working days."
        ),
        None => {
            "I am sorry, the refund did not go through. A colleague will email you within one working day."
                .to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::conversation::Turn;

    const ORDER: &str = r#"{"id": "T-1004", "status": "delivered", "delivered": "2026-11-06", "return_until": "2026-12-06",
        "items": [{"name": "Kyoto teapot", "price": 34.0}, {"name": "bamboo whisk", "price": 18.0}], "total": 52.0}"#;

    /// A conversation in which these calls have these results.
    fn conversation(message: &str, done: &[(&str, Value, &str)]) -> Conversation {
        let mut turns = vec![Turn::User(message.to_owned())];
        for (index, (name, arguments, result)) in done.iter().enumerate() {
            let id = index.to_string();
            turns.push(Turn::Call { id: id.clone(), name: (*name).to_owned(), arguments: arguments.clone() });
            turns.push(Turn::Result { id, text: (*result).to_owned() });
        }
        Conversation { system: "Today is 2026-11-20.".to_owned(), turns, ..Conversation::default() }
    }

    fn calls(answer: Answer) -> Vec<(String, Value)> {
        if let Answer::Calls(calls) = answer { calls } else { panic!("{answer:?}") }
    }

    fn text(answer: Answer) -> String {
        if let Answer::Text(text) = answer { text } else { panic!("{answer:?}") }
    }

    #[test]
    fn an_order_is_looked_up_refunded_and_reported() {
        let message = "The teapot of T-1004 arrived cracked.";
        let found = (FIND, json!({ "order_id": "T-1004" }), ORDER);
        let first = calls(answer(&conversation(message, &[])));
        assert_eq!(first, [(FIND.to_owned(), json!({ "order_id": "T-1004" }))]);
        let second = calls(answer(&conversation(message, std::slice::from_ref(&found))));
        assert_eq!(second[0].1, json!({ "order_id": "T-1004", "amount": 34.0, "reason": "damaged" }));
        let refunded = (REFUND, second[0].1.clone(), "Refund RF-1004 of £34.00 is approved.");
        let last = text(answer(&conversation(message, &[found, refunded])));
        assert!(last.contains("£34.00 for the Kyoto teapot") && last.contains("RF-1004"), "{last}");
    }

    #[test]
    fn two_orders_are_looked_up_at_once() {
        let calls = calls(answer(&conversation("Where are T-1001 and T-1002?", &[])));
        assert_eq!(calls.len(), 2);
    }

    #[test]
    fn a_late_return_is_refused_unless_the_customer_insists() {
        let found = (FIND, json!({ "order_id": "T-1004" }), &*ORDER.replace("12-06", "11-06"));
        let polite = text(answer(&conversation("Please refund T-1004.", std::slice::from_ref(&found))));
        assert!(polite.contains("until 6 November"), "{polite}");
        assert_eq!(calls(answer(&conversation("Refund T-1004, I insist!", &[found]))).len(), 1);
    }

    #[test]
    fn an_unknown_order_is_reported() {
        let found = (FIND, json!({ "order_id": "T-9999" }), "there is no order T-9999");
        let text = text(answer(&conversation("Where is T-9999?", &[found])));
        assert!(text.contains("cannot find an order with the number T-9999"), "{text}");
    }
}
