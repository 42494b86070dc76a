//! Ordinary texts are unchanged, key formats are redacted, and known secrets are found in all encodings.

mod keys;
mod ordinary_texts;
mod tables;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::redactor::{redact_value, redact_with, replace_matches};
use super::scanner::Scanner;
use super::*;

#[track_caller]
fn shows(text: &str, shown: &str) {
    assert_eq!(redacted(text), shown);
}

#[test]
fn a_form_is_marked_with_its_rule() {
    let token = keys::random(7, keys::ALNUM, 36);
    shows(&format!("401 for `ghp_{token}`, sorry"), "401 for `[redacted:github-token]`, sorry");
    shows(&format!("Authorization: Bearer ghs_{token}"), "Authorization: Bearer [redacted:github-token]");
    shows(&format!("{{\"a\":\"x\\nghp_{token}\\n\"}}"), "{\"a\":\"x\\n[redacted:github-token]\\n\"}");
    shows(&format!("ghp_{token}密钥"), "[redacted:github-token]密钥");
}

#[test]
fn a_token_in_a_header_is_taken_out() {
    shows("Authorization: Bearer ab.12+cd/34=", "Authorization: Bearer [redacted:bearer-token]");
    shows("`basic dXNlcjpwYXNzd29yZA==`, as said", "`basic [redacted:basic-auth]`, as said");
    shows("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl.", "[redacted:jwt].");
    shows("Authorization: Bearer q7Zk2mP0xV9nT4bLw8Yc", "Authorization: Bearer [redacted:bearer-token]");
    shows("needs bearer authentication", "needs bearer authentication");
    shows("Authorization: Bearer <token>", "Authorization: Bearer <token>");
}

#[test]
fn the_password_of_an_address_is_taken_out() {
    let mark = "[redacted:url-password]";
    shows("at postgres://cobalt:s3cret@db:5432/runs", &format!("at postgres://cobalt:{mark}@db:5432/runs"));
    shows("postgres://u:p@ss/word@host/db", &format!("postgres://u:{mark}@host/db"));
    shows("postgres://u:pa/ss@host/db", &format!("postgres://u:{mark}@host/db"));
    shows("redis://:a@h,redis://:a@h a", &format!("redis://:{mark}@h,redis://:{mark}@h a"));
    shows("https://u:pw@[::1]:80/a", &format!("https://u:{mark}@[::1]:80/a"));
    for text in [
        "at http://localhost:8080/a@b",
        "http://[::1]:80/a@b",
        "http://host/a:b@c",
        "http://u@host:1",
        "postgres://user:${PASSWORD}@host/db",
    ] {
        shows(text, text);
    }
}

#[test]
fn an_address_by_which_anybody_may_write_to_a_chat_keeps_its_host() {
    let mark = "[redacted:chat-webhook]";
    shows(
        "string \"https://hooks.slack.com/services/T0/B0/x1\", or https://discord.com/api/webhooks/1/ab",
        &format!("string \"https://hooks.slack.com/{mark}\", or https://discord.com/{mark}"),
    );
    let harmless = "https://hooks.slack.com/ and https://api.slack.com/messaging/webhooks";
    shows(harmless, harmless);
}

#[test]
fn names_say_what_their_values_are() {
    let key = keys::random(11, keys::ALNUM, 32);
    shows(&format!("GET /v1?api_key={key}&page=2"), "GET /v1?api_key=[redacted:api-key]&page=2");
    shows(
        &format!("{{\\\"client_secret\\\": \\\"{key}\\\"}}"),
        "{\\\"client_secret\\\": \\\"[redacted:secret]\\\"}",
    );
    shows("PGPASSWORD=S3cr3tPassw0rd psql", "PGPASSWORD=[redacted:password] psql");
    for text in [
        "password: required",
        "let token = self.next_token(Utf8String)",
        "?token=YOUR_TOKEN_GOES_HERE_1234",
        "nextPageToken=CAESBgoEEgIIAQABCDEF0123",
        "password=[redacted:password]",
        "[redacted:slack-token]://Aaaa0a0a000b2134",
    ] {
        shows(text, text);
    }
}

