//! Ordinary texts that must not be redacted; reproducible.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use fastrand::Rng;

use super::keys::{ALNUM, HEX};

/// Texts that were once redacted by mistake, and texts that nearly match a rule.
const SEEN: [&str; 71] = [
    "PWD=/tmp/tmp1a2b3c",
    "OLDPWD=/home/u1s2e3r4/p1r2o3j4e5c6t",
    "{\"PWD\": \"/tmp/tmp1a2b3c\", \"SHLVL\": \"1\"}",
    "{\"OLDPWD\": \"C:/Users/a1b2c3d4/work\"}",
    "restored cache-key-d41d8cd98f00b204e9800998ecf8427e",
    "image x-pul-2fd4e1c67a2d28fced849ee1bb76e7391b93eb12",
    "basic responsibilities",
    "Visual Basic 2019-2022",
    "pk_customer_orders",
    "hf_hub_download_file",
    "class=\"sk-fading-circle-loader\"",
    "docker://alpine:3.19@sha256…",
    "docker://alpine:3.19@sha256:c5b1261d6d3e43071626931fc004f70149baeba2c8ec672bd4f27761f8e1ad6b",
    "访问 https://example.com/a:b，邮箱是 me@example.com。",
    "请看http://localhost:8080/路径，联系admin@example.com",
    "見る：https://example.jp/資料:第1章@付録",
    "sk-learn-contrib-package-name-2024",
    "sk_buff_head_init_class_lock",
    "rk_vop_crtc_atomic_flush",
    "pk_products_variants_2023",
    "ghp_import_docs_to_pages",
    "xoxo, your friend from 1999",
    "the task-oriented-approach",
    "risk-management-framework-2024",
    "desk-booking-system-v2-release",
    "AKIArchitecture",
    "AIzawa Yumi, 1984",
    "a bearer of bad news, bearer certificates 2024-2025",
    "Bearer authentication is required",
    "Basic authentication is not supported since 2023",
    "basic-auth-middleware-2.0.1",
    "Authorization: Bearer <your token here>",
    "Authorization: Bearer $TOKEN",
    "Authorization: Bearer YOUR_API_KEY",
    "password: string",
    "password: Utf8String,",
    "password = request.form[\"password\"]",
    "password=${DB_PASSWORD}",
    "password = os.environ['DB_PASSWORD_2']",
    "let token = self.tokens.next_token_of_kind(Kind2::Key3)?;",
    "const token = await getAccessToken2(user);",
    "token: Option<Base64UrlUnpadded>",
    "max_tokens=4096, token_count: 12345678901234567",
    "nextPageToken=CAESBgoEEgIIAQ-x9KQ2mVbR4nT8wZ",
    "\"next_page_token\": \"CAESBgoEEgIIAQx9KQ2mVbR4nT8wZ\"",
    "primary_key=550e8400-e29b-41d4-a716-446655440000",
    "cache_key: 'd41d8cd98f00b204e9800998ecf8427e'",
    "sort_key=2024-11-22#order-000123456789",
    "api_key=YOUR_API_KEY_HERE_12345678",
    "api_key: <insert-key-here-1234567890>",
    "secret: the-name-of-the-secret-in-the-vault",
    "git clone git@github.com:rust-lang/rust.git",
    "ssh://git@github.com:22/rust-lang/rust.git",
    "https://user@example.com/path",
    "mailto:ada.lovelace@example.com?subject=hello",
    "redis://localhost:6379/0",
    "postgres://localhost:5432/app?sslmode=disable",
    "https://example.com/@user/post:3@v2",
    "npm install @types/node@18.11.9 left-pad@1.3.0",
    "pkg:docker/alpine@3.19?arch=amd64",
    "eyJ",
    "eyJhbGciOiJub3QgYSB0b2tlbiJ9",
    "-----BEGIN CERTIFICATE-----",
    "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
    "A PKCS#8 file starts with `-----BEGIN PRIVATE KEY-----`, holds the base64 of the DER structure in lines of 64 \
     characters, and ends with `-----END PRIVATE KEY-----`.",
    "-----BEGIN PRIVATE KEY----- is what the first line of such a file says, the quick brown fox jumps over it, and then \
     the lazy dog follows with lines of its own",
    "const BEGIN: &str = \"-----BEGIN PRIVATE KEY-----\";\nconst HASH: &str = \
     \"c5b1261d6d3e43071626931fc004f70149baeba2c8ec672bd4f27761f8e1ad6b\";\nfn is_private_key(text: &str) -> bool {\n    \
     text.starts_with(BEGIN) && text.trim_end().ends_with(END)\n}\nconst END: &str = \"-----END PRIVATE KEY-----\";",
    "1,http://10.0.0.1:8080,ops@example.com",
    "|http://localhost:3000|me@example.org|",
    "0123456789abcdef0123456789abcdef",
    "Schlüsselwörter: key=value; Token=Wort",
];

