//! Servers and connections that fail, and what is asked again.

use std::time::Duration;

use super::*;

fn fine() -> Answer {
    Answer::text(200, ROWS)
}

#[test]
fn what_may_pass_is_asked_again() {
    for status in [408, 429, 500, 502, 503, 504] {
        assert_eq!(after([Answer::text(status, "not now"), fine()]), (Ok(2), 2), "{status}");
    }
}

#[test]
fn what_will_not_pass_is_not_asked_again() {
    for status in [400, 401, 403, 404, 410] {
        let (fetched, asked) = after([Answer::text(status, "no"), fine()]);
        assert!(fetched.unwrap_err().starts_with(&format!("status {status}: no")));
        assert_eq!(asked, 1, "{status}");
    }
}

#[test]
fn the_wait_that_a_server_asks_for_is_kept() {
    let server = TestServer::script([Answer::text(429, "").header("retry-after", "0.15"), fine()]);
    at(&server, "/data").unwrap();
    let asked = server.asked();
    assert!(asked[1].at - asked[0].at >= Duration::from_millis(150));
    let (fetched, asked) = after([Answer::text(429, "busy").header("retry-after", "3600"), fine()]);
    assert_eq!(fetched.unwrap_err(), "status 429: busy; the server asks to wait 1h, try again after that");
    assert_eq!(asked, 1);
}

#[test]
fn a_server_that_stays_broken_is_given_up() {
    let (fetched, asked) = after([Answer::error(503, "overloaded")]);
    assert_eq!(fetched.unwrap_err(), "status 503: overloaded; tried 5 times");
    assert_eq!(asked, 5);
    let server = TestServer::script([Answer::text(500, "")]);
    let error = fetch(&Dataset::from_url(server.url("/data")).retries(0)).unwrap_err();
    assert_eq!(error.to_string(), "status 500");
    assert_eq!(server.asked().len(), 1);
}

#[test]
fn an_answer_that_is_cut_short_is_asked_for_again_as_a_whole() {
    for cut in [0, 15, 20] {
        assert_eq!(after([fine().cut_after(cut), fine()]), (Ok(2), 2), "{cut}");
        assert_eq!(after([fine().in_pieces().cut_after(cut), fine()]), (Ok(2), 2), "{cut}");
    }
}

#[test]
fn an_answer_that_is_always_cut_short_is_no_shorter_data_set() {
    // After the first of two rows.
    for answer in [fine().cut_after(15), fine().in_pieces().cut_after(15)] {
        let (fetched, asked) = after([answer]);
        let error = fetched.unwrap_err();
        assert!(error.ends_with("; tried 5 times") && asked == 5, "{error}");
    }
}

#[test]
fn a_part_of_a_file_is_no_data_set() {
    let (fetched, asked) = after([Answer::text(206, ROWS)]);
    assert_eq!(
        (fetched.unwrap_err().as_str(), asked),
        ("status 206: the answer is only a part of the file", 1)
    );
    assert!(after([Answer::text(202, "{}")]).0.unwrap_err().contains("not ready yet"));
}

#[test]
fn a_server_that_is_silent_is_given_up() {
    let timeout = Duration::from_millis(60);
    for (answer, expected) in [
        (Answer::never(), "no answer within 60ms; tried 2 times"),
        (fine().header("content-length", "100"), "the answer stood still for 60ms; tried 2 times"),
    ] {
        let server = TestServer::script([answer]);
        let error = fetch(&Dataset::from_url(server.url("/data")).timeout(timeout)).unwrap_err();
        assert_eq!((error.to_string().as_str(), server.asked().len()), (expected, 2));
    }
}

#[test]
fn a_server_that_is_slow_but_steady_may_take_longer_than_the_timeout() {
    let server = TestServer::script([fine().every(Duration::from_millis(40), 3)]);
    let remote = Dataset::from_url(server.url("/data")).timeout(Duration::from_millis(250)).retries(0);
    let started = std::time::Instant::now();
    assert_eq!(fetch(&remote).unwrap().items.len(), 2);
    assert!(started.elapsed() > Duration::from_millis(300));
}

#[test]
fn a_refused_connection_says_so() {
    let address = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let error =
        fetch(&Dataset::from_url(format!("http://{address}/x.csv")).retries(1)).unwrap_err().to_string();
    assert!(error.contains("refused") && error.ends_with("; tried 2 times"), "{error}");
}