#[test]
fn texts_and_names_of_a_value_are_without_secrets_and_no_value_is_lost() {
    let [one, two] = [1, 2].map(|seed| format!("ghp_{}", keys::random(seed, keys::ALNUM, 36)));
    let mut value =
        json!({ "a": [one.clone(), 1, { "b": "fine" }], one.clone(): 1, two: { "c": one }, "d": 2 });
    redact_texts(&mut value);
    let mark = "[redacted:github-token]";
    assert_eq!(value["a"], json!([mark, 1, { "b": "fine" }]));
    let fields = value.as_object().unwrap();
    assert_eq!(fields.len(), 4);
    let both = [&fields[mark], &fields[&format!("{mark} (2)")]];
    assert!(both.contains(&&json!(1)) && both.contains(&&json!({ "c": mark })), "{value}");
    let again = value.clone();
    redact_texts(&mut value);
    assert_eq!(value, again);
}

#[test]
fn the_name_of_a_field_counts_with_its_value() {
    let secret = keys::random(5, keys::ALNUM, 40);
    let folder = "/tmp/tmp1a2b3c";
    let mut value = json!({
        "aws_secret_access_key": secret, "password": "required", "next_page_token": secret, "PWD": folder,
    });
    let mut shown = value.clone();
    shown["aws_secret_access_key"] = "[redacted:api-key]".into();
    redact_texts(&mut value);
    assert_eq!(value, shown);
}

#[test]
fn ten_thousand_ordinary_texts_stay_as_they_are() {
    let texts = ordinary_texts::texts(10_000);
    assert_eq!(texts.len(), 10_000);
    let changed: Vec<_> =
        texts.iter().map(|text| (text, redacted(text))).filter(|(text, shown)| *text != shown).collect();
    assert!(changed.is_empty(), "{} changed: {:#?}", changed.len(), &changed[..changed.len().min(20)]);
}

#[test]
fn every_form_of_a_key_is_taken_out() {
    let keys = keys::forms();
    assert!(keys.len() >= 89, "{}", keys.len());
    let shown = keys.iter().map(|(name, written, secret)| (name, secret, redacted(written)));
    let missed: Vec<_> =
        shown.filter(|(_, secret, shown)| shown.contains(*secret) || !has_mark(shown)).collect();
    assert!(missed.is_empty(), "{} of {} missed: {missed:#?}", missed.len(), keys.len());
}

#[test]
fn a_known_secret_is_found_however_it_is_written() {
    let secret = "kn0wn \"secret\"/of ä+the&test";
    register_secret("OUR_KEY", secret);
    let mut ways: Vec<String> = vec![
        secret.to_owned(),
        serde_json::to_string(secret).unwrap(),
        serde_json::to_string(&serde_json::to_string(secret).unwrap()).unwrap(),
        crate::hash::hex(secret.as_bytes()),
        crate::hash::hex(secret.as_bytes()).to_uppercase(),
        secret.bytes().map(|byte| format!("%{byte:02X}")).collect(),
        secret.bytes().map(|byte| format!("%{byte:02x}")).collect(),
        secret.chars().map(|letter| format!("\\u{:04x}", u32::from(letter))).collect(),
        secret.replace('"', "%22").replace(' ', "%20").replace('/', "%2F").replace('&', "%26"),
        secret.replace('"', "%22").replace('+', "%2B").replace(' ', "+").replace('&', "%26"),
    ];
    for before in ["", "u", "us", "use"] {
        for after in ["", "r", "rs"] {
            let text = format!("{before}{secret}{after}");
            ways.extend([STANDARD.encode(&text), URL_SAFE_NO_PAD.encode(&text)]);
        }
    }
    for way in ways {
        let shown = redacted(&way);
        assert!(shown.contains("[redacted:OUR_KEY]"), "{way} became {shown}");
        assert!(shown.len() < way.len() / 2 + 40, "{way} became {shown}");
    }
}

#[test]
fn a_known_secret_is_named_where_a_form_finds_it_too() {
    let key = format!("ghp_{}", keys::random(23, keys::ALNUM, 36));
    register_secret("TRACKER_KEY", &key);
    shows(&format!("password={key}, or"), "password=[redacted:TRACKER_KEY], or");
}