const WORDS: [&str; 40] = [
    "key", "token", "secret", "basic", "bearer", "user", "order", "item", "list", "circle", "loader", "task",
    "risk", "disk", "hub", "file", "download", "customer", "product", "index", "parse", "render", "button",
    "header", "api", "access", "client", "page", "cache", "session", "password", "reset", "auth", "login",
    "value", "count", "primary", "foreign", "model", "prompt",
];
const BEGINNINGS: [&str; 16] = [
    "sk-", "sk_", "pk_", "rk_", "hf_", "gsk_", "xai-", "npm_", "key-", "SK", "cio", "SG.", "pa-", "re_",
    "fw_", "ghp_",
];
/// Sentences in six languages, with placeholders for a word, a number and a URL.
const PROSE: [&str; 18] = [
    "The basic responsibilities of the {w} team changed in {n}, see {u}.",
    "A bearer of this {w} may ask for {n} more; the password is required at login.",
    "Our secret is simple: {w} first, then the token of thanks. More at {u}",
    "Die grundlegenden Aufgaben änderten sich {n}; das Passwort für {w} steht nicht hier: {u}.",
    "Der Schlüssel liegt unter der Matte, {w} Nummer {n}.",
    "Basic war eine Sprache, Visual Basic {n}-2022 auch ({w}).",
    "Les tâches de base de l'équipe {w} ont changé en {n} : voir {u} !",
    "Le jeton d'accès et le mot de passe sont demandés à {w}.",
    "El secreto está en la masa: {w}, {n} veces. Mira {u}",
    "La contraseña es obligatoria para {w}; el token caduca en {n} días.",
    "请访问{u}，然后输入密码：{w}，编号{n}。",
    "基本职责在{n}年发生了变化（{w}）。密钥不在这里：{u}，联系me@example.com",
    "令牌token:{w}，密码password：{n}位",
    "基本的な責任は{n}年に変わりました。{u}を見てください。{w}@本社",
    "パスワードは{w}で必要です（token：{n}個）。",
    "秘密の鍵は{u}にあります:{w}",
    "Key {n}: {w}. Token {n}: {w}. Secret: none, password: none.",
    "{w}: Basic {n}, Bearer {w}, see {u} and mail to {w}@example.org",
];

fn word(random: &mut Rng) -> &'static str {
    WORDS[random.usize(..WORDS.len())]
}

fn of(random: &mut Rng, alphabet: &str, length: usize) -> String {
    let alphabet = alphabet.as_bytes();
    (0..length).map(|_| char::from(alphabet[random.usize(..alphabet.len())])).collect()
}

fn words(random: &mut Rng, separator: &str) -> String {
    let count = random.usize(2..7);
    (0..count).map(|_| word(random)).collect::<Vec<_>>().join(separator)
}

fn camel(random: &mut Rng) -> String {
    let mut name = word(random).to_owned();
    for _ in 0..random.usize(1..5) {
        let next = word(random);
        name += &(next[..1].to_uppercase() + &next[1..]);
    }
    if random.bool() { name + &random.u8(..).to_string() } else { name }
}

