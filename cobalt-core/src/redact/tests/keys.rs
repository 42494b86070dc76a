//! Generated keys in vendor formats, so no key is stored in a file.

pub const HEX: &str = "0123456789abcdef";
pub const CAPITALS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
pub const ALNUM: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const LETTERS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
pub const URL_SAFE: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
pub const BASE64: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
pub const SMALL: &str = "abcdefghijklmnopqrstuvwxyz0123456789";
const DIGITS: &str = "0123456789";

/// Random characters of an alphabet, the same for the same seed.
pub fn random(seed: u64, alphabet: &str, length: usize) -> String {
    let alphabet = alphabet.as_bytes();
    let mut random = fastrand::Rng::with_seed(seed);
    let mut text: String =
        (0..length).map(|_| char::from(alphabet[random.usize(..alphabet.len())])).collect();
    // No key ends with a separator.
    if text.ends_with(['-', '_', '.', '+', '/']) {
        text.replace_range(length - 1.., "a");
    }
    text
}

/// Prefixes, with the alphabet and length of the rest.
const BEGINNINGS: [(&str, &str, usize); 73] = [
    ("sk-", ALNUM, 48),
    ("sk-", HEX, 32),
    ("sk-proj-", URL_SAFE, 48),
    ("sk-proj-", URL_SAFE, 156),
    ("sk-svcacct-", URL_SAFE, 120),
    ("sk-admin-", URL_SAFE, 120),
    ("sk-ant-api03-", URL_SAFE, 95),
    ("sk-ant-admin01-", URL_SAFE, 95),
    ("sk-ant-oat01-", URL_SAFE, 95),
    ("sk-or-v1-", HEX, 64),
    ("gsk_", ALNUM, 52),
    ("xai-", ALNUM, 80),
    ("pplx-", ALNUM, 48),
    ("r8_", ALNUM, 37),
    ("hf_", LETTERS, 34),
    ("nvapi-", URL_SAFE, 64),
    ("tvly-", ALNUM, 32),
    ("jina_", ALNUM, 60),
    ("csk-", ALNUM, 48),
    ("pcsk_", ALNUM, 70),
    ("AIza", URL_SAFE, 35),
    ("ya29.", URL_SAFE, 120),
    ("GOCSPX-", URL_SAFE, 28),
    ("AKIA", CAPITALS, 16),
    ("ASIA", CAPITALS, 16),
    ("ABSK", BASE64, 120),
    ("ghp_", ALNUM, 36),
    ("gho_", ALNUM, 36),
    ("ghu_", ALNUM, 36),
    ("ghs_", ALNUM, 36),
    ("ghr_", ALNUM, 36),
    ("github_pat_", ALNUM, 82),
    ("glpat-", URL_SAFE, 20),
    ("gldt-", ALNUM, 20),
    ("glrt-", ALNUM, 20),
    ("glptt-", HEX, 40),
    ("glsoat-", ALNUM, 20),
    ("npm_", ALNUM, 36),
    ("pypi-AgEIcHlwaS5vcmc", URL_SAFE, 120),
    ("cio", ALNUM, 32),
    ("rubygems_", HEX, 48),
    ("dckr_pat_", ALNUM, 27),
    ("sk_live_", ALNUM, 24),
    ("sk_test_", ALNUM, 24),
    ("rk_live_", ALNUM, 24),
    ("whsec_", BASE64, 32),
    ("SG.", ALNUM, 66),
    ("SK", HEX, 32),
    ("key-", HEX, 32),
    ("dop_v1_", HEX, 64),
    ("dapi", HEX, 32),
    ("lsv2_pt_", HEX, 43),
    ("lsv2_sk_", HEX, 43),
    ("shpat_", HEX, 32),
    ("shpss_", HEX, 32),
    ("sq0atp-", ALNUM, 22),
    ("ATATT3", ALNUM, 186),
    ("lin_api_", ALNUM, 40),
    ("ntn_", ALNUM, 46),
    ("glsa_", ALNUM, 41),
    ("sntryu_", HEX, 64),
    ("NRAK-", CAPITALS, 27),
    ("hvs.", URL_SAFE, 95),
    ("dp.pt.", ALNUM, 43),
    ("pul-", HEX, 40),
    ("sbp_", HEX, 40),
    ("nfp_", ALNUM, 36),
    ("figd_", ALNUM, 40),
    ("PMAK-", HEX, 59),
    ("pnu_", ALNUM, 36),
    ("AGE-SECRET-KEY-1", CAPITALS, 58),
    ("xkeysib-", HEX, 81),
    ("HRKU-AA", ALNUM, 58),
];