#[test]
fn known_secrets_are_found_where_forms_are_not_looked_for() {
    let secret = ("OUR_KEY".into(), "kn0wn-of-the-test".to_owned());
    let scanner = Scanner::new(registry::patterns(&secret), false);
    let key = format!("ghp_{}", keys::random(29, keys::ALNUM, 36));
    let text = format!("password=S3cr3tPassw0rd {key} kn0wn-of-the-test");
    let shown = format!("password=S3cr3tPassw0rd {key} [redacted:OUR_KEY]");
    assert_eq!(redact_with(&scanner, &text), shown);
    let mut value = json!({ "password": "S3cr3tPassw0rd", "kn0wn-of-the-test": key });
    redact_value(&scanner, &mut value);
    assert_eq!(value, json!({ "password": "S3cr3tPassw0rd", "[redacted:OUR_KEY]": key }));
}

#[test]
fn a_document_of_an_older_version_stays_json() {
    let secret = ("OUR_KEY".into(), "n0w-\"known\"-of it".to_owned());
    let scanner = Scanner::new(registry::patterns(&secret), true);
    let document =
        json!({ "a": "x\nn0w-\"known\"-of it", "n0w-\"known\"-of it": ["\\n0w", "ghp"] }).to_string();
    let shown = replace_matches(&document, scanner.find_in_document(&document));
    let shown: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(shown, json!({ "a": "x\n[redacted:OUR_KEY]", "[redacted:OUR_KEY]": ["\\n0w", "ghp"] }));
}

#[test]
fn a_known_number_is_taken_out_as_a_number_too() {
    let secret = ("OUR_KEY".into(), "839201746583920".to_owned());
    let scanner = Scanner::new(registry::patterns(&secret), true);
    let mut value =
        json!({ "account": 839_201_746_583_920_u64, "of": [839_201_746_583_920_u64, 839_201, 0.5] });
    redact_value(&scanner, &mut value);
    let mark = "[redacted:OUR_KEY]";
    assert_eq!(value, json!({ "account": mark, "of": [mark, 839_201, 0.5] }));
}

#[test]
fn a_document_with_a_known_number_stays_json() {
    let secret = ("OUR_KEY".into(), "839201746583920".to_owned());
    let scanner = Scanner::new(registry::patterns(&secret), true);
    let document = json!({ "a\\\"": 839_201_746_583_920_u64, "b": "\"839201746583920\\" }).to_string();
    let shown = replace_matches(&document, scanner.find_in_document(&document));
    let shown: Value = serde_json::from_str(&shown).unwrap();
    let expected = json!({ "a\\\"": 839_201_746_583_920_u64, "b": "\"[redacted:OUR_KEY]\\" });
    assert_eq!(shown, expected);
}

#[test]
fn private_keys_are_taken_out_however_their_lines_are_written() {
    let lines: Vec<String> = (0..6).map(|seed| keys::random(seed + 40, keys::ALNUM, 64)).collect();
    let fields = "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,8F3A1C5D7E9B2A4F6C8D0E1F2A3B4C5D\n\n";
    for (between, before) in
        [("\n", ""), ("\\n", ""), ("\\r\\n", ""), ("\\n\" +\n    \"", ""), ("\n", fields), (" ", "")]
    {
        let body = lines.join(between);
        let whole = format!(
            "-----BEGIN RSA PRIVATE KEY-----{between}{before}{body}{between}-----END RSA PRIVATE KEY-----"
        );
        shows(&format!("key: {whole}, as said"), "key: [redacted:private-key], as said");
        let cut = format!("-----BEGIN PRIVATE KEY-----{between}{before}{}", &body[..body.len() - 30]);
        shows(&format!("key: {cut}"), "key: [redacted:private-key]");
        shows(&format!("{cut} and what follows"), "[redacted:private-key] and what follows");
    }
}

#[test]
fn a_certificate_behind_the_mention_of_a_key_stays() {
    let lines: Vec<String> = (0..6).map(|seed| keys::random(seed + 50, keys::ALNUM, 64)).collect();
    let certificate =
        format!("-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n", lines.join("\n"));
    let text = format!("-----BEGIN PRIVATE KEY-----\n(yours)\n{certificate}");
    shows(&text, &text);
}

