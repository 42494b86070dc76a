//! Keys are passed on, and written nowhere.

use super::*;

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
    let url = process.gateway.base_url(VendorRoute::named("gemini").unwrap(), Some(&execution));
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