fn address(random: &mut Rng) -> String {
    let path = words(random, "/");
    let (host, query, number) = (words(random, "-"), words(random, "&"), random.u32(..));
    match random.u8(..8) {
        0 => format!("https://{host}.example.com/{path}?{query}={number}"),
        1 => format!("http://localhost:{}/{path}", random.u16(1..)),
        2 => format!("https://github.com/{path}/commit/{}", of(random, HEX, 40)),
        3 => format!("git+ssh://git@{host}.example/{path}.git#v{number}"),
        4 => format!("https://user@{host}.example:8443/{path}#{}", camel(random)),
        5 => format!("docker://{host}:{}.{}@sha256:{}", random.u8(..9), random.u8(..), of(random, HEX, 64)),
        6 => format!("https://{host}.example/@{}/{path}:{number}@v2", word(random)),
        _ => format!("https://cdn.example/{}/{path}.min.js?v={}", of(random, ALNUM, 12), of(random, HEX, 8)),
    }
}

fn prose(random: &mut Rng) -> String {
    let sentence = PROSE[random.usize(..PROSE.len())];
    let number = random.u32(1000..10_000).to_string();
    sentence.replace("{w}", word(random)).replace("{n}", &number).replace("{u}", &address(random))
}

fn identifier(random: &mut Rng) -> String {
    let beginning = BEGINNINGS[random.usize(..BEGINNINGS.len())];
    match random.u8(..6) {
        0 => format!("{beginning}{}", words(random, "_")),
        1 => format!("class=\"{beginning}{} {}\"", words(random, "-"), words(random, "__")),
        2 => camel(random),
        3 => format!("let {} = {}({});", words(random, "_"), camel(random), camel(random)),
        4 => format!("{}: {};", words(random, "_"), camel(random)),
        _ => format!("{}_{}", words(random, "_").to_uppercase(), random.u16(..)),
    }
}

fn data(random: &mut Rng) -> String {
    let length = random.usize(8..400);
    let bytes: Vec<u8> = (0..length).map(|_| random.u8(..)).collect();
    match random.u8(..7) {
        0 => STANDARD.encode(&bytes),
        1 => URL_SAFE_NO_PAD.encode(&bytes),
        2 => format!("data:image/png;base64,{}", STANDARD.encode(&bytes)),
        // Base64 of JSON starts like a JWT.
        3 => STANDARD.encode(format!("{{\"{}\":\"{}\"}}", word(random), words(random, " "))),
        4 => format!("sha{}-{}", [256, 384, 512][random.usize(..3)], STANDARD.encode(&bytes)),
        5 => format!("eyJ{}", STANDARD.encode(&bytes)),
        _ => format!("{}.{}.{}", URL_SAFE_NO_PAD.encode(&bytes[..8]), camel(random), word(random)),
    }
}

fn hash(random: &mut Rng) -> String {
    let length = [7, 32, 40, 64, 128][random.usize(..5)];
    match random.u8(..4) {
        0 => of(random, HEX, length),
        1 => [8, 4, 4, 4, 12].map(|length| of(random, HEX, length)).join("-"),
        2 => format!("sha256:{}", of(random, HEX, 64)),
        _ => format!("{} commit {}", word(random), of(random, HEX, length).to_uppercase()),
    }
}

fn structured(random: &mut Rng) -> String {
    let (one, two, three) = (word(random), words(random, " "), camel(random));
    match random.u8(..6) {
        0 => {
            format!("{{\"{one}\": \"{two}\", \"{three}\": {}, \"id\": \"{}\"}}", random.i32(..), hash(random))
        }
        1 => format!(
            "SELECT {three}, {one}_key FROM {one} WHERE {one}_token = '{two}' AND password IS NOT NULL"
        ),
        2 => format!("{one}.{three}@example.com, \"{two}\" <{one}@example.org>"),
        3 => format!("git@example.com:{one}/{three}.git refs/heads/{}", words(random, "-")),
        4 => format!(
            "[{one}]\n{three} = \"{two}\"\nkey = {}\npassword = \"\"\ntoken = \"{one}\"\n",
            random.u32(..)
        ),
        _ => format!("--{one} {three} --token {one} --password-file /run/{one}/{three}"),
    }
}

/// The given number of texts: known ones first, then generated ones.
pub fn texts(count: usize) -> Vec<String> {
    let mut random = Rng::with_seed(13);
    let kinds = [prose, identifier, data, hash, address, structured];
    let mut texts: Vec<_> = SEEN.map(str::to_owned).into();
    texts.extend((texts.len()..count).map(|number| kinds[number % kinds.len()](&mut random)));
    texts
}