#[test]
fn a_backslash_is_part_of_a_password() {
    shows(r#"{"password":"Zq8$mN2p\Lk4!vT9w"}"#, r#"{"password":"[redacted:password]"}"#);
    shows(r#"{\"password\":\"Zq8$mN2p\\\\Lk4!vT9w\"}"#, r#"{\"password\":\"[redacted:password]\"}"#);
}

#[test]
fn a_file_of_variables_is_known() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(".env");
    let text = "# comment\nexport FILE_TOKEN='t0ken-of-the-file'\nMODEL=m0del-of-the-file\nFILE_KEY=k3y-of-the-file # why\n\
                FILE_SECRET=\"first-l1ne\nsecond-l1ne\"\nFILE_DB_PASSWORD=\"p4\\$\\$w0rd-long\"\n\
                FILE_PASSPHRASE=\"ab\\\"cd3fghij\nkl\"\nFILE_AUTH_METHOD=cl1ent_credentials_of_file\n\
                FILE_NOTE=\"open\nTABBED_KEY=t4bbed-of-the-file\t# why\n";
    std::fs::write(&path, text).unwrap();
    register_env_file(&path);
    shows("t0ken-of-the-file m0del-of-the-file", "[redacted:FILE_TOKEN] m0del-of-the-file");
    shows("k3y-of-the-file, first-l1ne\nsecond-l1ne", "[redacted:FILE_KEY], [redacted:FILE_SECRET]");
    shows("p4\\$\\$w0rd-long p4$$w0rd-long", "[redacted:FILE_DB_PASSWORD] [redacted:FILE_DB_PASSWORD]");
    shows("ab\\\"cd3fghij\nkl ab\"cd3fghij\nkl", "[redacted:FILE_PASSPHRASE] [redacted:FILE_PASSPHRASE]");
    shows("t4bbed-of-the-file", "[redacted:TABBED_KEY]");
    shows("cl1ent_credentials_of_file", "cl1ent_credentials_of_file");
}

#[test]
fn an_address_has_its_password_and_its_parameters_known() {
    register_address(
        "judge.base-url",
        "https://u:p4ssword-of-it@host/v1?api-version=2024-10-21-preview&key=k3y%2Dof-the-url",
    );
    shows(
        "p4ssword-of-it k3y-of-the-url 2024-10-21-preview",
        "[redacted:judge.base-url] [redacted:judge.base-url] 2024-10-21-preview",
    );
}

#[test]
fn parameters_that_are_no_secret_are_not_known() {
    register_address(
        "judge.base-url",
        "https://host/v1?deployment=gpt-4o-mini-2024-07-18-x&sig=s1gnature-of-it&session=q7Wz3mKx9PbV2nR8",
    );
    shows("gpt-4o-mini-2024-07-18-x", "gpt-4o-mini-2024-07-18-x");
    shows("s1gnature-of-it q7Wz3mKx9PbV2nR8", "[redacted:judge.base-url] [redacted:judge.base-url]");
}

#[test]
fn a_key_in_the_place_of_a_user_is_known_and_a_name_is_not() {
    register_address("judge.base-url", "https://k9Qw7Zx3Vb5Nm1Rt8Yp2@gateway/v1");
    register_address("judge.base-url", "https://deploy-user-of-it:pw@gateway/v1");
    shows("k9Qw7Zx3Vb5Nm1Rt8Yp2 deploy-user-of-it", "[redacted:judge.base-url] deploy-user-of-it");
}

#[test]
fn the_path_of_a_webhook_is_known() {
    register_webhook("HOOK_URL", "https://chat.example.com/hooks/x7k3m9qpw2z8r4t6y1n5b0c3da?a=1");
    register_webhook("OPEN_URL", "https://chat.example.com/api/v1/notifications");
    shows(
        "POST https://chat.example.com/hooks/x7k3m9qpw2z8r4t6y1n5b0c3da or /api/v1/notifications",
        "POST https://chat.example.com/[redacted:HOOK_URL] or /api/v1/notifications",
    );
}

#[test]
fn sixteen_times_the_text_takes_some_sixteen_times_as_long() {
    redacted("the automaton is made at first");
    for text in [
        "eyJhbGciOiJIUzI1NiJ9.",
        "Bearer aB3dE5gH7jK9mN1p ",
        "redis://:a",
        "password=\"",
        "-----BEGIN PRIVATE KEY-----",
    ] {
        let took = |times: usize| {
            let text = text.repeat(times);
            let started = processor_time();
            std::hint::black_box(redacted(&text));
            processor_time() - started
        };
        // A quadratic search takes 256 times as long for 16 times the text.
        let (short, long) = (took(1000), took(16_000));
        // The clock is coarse for short times.
        assert!(long < short.max(std::time::Duration::from_millis(5)) * 80, "{text}: {short:?}, {long:?}");
    }
}

/// The CPU time of this thread if the system provides it, or else the wall-clock time.
fn processor_time() -> std::time::Duration {
    static STARTED: std::sync::LazyLock<std::time::Instant> =
        std::sync::LazyLock::new(std::time::Instant::now);
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = told.and_then(|told| told.split(' ').next()?.parse().ok());
    nanoseconds.map_or_else(|| STARTED.elapsed(), std::time::Duration::from_nanos)
}

#[test]
fn a_mark_is_told_from_what_is_none() {
    for text in ["[redacted]", "a [redacted:github-token] b", "[redacted:judge.api-key]"] {
        assert!(has_mark(text), "{text}");
        shows(text, text);
    }
    for text in ["[redacted", "[redacted:]", "[redacted by the court]", "[redacted:a b]"] {
        assert!(!has_mark(text), "{text}");
    }
}

/// Pieces of secrets and of similar texts.
fn piece() -> impl Strategy<Value = String> {
    let piece = (0..u64::MAX).prop_map(|seed| {
        let keys = keys::forms();
        keys[(seed % keys.len() as u64) as usize].1.clone()
    });
    prop_oneof![
        "\\PC{0,20}",
        "[ -~]{0,30}",
        "(Bearer |basic |://|:|@|password=|\"api_key\": \"|eyJ|-----BEGIN|\\[redacted|\\]|%20|\\\\n|\\\\u00)",
        "[A-Za-z0-9_-]{16,60}",
        piece,
    ]
}

/// The parts of a text between its marks.
fn unmarked(shown: &str) -> Vec<&str> {
    let (mut parts, mut from) = (Vec::new(), 0);
    for (start, _) in shown.match_indices("[redacted") {
        if let Some(mark) = marks::mark_at(shown.as_bytes(), start) {
            parts.push(&shown[from..mark.start]);
            from = mark.end;
        }
    }
    parts.push(&shown[from..]);
    parts
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_redacted_stays_so_and_nothing_else_is_removed(pieces in prop::collection::vec(piece(), 0..8)) {
        let text = pieces.concat();
        let shown = redacted(&text).into_owned();
        prop_assert_eq!(&redacted(&shown), &shown);
        // The parts between the marks occur in the text, in this order.
        let mut from = 0;
        for part in unmarked(&shown) {
            let at = text[from..].find(part);
            prop_assert!(at.is_some(), "{:?} became {:?}", text, shown);
            from += at.unwrap_or_default() + part.len();
        }
    }

    #[test]
    fn a_registered_secret_survives_in_no_encoding(
        secret in "[A-Za-z0-9+/=_.~!-]{6,30}[0-9][a-z]",
        before in "[ -~]{0,9}",
        after in "[ -~]{0,9}",
    ) {
        prop_assume!(registry::is_distinctive(&secret) && !before.contains('[') && !after.contains('['));
        // Not registered for the whole process, which would affect the other tests.
        let scanner = Scanner::new(registry::patterns(&("A_KEY".into(), secret.clone())), false);
        let redacted = |text: &str| redact_with(&scanner, text).into_owned();
        let text = format!("{before}{secret}{after}");
        let hex = crate::hash::hex(text.as_bytes());
        let percent: String = text.bytes().map(|byte| format!("%{byte:02X}")).collect();
        let json = serde_json::to_string(&text).unwrap();
        for (written, plain) in [(text.clone(), secret.clone()), (hex, crate::hash::hex(secret.as_bytes()))] {
            prop_assert!(!redacted(&written).contains(&plain), "{}", written);
        }
        for written in [percent, json, STANDARD.encode(&text), URL_SAFE_NO_PAD.encode(&text)] {
            prop_assert!(has_mark(&redacted(&written)), "{}", written);
        }
    }
}
