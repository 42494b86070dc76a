//! Crates shared with users: features that the library enables must not change their behaviour in user code.

use std::collections::BTreeSet;
use std::path::Path;

use crate::projects::{cargo, package};
use crate::sandbox::{Program, clean};

/// A package with default rustls, and WebSockets over it.
const MANIFEST: &str = r#"
[dependencies]
rustls = "0.23"

[dev-dependencies]
cobalt = { package = "cobalt-evals", path = COBALT }
futures-util = { version = "0.3", default-features = false, features = ["sink"] }
rcgen = { version = "=0.14.10", default-features = false, features = ["aws_lc_rs", "crypto"] }
tokio = { version = "1", features = ["macros", "net", "rt"] }
tokio-rustls = { version = "0.26", default-features = false }
tokio-tungstenite = { version = "=0.30.0", features = ["__rustls-tls"] }

[[test]]
name = "evals"
harness = false
"#;

const EVALS: &str = r#"
#[cobalt::evaluator]
fn right(output: &str) -> bool {
    output == "PING"
}

#[cobalt::experiment(dataset = cobalt::Dataset::from_items([cobalt::item! { "input": "ping" }]), evaluators = [right])]
fn shouted(item: cobalt::Item) -> String {
    item["input"].as_str().unwrap().to_uppercase()
}

fn main() {
    cobalt::main();
}
"#;

/// A server and a client that leave the crypto provider to rustls, as most programs do.
const SOCKETS: &str = r#"
use std::sync::Arc;

use futures_util::{SinkExt, StreamExt};
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{Connector, accept_async, client_async_tls_with_config};

#[tokio::test]
async fn a_web_socket_is_opened_over_tls() {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let certificate = made.cert.der().clone();
    let key = PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
    let mut roots = RootCertStore::empty();
    roots.add(certificate.clone()).unwrap();
    let client = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
    let server = ServerConfig::builder().with_no_client_auth();
    let server = server.with_single_cert(vec![certificate], key.into()).unwrap();

    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let echo = tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        let stream = TlsAcceptor::from(Arc::new(server)).accept(stream).await.unwrap();
        let mut socket = accept_async(stream).await.unwrap();
        let message = socket.next().await.unwrap().unwrap();
        socket.send(message).await.unwrap();
    });
    let stream = TcpStream::connect(address).await.unwrap();
    let url = format!("wss://localhost:{}/", address.port());
    let connector = Connector::Rustls(Arc::new(client));
    let (mut socket, _) = client_async_tls_with_config(url, stream, None, Some(connector)).await.unwrap();
    socket.send(Message::text("hello")).await.unwrap();
    assert_eq!(socket.next().await.unwrap().unwrap(), Message::text("hello"));
    echo.await.unwrap();
}
"#;

#[test]
fn a_crate_with_rustls_connects_beside_the_library() {
    let cobalt = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("cobalt");
    let sandbox = package("encrypted", &MANIFEST.replace("COBALT", &format!("{cobalt:?}")));
    sandbox.write("tests/evals.rs", EVALS);
    sandbox.write("tests/sockets.rs", SOCKETS);
    // Some of its crates come from the registry.
    let finished = cargo(&sandbox, &["test", "--tests"], &[("CARGO_NET_OFFLINE", "false")]).code(0);
    assert_eq!(finished.cases_that("ok"), ["a_web_socket_is_opened_over_tls", "shouted::0000"]);
}

/// Features that the library enables by default in crates that users may share. They are additive, except for `float_roundtrip`,
/// which parses floats exactly, and `preserve_order`, which keeps the order of object keys.
const TURNED_ON: [(&str, &[&str]); 7] = [
    ("hyper", &["client", "default", "http1", "server"]),
    ("hyper-util", &["client", "client-legacy", "client-proxy", "default", "http1", "tokio"]),
    (
        "regex",
        &[
            "perf-backtrack",
            "perf-cache",
            "perf-dfa",
            "perf-inline",
            "perf-onepass",
            "std",
            "unicode",
            "unicode-age",
            "unicode-bool",
            "unicode-case",
            "unicode-gencat",
            "unicode-perl",
            "unicode-script",
            "unicode-segment",
        ],
    ),
    ("reqwest", &["__rustls", "__rustls-aws-lc-rs", "__tls", "rustls"]),
    ("rustls", &["aws-lc-rs", "aws_lc_rs", "std", "tls12"]),
    ("serde_json", &["alloc", "default", "float_roundtrip", "indexmap", "preserve_order", "std"]),
    (
        "tokio",
        &[
            "bytes",
            "default",
            "io-util",
            "libc",
            "mio",
            "net",
            "rt",
            "rt-multi-thread",
            "socket2",
            "sync",
            "time",
        ],
    ),
];

/// The features of a crate in the library's dependency tree.
fn features(of: &str, chosen: &[&str]) -> BTreeSet<String> {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut command = clean(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    // As in users' projects, without the flags of this workspace.
    command.current_dir(workspace).env("CARGO_NET_OFFLINE", "true").env("RUSTFLAGS", "");
    let tree =
        ["tree", "--locked", "-p", "cobalt-evals", "-e", "normal", "--prefix", "none", "--format", "{p}|{f}"];
    let finished = Program::of(command).args(tree).args(chosen.iter().copied()).run().code(0);
    let lines = finished.stdout.lines().filter(|line| line.split(' ').next() == Some(of));
    let features =
        lines.filter_map(|line| line.split_once('|')).map(|(_, features)| features.trim_end_matches(" (*)"));
    features.flat_map(|list| list.split(',')).map(str::to_owned).filter(|name| !name.is_empty()).collect()
}

#[test]
fn only_features_that_change_nothing_are_turned_on_in_crates_of_users() {
    for (name, known) in TURNED_ON {
        let on = features(name, &[]);
        let others: Vec<_> = on.iter().filter(|feature| !known.contains(&feature.as_str())).collect();
        assert!(!on.is_empty() && others.is_empty(), "{name}: {others:?} of {on:?}");
    }
}

#[test]
fn rustls_has_the_one_provider_that_is_chosen() {
    let provider = |chosen: &[&str]| {
        let mut on = features("rustls", chosen);
        on.retain(|feature| ["aws_lc_rs", "ring"].contains(&feature.as_str()));
        on.into_iter().collect::<Vec<_>>()
    };
    assert_eq!(provider(&[]), ["aws_lc_rs"]);
    assert_eq!(provider(&["--no-default-features", "--features", "judge,ring"]), ["ring"]);
    assert_eq!(provider(&["--no-default-features", "--features", "judge"]), [""; 0]);
}
