//! What an API was found to refuse of a model, so that it is not tried again.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use super::form::Form;
use super::{Target, temperature};
use crate::http::Refusal;
use crate::llm::Provider;

/// The statuses by which APIs refuse a part of a request.
const REFUSING: [u16; 4] = [400, 404, 422, 501];

/// How a model is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Manner {
    pub(super) form: Form,
    /// Whether a temperature may be sent.
    pub(super) temperature: bool,
    /// Whether the answer may be as long as usual, where the API wants a limit.
    pub(super) long: bool,
}

impl Manner {
    /// As it is tried first.
    const FIRST: Self = Self { form: Form::Schema, temperature: true, long: true };

    /// Without what is refused; `None` where that is nothing that can be left out.
    pub(super) fn without(self, refusal: &Refusal, target: &Target) -> Option<Self> {
        if !REFUSING.contains(&refusal.status) {
            return None;
        }
        let message = refusal.body.to_lowercase();
        let is_sent = temperature::temperature(target).is_some();
        if self.temperature && is_sent && message.contains("temperature") {
            return Some(Self { temperature: false, ..self });
        }
        if self.long && target.provider == Provider::Anthropic && message.contains("max_tokens") {
            return Some(Self { long: false, ..self });
        }
        let next = self.form.is_meant(&message).then(|| self.form.next(target.provider)).flatten();
        next.map(|form| Self { form, ..self })
    }

    /// Without what is refused of either.
    fn and(self, other: Self) -> Self {
        Self {
            form: self.form.max(other.form),
            temperature: self.temperature && other.temperature,
            long: self.long && other.long,
        }
    }
}

/// How models are asked, by base URL and model, as far as it is not as it is tried first.
#[derive(Debug, Default)]
pub(super) struct Remembered(Mutex<HashMap<(String, String), Manner>>);

impl Remembered {
    pub(super) fn of(&self, target: &Target) -> Manner {
        let remembered = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        remembered.get(&key(target)).copied().unwrap_or(Manner::FIRST)
    }

    /// Keeps a manner that was answered.
    pub(super) fn keep(&self, target: &Target, manner: Manner) {
        if manner != Manner::FIRST {
            let mut remembered = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let kept = remembered.entry(key(target)).or_insert(manner);
            *kept = kept.and(manner);
        }
    }
}

fn key(target: &Target) -> (String, String) {
    (target.base_url.clone(), target.model.clone())
}