/// Names, operators and quotes around keys without a vendor format.
const NAMED: [&str; 18] = [
    "https://api.test/v1/models?api_key=%",
    "https://api.test/v1/models?page=1&key=%",
    "https://api.test/v1?access_token=%#top",
    "https://blob.test/a.csv?sv=2024&sig=%",
    "aws_secret_access_key = %",
    "AWS_SESSION_TOKEN=%",
    "export OPENAI_API_KEY=\"%\"",
    "const API_KEY: &str = \"%\";",
    "{\"client_secret\": \"%\"}",
    "{\\\"apiKey\\\":\\\"%\\\"}",
    "x-api-key: %",
    "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=%;EndpointSuffix=b",
    "Endpoint=sb://a/;SharedAccessKeyName=b;SharedSecretAccessKey=%",
    "mysecret: '%'",
    "secret=%",
    "token: %",
    "curl --api-key % https://api.test",
    "Authorization: Bearer %",
];

/// Every format: its name, a text with a key, and the key.
pub fn forms() -> Vec<(String, String, String)> {
    let mut forms = Vec::new();
    for (seed, (beginning, alphabet, length)) in (1_u64..).zip(BEGINNINGS) {
        let key = format!("{beginning}{}", random(seed, alphabet, length));
        forms.push((beginning.to_owned(), format!("the key {key} is refused"), key));
    }
    for (seed, text) in (200_u64..).zip(NAMED) {
        let key = random(seed, ALNUM, 40);
        forms.push((text.to_owned(), text.replace('%', &key), key));
    }
    forms.extend(others());
    forms
}

/// Keys of several parts.
fn others() -> Vec<(String, String, String)> {
    use base64::Engine as _;
    use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};

    let uuid = |seed: u64| [8, 4, 4, 4, 12].map(|length| random(seed + length as u64, HEX, length)).join("-");
    let slack =
        format!("xox{}-{}-{}-{}", 'b', random(1, DIGITS, 12), random(2, DIGITS, 13), random(3, ALNUM, 24));
    let telegram = format!("{}:AA{}", random(4, "123456789", 10), random(5, ALNUM, 33));
    let azure = format!("{}8Q~{}", random(6, ALNUM, 3), random(7, ALNUM, 32));
    let [header, payload] = [r#"{"alg":"HS256","typ":"JWT"}"#, r#"{"sub":"1234567890","name":"Ada"}"#]
        .map(|part| URL_SAFE_NO_PAD.encode(part));
    let jwt = format!("{header}.{payload}.{}", random(8, URL_SAFE, 43));
    let body: String = (0..5).map(|seed| random(40 + seed, BASE64, 64) + "\n").collect();
    let pem =
        |kind: &str| format!("-----BEGIN {kind}PRIVATE KEY-----\n{body}-----END {kind}PRIVATE KEY-----");
    let basic = STANDARD.encode("ada:l0velace");
    let password = "S3cr3tPassw0rd";
    let line = body.lines().next().unwrap_or_default().to_owned();
    let openai = format!("sk-{}T3BlbkFJ{}", random(9, ALNUM, 20), random(10, ALNUM, 20));
    let discord =
        format!("https://discord.com/api/webhooks/{}/{}", random(11, DIGITS, 18), random(12, ALNUM, 68));
    let hook = random(13, ALNUM, 24);
    let all = [
        ("OpenAI's older form", openai.clone(), openai),
        ("Langfuse", format!("sk-lf-{}", uuid(20)), uuid(20)),
        ("Langfuse, public", format!("pk-lf-{}", uuid(21)), uuid(21)),
        ("Slack", slack.clone(), slack),
        ("Telegram", format!("https://api.telegram.org/bot {telegram}"), telegram.clone()),
        ("an address of Telegram", format!("https://api.telegram.org/bot{telegram}/getMe"), telegram),
        ("Azure", format!("secret is {azure}."), azure),
        ("JWT", format!("cookie {jwt};"), jwt),
        ("PEM", pem(""), line.clone()),
        ("PEM of RSA", pem("RSA "), line.clone()),
        ("PEM of OpenSSH, cut off", pem("OPENSSH ")[..300].to_owned(), line.clone()),
        ("PEM in JSON", serde_json::to_string(&pem("EC ")).unwrap(), line),
        ("Basic", format!("Authorization: Basic {basic}"), basic),
        ("a database", format!("postgres://ada:{password}@db:5432/runs"), password.to_owned()),
        ("a git remote", format!("https://ada:{password}@git.test/a.git"), password.to_owned()),
        ("password=", format!("host=db password={password} user=ada"), password.to_owned()),
        ("password in JSON", format!("{{\"password\":\"{password}\"}}"), password.to_owned()),
        ("Slack's webhook", format!("https://hooks.slack.com/services/T0AB/B0AB/{hook}"), hook),
        ("Discord's webhook", discord.clone(), discord),
    ];
    all.map(|(name, text, secret)| (name.to_owned(), text, secret)).into()
}
