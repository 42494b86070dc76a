//! What the status of a response says about a provider.

use crate::http::is_transient;

/// Whether a provider does not accept the key.
pub fn refuses_key(status: u16) -> bool {
    matches!(status, 401 | 403)
}

/// Whether a provider has no answer now: it is busy or broken, or the quota is used up.
pub fn could_not_answer(status: u16) -> bool {
    is_transient(status) || matches!(status, 402 | 425)
}

/// Whether a response is an answer, after which a client does not send its request again.
pub fn is_answer(status: u16) -> bool {
    !refuses_key(status) && !could_not_answer(status)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_key_and_a_provider_without_an_answer_are_told_apart() {
        for (status, refuses, has_none) in [
            (200, false, false),
            (400, false, false),
            (401, true, false),
            (402, false, true),
            (403, true, false),
            (404, false, false),
            (408, false, true),
            (425, false, true),
            (429, false, true),
            (501, false, false),
            (503, false, true),
        ] {
            assert_eq!((refuses_key(status), could_not_answer(status)), (refuses, has_none), "{status}");
            assert_eq!(is_answer(status), !refuses && !has_none, "{status}");
        }
    }
}
