//! The shop: its orders, and what can be done with them.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

/// Today's date. It never changes, so that the same question gets the same answer.
pub const TODAY: &str = "2026-11-20";

static ORDERS: LazyLock<Vec<Order>> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../data/orders.json")).expect("data/orders.json holds orders")
});

/// An order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Order {
    /// Such as `T-1001`.
    pub id: String,
    /// `packing`, `shipped`, `delivered` or `cancelled`.
    pub status: String,
    /// The expected day of delivery.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// The day of delivery.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delivered: Option<String>,
    /// The last day on which it can be returned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub return_until: Option<String>,
    /// What was ordered.
    pub items: Vec<Article>,
    /// In pounds.
    pub total: f64,
    /// What has been refunded, in pounds.
    #[serde(default)]
    pub refunded: f64,
}

/// An item of an order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Article {
    /// The product.
    pub name: String,
    /// In pounds.
    pub price: f64,
}

/// The order with this number.
///
/// # Errors
///
/// There is none.
pub fn find(id: &str) -> Result<&'static Order, String> {
    ORDERS.iter().find(|order| order.id == id).ok_or_else(|| format!("there is no order {id}"))
}

/// Refunds a part of an order and returns the confirmation. As this is an example, the order stays unchanged.
///
/// The shop only checks what is impossible. Its rules for refunds are up to the agent.
///
/// # Errors
///
/// There is no such order, it was not delivered, or the amount is not between zero and what is left of the total.
pub fn refund(id: &str, amount: f64) -> Result<String, String> {
    let order = find(id)?;
    if order.delivered.is_none() {
        return Err(format!("order {id} has not been delivered"));
    }
    let left = order.total - order.refunded;
    if amount <= 0.0 || amount > left {
        return Err(format!("£{amount:.2} cannot be refunded: £{left:.2} of order {id} is left"));
    }
    Ok(format!("Refund RF-{} of £{amount:.2} is approved.", id.trim_start_matches("T-")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_left_of_a_delivered_order_is_refunded() {
        assert_eq!(refund("T-1004", 34.0).unwrap(), "Refund RF-1004 of £34.00 is approved.");
        for (id, amount, error) in [
            ("T-9999", 1.0, "there is no order T-9999"),
            ("T-1001", 1.0, "has not been delivered"),
            ("T-1004", 52.01, "£52.00 of order T-1004 is left"),
            ("T-1009", 19.0, "£0.00 of order T-1009 is left"),
            ("T-1004", -1.0, "cannot be refunded"),
        ] {
            let message = refund(id, amount).unwrap_err();
            assert!(message.contains(error), "{message}");
        }
    }

    #[test]
    fn the_totals_are_right_and_dates_fit_the_status() {
        for order in ORDERS.iter() {
            let sum: f64 = order.items.iter().map(|item| item.price).sum();
            assert_eq!(sum, order.total, "{}", order.id);
            assert_eq!(order.delivered.is_some(), order.status == "delivered", "{}", order.id);
            assert_eq!(order.delivered.is_some(), order.return_until.is_some(), "{}", order.id);
        }
    }
}
