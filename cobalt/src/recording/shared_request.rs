//! A request that may be one of several trials, which all know it.

use std::sync::Mutex;

use cobalt_core::recordings::RecordedRequest;

use super::lock::lock;
use super::status::is_answer;

/// A request that may be one of several trials.
#[derive(Debug)]
pub struct SharedRequest {
    pub request: RecordedRequest,
    end: Mutex<End>,
}

#[derive(Debug)]
enum End {
    /// It is answered, or was not yet.
    Unknown,
    /// It got no answer; because the provider could not be reached, for this reason.
    Failed(Option<String>),
    /// It got no answer, but the client has sent it again and got one.
    Repeated,
}

impl SharedRequest {
    pub fn new(request: RecordedRequest) -> Self {
        Self { request, end: Mutex::new(End::Unknown) }
    }

    /// Notes the status of its response.
    pub fn end(&self, status: u16) {
        if !is_answer(status) {
            *lock(&self.end) = End::Failed(None);
        }
    }

    /// Notes that it got no response; `problem`: why the provider could not be reached.
    pub fn fail(&self, problem: Option<&str>) {
        let mut end = lock(&self.end);
        if matches!(*end, End::Unknown) {
            *end = End::Failed(problem.map(str::to_owned));
        }
    }

    /// Notes that an equal request was answered.
    pub fn repeat(&self) {
        let mut end = lock(&self.end);
        if matches!(*end, End::Failed(_)) {
            *end = End::Repeated;
        }
    }

    /// Whether its client has sent it again and got an answer.
    pub fn is_repeated(&self) -> bool {
        matches!(*lock(&self.end), End::Repeated)
    }

    /// Why the provider could not be reached.
    pub fn unreachable(&self) -> Option<String> {
        match &*lock(&self.end) {
            End::Failed(problem) => problem.clone(),
            End::Unknown | End::Repeated => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shared() -> SharedRequest {
        let (method, path) = ("POST".to_owned(), "openai/x".to_owned());
        SharedRequest::new(RecordedRequest { method, path, url: None, body: None })
    }

    #[test]
    fn only_failed_requests_are_repeated() {
        let request = shared();
        request.repeat();
        request.end(200);
        request.repeat();
        assert!(!request.is_repeated(), "each is a request of its own");
        request.end(503);
        assert!(!request.is_repeated());
        request.repeat();
        assert!(request.is_repeated());
    }

    #[test]
    fn repeated_requests_have_no_problem() {
        let request = shared();
        request.fail(Some("no route"));
        request.fail(None);
        assert_eq!(request.unreachable().as_deref(), Some("no route"));
        request.repeat();
        assert_eq!(request.unreachable(), None);
    }
}
