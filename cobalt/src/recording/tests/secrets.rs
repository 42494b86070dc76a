//! Keys are passed on, and written nowhere.

use super::*;
use crate::recording::NO_KEY;

#[tokio::test]
async fn no_key_is_in_any_file() {
    let scene = Scene::new(|request| {
        assert_eq!(
            request.headers["authorization"],
            "Bearer sk-proj-9fK2mQx7Lp0ZbT4vWc8YhN3sRj6DgA1uEoIi5XkMnBqVtHyU"
        );
        completion("your key is sk-ant-api03-Zt7Qm2Xc9Vb4Nk1Lp8Rw5Yh3Gd6Js0Fa-Ui2Oe7Tx4Mq9Bz1Cv6Hn3Kl8Pw5Sr0Dj2Gf7Ay4Eu9Io1Qt6Wm")
            .header("set-cookie", "session=c00k1e-s3cr3t")
    });
    let process = scene.process(RecordMode::Record);
    let execution = process.begin(0, 0);
    let url = process.gateway.base_url(ProviderRoute::named("gemini").unwrap(), Some(&execution));
    let request = process.client.post(format!(
        "{url}/v1beta/models/g:generateContent?key=AIzaSyD4v8Kq2Wm7Xt1Zb5Nc9Rj3Hf6Lp0Gu-Ye&alt=sse"
    ));
    let response = request
        .header("authorization", "Bearer sk-proj-9fK2mQx7Lp0ZbT4vWc8YhN3sRj6DgA1uEoIi5XkMnBqVtHyU")
        .header("x-api-key", "sk-ant-api03-header")
        .header("cookie", "login=pa55w0rd")
        .body(json!({ "contents": ["my key: ghp_R4nD0mT0k3nWith36Characters0123456789"] }).to_string());
    assert!(response.send().await.unwrap().text().await.unwrap().contains("sk-ant-api03-Zt7"));
    end(&execution).await;
    let written = all_files(scene.folder.path());
    assert!(written.contains("gemini/v1beta/models/g:generateContent?alt=sse"), "{written}");
    for secret in
        ["sk-proj", "9fK2mQx7", "sk-ant", "Zt7Qm2Xc", "AIzaSy", "ghp_R4nD", "c00k1e", "pa55w0rd", "Bearer"]
    {
        assert!(!written.contains(secret), "{secret} in {written}");
    }
    let sent = &scene.server.as_ref().unwrap().requests()[0];
    assert!(sent.path.contains("key=AIzaSy"), "{}", sent.path);
    assert_eq!(sent.headers["cookie"], "login=pa55w0rd");
    assert!(!sent.headers.contains_key("x-cobalt-execution"));
}

#[tokio::test]
async fn the_password_in_an_address_is_sent_and_neither_written_nor_shown() {
    let scene = Scene::numbered();
    let address = scene.upstream.replace("http://", "http://ann:pa55w0rd@");
    let address = format!("{address}/bot123456789:AAH8kq2Xw7Zt1Vb5Nc9Rj3Hf6Lp0Gu_YeQs");
    for mode in [RecordMode::Record, RecordMode::Replay] {
        let process = scene.process(mode);
        let execution = process.begin(0, 0);
        let url = process.gateway.base_url_for(&address, Some(&execution)).unwrap();
        assert_eq!(process.post(&url, &chat(&["hi"])).await.0, 200);
        if mode == RecordMode::Replay {
            let (status, refused) = process.post(&url, &chat(&["hi", "and"])).await;
            assert!(status == 400 && refused.contains("not recorded: POST 127.0.0.1:"), "{refused}");
            assert!(!refused.contains("pa55w0rd") && !refused.contains("AAH8kq2"), "{refused}");
        }
        end(&execution).await;
    }
    let sent = &scene.server.as_ref().unwrap().requests()[0];
    assert!(sent.path.contains(":AAH8kq2"), "{}", sent.path);
    let written = all_files(scene.folder.path());
    for secret in ["pa55w0rd", "AAH8kq2"] {
        assert!(!written.contains(secret), "{secret} in {written}");
    }
}

#[tokio::test]
async fn the_placeholder_of_a_key_is_never_sent() {
    let scene = Scene::numbered();
    let process = scene.process(RecordMode::Auto);
    let execution = process.begin(0, 0);
    let url = format!("{}/chat/completions", process.base_url(Some(&execution)));
    let request = process.client.post(url).header("authorization", format!("Bearer {NO_KEY}"));
    let response = request.body(chat(&["hi"]).to_string()).send().await.unwrap();
    assert_eq!(response.status(), 401);
    let (traffic, problem) = end(&execution).await;
    assert_eq!(traffic.live, 0);
    let expected = "POST openai/chat/completions is not recorded, and cannot be sent without a key; set `OPENAI_API_KEY`";
    assert_eq!(problem.unwrap(), expected);
    assert!(scene.server.as_ref().unwrap().requests().is_empty());
    assert!(!scene.recordings().cassette("item-0").exists());
}
