//! The formats of keys: prefix, alphabet and length.
//!
//! From vendor documentation and the rules of gitleaks. A format is listed only if its prefix, length and randomness together are
//! unambiguous.

/// The characters of a key, as a set of the groups below.
pub type Alphabet = u16;

pub const DIGIT: Alphabet = 1;
pub const LOWER_HEX: Alphabet = 2;
pub const LOWER_REST: Alphabet = 4;
pub const UPPER: Alphabet = 8;
pub const UNDERSCORE: Alphabet = 16;
pub const DASH: Alphabet = 32;
pub const DOT: Alphabet = 64;
pub const PLUS_SLASH: Alphabet = 128;
pub const EQUALS: Alphabet = 256;
pub const TILDE: Alphabet = 512;
const DOLLAR: Alphabet = 1024;

pub const HEX: Alphabet = DIGIT | LOWER_HEX;
const LOWER: Alphabet = LOWER_HEX | LOWER_REST;
const CAPITALS: Alphabet = DIGIT | UPPER;
pub const ALNUM: Alphabet = DIGIT | LOWER | UPPER;
/// Letters, digits and `_`.
pub const WORD: Alphabet = ALNUM | UNDERSCORE;
/// The alphabet of URL-safe base64.
pub const URL_SAFE: Alphabet = WORD | DASH;
pub const BASE64: Alphabet = ALNUM | PLUS_SLASH | EQUALS;

/// The groups of each byte.
static GROUPS: [Alphabet; 256] = groups();

const fn groups() -> [Alphabet; 256] {
    let mut groups = [0; 256];
    let mut byte = 0;
    while byte < 128 {
        groups[byte] = match byte as u8 {
            b'0'..=b'9' => DIGIT,
            b'a'..=b'f' => LOWER_HEX,
            b'g'..=b'z' => LOWER_REST,
            b'A'..=b'Z' => UPPER,
            b'_' => UNDERSCORE,
            b'-' => DASH,
            b'.' => DOT,
            b'+' | b'/' => PLUS_SLASH,
            b'=' => EQUALS,
            b'~' => TILDE,
            b'$' => DOLLAR,
            _ => 0,
        };
        byte += 1;
    }
    groups
}

/// Whether a byte belongs to an alphabet.
pub fn is_of(byte: u8, alphabet: Alphabet) -> bool {
    GROUPS[usize::from(byte)] & alphabet != 0
}

/// A check of the characters after a prefix, besides their alphabet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Check {
    /// At least this many bits of entropy per character.
    Entropy(f64),
    /// Random characters, not a name.
    Random,
    /// Digits and letters, not mostly words: for prefixes that few texts have.
    Mixed,
    /// Random, or with OpenAI's marker in the middle.
    OpenAi,
    /// A UUID.
    Uuid,
}

/// The format of a key.
#[derive(Clone, Copy, Debug)]
pub struct KeyFormat {
    /// The name used in the redaction mark.
    pub(super) id: &'static str,
    pub(super) prefix: &'static str,
    pub(super) alphabet: Alphabet,
    /// The minimum and maximum number of characters after the prefix.
    pub(super) length: (usize, usize),
    pub(super) check: Check,
}

const fn form(
    id: &'static str,
    prefix: &'static str,
    alphabet: Alphabet,
    length: (usize, usize),
    check: Check,
) -> KeyFormat {
    KeyFormat { id, prefix, alphabet, length, check }
}

/// The entropy of 16 or more random characters of most alphabets.
const MIN_ENTROPY: Check = Check::Entropy(3.0);
/// The entropy of random hexadecimal digits.
const MIN_HEX_ENTROPY: Check = Check::Entropy(2.5);

/// All formats recognized by their prefix.
pub const KEY_FORMATS: &[KeyFormat] = &[
    // Models.
    form("openai-key", "sk-", ALNUM, (24, 64), Check::OpenAi),
    form("openai-key", "sk-proj-", URL_SAFE, (20, 220), Check::OpenAi),
    form("openai-key", "sk-svcacct-", URL_SAFE, (20, 220), Check::OpenAi),
    form("openai-key", "sk-admin-", URL_SAFE, (20, 220), Check::OpenAi),
    form("openai-key", "sk-None-", URL_SAFE, (20, 220), Check::OpenAi),
    form("anthropic-key", "sk-ant-", URL_SAFE, (32, 220), Check::Random),
    form("openrouter-key", "sk-or-v1-", HEX, (48, 80), MIN_HEX_ENTROPY),
    form("langfuse-key", "sk-lf-", HEX | DASH, (36, 36), Check::Uuid),
    form("langfuse-key", "pk-lf-", HEX | DASH, (36, 36), Check::Uuid),
    form("helicone-key", "sk-helicone-", URL_SAFE, (20, 80), Check::Random),
    form("groq-key", "gsk_", ALNUM, (40, 64), MIN_ENTROPY),
    form("xai-key", "xai-", ALNUM, (60, 100), MIN_ENTROPY),
    form("perplexity-key", "pplx-", ALNUM, (40, 64), MIN_ENTROPY),
    form("together-key", "tgp_v1_", URL_SAFE, (40, 60), Check::Random),
    form("firecrawl-key", "fc-", HEX, (32, 32), MIN_HEX_ENTROPY),
    form("fireworks-key", "fw_", ALNUM, (22, 32), Check::Random),
    form("cerebras-key", "csk-", ALNUM, (40, 64), MIN_ENTROPY),
    form("replicate-key", "r8_", ALNUM, (36, 40), MIN_ENTROPY),
    form("nvidia-key", "nvapi-", URL_SAFE, (50, 80), MIN_ENTROPY),
    form("tavily-key", "tvly-", URL_SAFE, (24, 60), Check::Random),
    form("jina-key", "jina_", URL_SAFE, (40, 80), Check::Random),
    form("pinecone-key", "pcsk_", WORD, (40, 100), MIN_ENTROPY),
    form("voyage-key", "pa-", URL_SAFE, (40, 50), Check::Random),
    form("elevenlabs-key", "sk_", HEX, (48, 48), MIN_HEX_ENTROPY),
    form("runpod-key", "rpa_", ALNUM, (40, 60), MIN_ENTROPY),
    form("e2b-key", "e2b_", HEX, (40, 40), MIN_HEX_ENTROPY),
    form("langsmith-key", "lsv2_pt_", HEX | UNDERSCORE, (32, 60), MIN_HEX_ENTROPY),
    form("langsmith-key", "lsv2_sk_", HEX | UNDERSCORE, (32, 60), MIN_HEX_ENTROPY),
    form("langsmith-key", "ls__", HEX, (32, 32), MIN_HEX_ENTROPY),
    form("huggingface-token", "hf_", ALNUM, (34, 40), Check::Entropy(4.1)),
    form("huggingface-token", "api_org_", ALNUM, (34, 34), Check::Random),
    // Google.
    form("google-api-key", "AIza", URL_SAFE, (35, 35), MIN_ENTROPY),
    form("google-api-key", "AQ.Ab", URL_SAFE, (40, 80), Check::Random),
    form("google-oauth-token", "ya29.", URL_SAFE | DOT, (30, 1024), MIN_ENTROPY),
    form("google-oauth-token", "1//0", URL_SAFE, (40, 200), Check::Random),
    form("google-client-secret", "GOCSPX-", URL_SAFE, (24, 32), MIN_ENTROPY),
    form("firebase-key", "APA91b", URL_SAFE, (120, 180), Check::Mixed),
    // Amazon, Microsoft and other clouds. Secret keys without a prefix are recognized by the name before them.
    form("aws-access-key", "AKIA", CAPITALS, (16, 16), MIN_ENTROPY),
    form("aws-access-key", "ASIA", CAPITALS, (16, 16), MIN_ENTROPY),
    form("aws-access-key", "ABIA", CAPITALS, (16, 16), MIN_ENTROPY),
    form("aws-access-key", "ACCA", CAPITALS, (16, 16), MIN_ENTROPY),
    form("aws-bedrock-key", "ABSK", BASE64, (100, 280), MIN_ENTROPY),
    form("aws-bedrock-key", "bedrock-api-key-", BASE64, (60, 2000), MIN_ENTROPY),
    form("aws-session-token", "IQoJb3JpZ2luX2Vj", BASE64, (60, 2000), MIN_ENTROPY),
    form("aws-session-token", "FwoGZXIvYXdzE", BASE64, (60, 2000), MIN_ENTROPY),
    form("alibaba-access-key", "LTAI", ALNUM, (12, 24), Check::Random),
    form("tencent-secret-id", "AKID", ALNUM, (32, 36), Check::Random),
    form("yandex-key", "AQVN", URL_SAFE, (35, 38), Check::Random),
    form("yandex-token", "t1.", URL_SAFE | DOT | EQUALS, (120, 400), Check::Mixed),
    form("digitalocean-token", "dop_v1_", HEX, (64, 64), MIN_HEX_ENTROPY),
    form("digitalocean-token", "doo_v1_", HEX, (64, 64), MIN_HEX_ENTROPY),
    form("digitalocean-token", "dor_v1_", HEX, (64, 64), MIN_HEX_ENTROPY),
    form("databricks-token", "dapi", HEX | DASH, (32, 34), MIN_HEX_ENTROPY),
    form("heroku-key", "HRKU-", URL_SAFE, (36, 80), Check::Random),
    form("render-key", "rnd_", ALNUM, (28, 40), Check::Mixed),
    form("vercel-token", "vcp_", ALNUM, (40, 64), Check::Mixed),
    form("vercel-token", "vca_", ALNUM, (40, 64), Check::Mixed),
    form("vercel-token", "vci_", ALNUM, (40, 64), Check::Mixed),
    form("vercel-token", "vcr_", ALNUM, (40, 64), Check::Mixed),
    form("vercel-token", "vck_", ALNUM, (40, 64), Check::Mixed),
    form("scalingo-token", "tk-us-", URL_SAFE, (48, 48), Check::Mixed),
    form("fly-token", "fo1_", URL_SAFE, (40, 60), Check::Random),
    form("fly-token", "fm2_", BASE64, (100, 2000), MIN_ENTROPY),
    form("fly-token", "fm1a_", BASE64, (100, 2000), MIN_ENTROPY),
    form("fly-token", "fm1r_", BASE64, (100, 2000), MIN_ENTROPY),
    form("netlify-token", "nfp_", ALNUM, (36, 60), MIN_ENTROPY),
    form("cloudflare-key", "v1.0-", HEX | DASH, (171, 171), MIN_HEX_ENTROPY),
    form("supabase-key", "sbp_", HEX, (40, 40), MIN_HEX_ENTROPY),
    form("supabase-key", "sb_secret_", URL_SAFE, (20, 60), Check::Random),
    form("planetscale-token", "pscale_tkn_", URL_SAFE | DOT, (32, 64), Check::Random),
    form("planetscale-token", "pscale_oauth_", URL_SAFE | DOT, (32, 64), Check::Random),
    form("planetscale-token", "pscale_pw_", URL_SAFE | DOT, (32, 64), Check::Random),
    form("neon-key", "napi_", ALNUM, (40, 80), MIN_ENTROPY),
    form("mongodb-secret", "mdb_sa_sk_", URL_SAFE, (36, 60), Check::Mixed),
    form("elastic-key", "essu_", BASE64 | UNDERSCORE, (60, 200), Check::Mixed),
    form("dbt-token", "dbtc_", URL_SAFE, (36, 60), Check::Mixed),
    form("dbt-token", "dbtu_", URL_SAFE, (36, 60), Check::Mixed),
    form("pulumi-token", "pul-", HEX, (40, 40), MIN_HEX_ENTROPY),
    form("vault-token", "hvs.", URL_SAFE, (24, 200), Check::Random),
    form("vault-token", "hvb.", URL_SAFE, (100, 400), MIN_ENTROPY),
    form("vault-token", "hvr.", URL_SAFE, (24, 400), Check::Random),
    form("vault-token", "s.", ALNUM, (24, 24), Check::Random),
    form("doppler-token", "dp.pt.", ALNUM, (40, 48), MIN_ENTROPY),
    form("doppler-token", "dp.st.", URL_SAFE | DOT, (40, 80), Check::Random),
    form("doppler-token", "dp.ct.", ALNUM, (40, 48), MIN_ENTROPY),
    form("doppler-token", "dp.sa.", ALNUM, (40, 48), MIN_ENTROPY),
    form("doppler-token", "dp.scim.", ALNUM, (40, 48), MIN_ENTROPY),
    form("doppler-token", "dp.audit.", ALNUM, (40, 48), MIN_ENTROPY),
    form("openshift-token", "sha256~", URL_SAFE, (43, 43), Check::Random),
    form("age-key", "AGE-SECRET-KEY-1", CAPITALS, (58, 58), MIN_ENTROPY),
    form("1password-token", "ops_eyJ", BASE64, (240, 4000), MIN_ENTROPY),
    form("1password-key", "A3-", CAPITALS | DASH, (35, 36), Check::Mixed),
    // Source code and packages.
    form("github-token", "ghp_", ALNUM, (36, 255), MIN_ENTROPY),
    form("github-token", "gho_", ALNUM, (36, 255), MIN_ENTROPY),
    form("github-token", "ghu_", ALNUM, (36, 255), MIN_ENTROPY),
    form("github-token", "ghs_", ALNUM, (36, 255), MIN_ENTROPY),
    form("github-token", "ghr_", ALNUM, (36, 255), MIN_ENTROPY),
    form("github-token", "github_pat_", WORD, (50, 255), Check::Random),
    form("gitlab-token", "glpat-", URL_SAFE | DOT, (20, 320), MIN_ENTROPY),
    form("gitlab-token", "gldt-", URL_SAFE, (20, 64), Check::Random),
    form("gitlab-token", "glft-", URL_SAFE, (20, 64), Check::Random),
    form("gitlab-token", "glrt-", URL_SAFE | DOT, (20, 320), Check::Random),
    form("gitlab-token", "glptt-", HEX, (40, 40), MIN_HEX_ENTROPY),
    form("gitlab-token", "glcbt-", URL_SAFE, (20, 64), Check::Random),
    form("gitlab-token", "gloas-", URL_SAFE, (64, 64), MIN_ENTROPY),
    form("gitlab-token", "glsoat-", URL_SAFE, (20, 64), Check::Random),
    form("gitlab-token", "glimt-", URL_SAFE, (25, 64), Check::Random),
    form("gitlab-token", "glagent-", URL_SAFE, (50, 64), MIN_ENTROPY),
    form("gitlab-token", "glffct-", URL_SAFE, (20, 64), Check::Random),
    form("gitlab-token", "GR1348941", URL_SAFE, (20, 20), MIN_ENTROPY),
    form("bitbucket-token", "ATCTT3", URL_SAFE | EQUALS, (100, 260), MIN_ENTROPY),
    form("atlassian-token", "ATATT3", URL_SAFE | EQUALS, (100, 260), MIN_ENTROPY),
    form("bitbucket-token", "ATBB", ALNUM, (32, 36), Check::Mixed),
    form("trello-token", "ATTA", HEX | UPPER, (64, 80), MIN_HEX_ENTROPY),
    form("npm-token", "npm_", ALNUM, (36, 36), MIN_ENTROPY),
    form("pypi-token", "pypi-AgE", URL_SAFE, (50, 1000), MIN_ENTROPY),
    form("crates-io-token", "cio", ALNUM, (32, 32), Check::Random),
    form("rubygems-token", "rubygems_", HEX, (48, 48), MIN_HEX_ENTROPY),
    form("clojars-token", "CLOJARS_", HEX | LOWER, (60, 60), MIN_ENTROPY),
    form("nuget-key", "oy2", DIGIT | LOWER, (43, 43), Check::Random),
    form("docker-token", "dckr_pat_", URL_SAFE, (24, 40), Check::Random),
    form("docker-token", "dckr_oat_", URL_SAFE, (24, 40), Check::Random),
    form("artifactory-key", "AKCp", ALNUM, (69, 69), MIN_ENTROPY),
    form("artifactory-token", "cmVmdGtu", BASE64, (50, 60), MIN_ENTROPY),
    form("sourcegraph-token", "sgp_", HEX | UNDERSCORE, (40, 60), MIN_HEX_ENTROPY),
    form("circleci-token", "CCIPAT_", WORD, (50, 80), Check::Mixed),
    form("circleci-token", "CCIPRJ_", WORD, (50, 80), Check::Mixed),
    form("buildkite-token", "bkua_", HEX, (40, 40), MIN_HEX_ENTROPY),
    form("sonar-token", "squ_", HEX, (40, 40), MIN_HEX_ENTROPY),
    form("sonar-token", "sqp_", HEX, (40, 40), MIN_HEX_ENTROPY),
    form("sonar-token", "sqa_", HEX, (40, 40), MIN_HEX_ENTROPY),
    form("snyk-token", "snyk_uat.", URL_SAFE | DOT, (40, 80), Check::Mixed),
    form("snyk-token", "snyk_sat.", URL_SAFE | DOT, (40, 80), Check::Mixed),
    // Messages and mail.
    form("slack-token", "xoxb-", ALNUM | DASH, (16, 260), Check::Mixed),
    form("slack-token", "xoxp-", ALNUM | DASH, (16, 260), Check::Mixed),
    form("slack-token", "xoxa-", ALNUM | DASH, (16, 260), Check::Mixed),
    form("slack-token", "xoxr-", ALNUM | DASH, (16, 260), Check::Mixed),
    form("slack-token", "xoxs-", ALNUM | DASH, (16, 260), Check::Mixed),
    form("slack-token", "xoxo-", ALNUM | DASH, (16, 260), Check::Mixed),
    form("slack-token", "xoxc-", ALNUM | DASH, (16, 260), Check::Mixed),
    form("slack-token", "xoxe-", ALNUM | DASH, (16, 260), Check::Mixed),
    form("slack-token", "xapp-", ALNUM | DASH, (20, 260), Check::Mixed),
    form("sendgrid-key", "SG.", URL_SAFE | DOT, (60, 72), Check::Random),
    form("brevo-key", "xkeysib-", HEX | DASH | LOWER, (81, 81), MIN_HEX_ENTROPY),
    form("brevo-key", "xsmtpsib-", ALNUM | DASH, (81, 81), MIN_HEX_ENTROPY),
    form("mandrill-key", "md-", URL_SAFE, (22, 22), Check::Random),
    form("mailgun-key", "key-", HEX, (32, 32), MIN_HEX_ENTROPY),
    form("twilio-key", "SK", HEX, (32, 32), MIN_HEX_ENTROPY),
    form("resend-key", "re_", WORD, (24, 48), Check::Random),
    // Payments and shops.
    form("stripe-key", "sk_live_", ALNUM, (16, 250), Check::Random),
    form("stripe-key", "sk_test_", ALNUM, (16, 250), Check::Random),
    form("stripe-key", "sk_prod_", ALNUM, (16, 250), Check::Random),
    form("stripe-key", "sk_org_live_", ALNUM, (16, 250), Check::Random),
    form("stripe-key", "sk_org_test_", ALNUM, (16, 250), Check::Random),
    form("stripe-key", "rk_live_", ALNUM, (16, 250), Check::Random),
    form("stripe-key", "rk_test_", ALNUM, (16, 250), Check::Random),
    form("stripe-key", "rk_prod_", ALNUM, (16, 250), Check::Random),
    form("webhook-secret", "whsec_", BASE64, (24, 100), Check::Random),
    form("shopify-token", "shpat_", HEX | UPPER, (32, 32), MIN_HEX_ENTROPY),
    form("shopify-token", "shpca_", HEX | UPPER, (32, 32), MIN_HEX_ENTROPY),
    form("shopify-token", "shppa_", HEX | UPPER, (32, 32), MIN_HEX_ENTROPY),
    form("shopify-token", "shpss_", HEX | UPPER, (32, 32), MIN_HEX_ENTROPY),
    form("square-token", "sq0atp-", URL_SAFE, (22, 60), Check::Random),
    form("square-token", "sq0csp-", URL_SAFE, (40, 60), Check::Random),
    form("square-token", "EAAA", URL_SAFE, (40, 60), Check::Mixed),
    form("plaid-token", "access-sandbox-", HEX | DASH, (36, 36), Check::Uuid),
    form("plaid-token", "access-development-", HEX | DASH, (36, 36), Check::Uuid),
    form("plaid-token", "access-production-", HEX | DASH, (36, 36), Check::Uuid),
    form("flutterwave-key", "FLWSECK_TEST-", ALNUM | DASH, (12, 40), MIN_HEX_ENTROPY),
    form("flutterwave-key", "FLWSECK-", ALNUM | DASH, (30, 60), MIN_HEX_ENTROPY),
    form("braintree-token", "access_token$production$", DIGIT | LOWER | DOLLAR, (49, 49), MIN_ENTROPY),
    form("braintree-token", "access_token$sandbox$", DIGIT | LOWER | DOLLAR, (49, 49), MIN_ENTROPY),
    form("easypost-key", "EZAK", ALNUM, (54, 54), MIN_ENTROPY),
    form("easypost-key", "EZTK", ALNUM, (54, 54), MIN_ENTROPY),
    form("shippo-token", "shippo_live_", HEX, (40, 40), MIN_HEX_ENTROPY),
    form("shippo-token", "shippo_test_", HEX, (40, 40), MIN_HEX_ENTROPY),
    form("duffel-token", "duffel_live_", URL_SAFE, (43, 43), MIN_ENTROPY),
    form("duffel-token", "duffel_test_", URL_SAFE, (43, 43), MIN_ENTROPY),
    // Monitoring and project management.
    form("grafana-token", "glsa_", ALNUM | UNDERSCORE, (41, 41), MIN_ENTROPY),
    form("grafana-token", "glc_", BASE64, (32, 400), Check::Random),
    form("grafana-token", "eyJrIjoi", BASE64, (60, 400), MIN_ENTROPY),
    form("sentry-token", "sntrys_", BASE64 | UNDERSCORE, (60, 500), MIN_ENTROPY),
    form("sentry-token", "sntryu_", HEX, (64, 64), MIN_HEX_ENTROPY),
    form("newrelic-key", "NRAK-", CAPITALS, (27, 27), MIN_ENTROPY),
    form("newrelic-key", "NRII-", URL_SAFE, (32, 32), Check::Mixed),
    form("honeycomb-key", "hcaik_", DIGIT | LOWER, (50, 70), Check::Mixed),
    form("dynatrace-token", "dt0c01.", CAPITALS | DOT, (80, 96), MIN_ENTROPY),
    form("posthog-key", "phx_", ALNUM, (40, 60), MIN_ENTROPY),
    form("linear-key", "lin_api_", ALNUM, (40, 40), MIN_ENTROPY),
    form("linear-key", "lin_oauth_", HEX, (64, 64), MIN_HEX_ENTROPY),
    form("notion-token", "ntn_", ALNUM, (40, 50), MIN_ENTROPY),
    form("notion-token", "secret_", ALNUM, (43, 43), Check::Random),
    form("airtable-token", "pat", ALNUM | DOT, (79, 79), Check::Random),
    form("hubspot-token", "pat-na1-", HEX | DASH, (36, 36), Check::Uuid),
    form("hubspot-token", "pat-eu1-", HEX | DASH, (36, 36), Check::Uuid),
    form("clickup-token", "pk_", DIGIT | UPPER | UNDERSCORE, (38, 48), Check::Random),
    form("postman-key", "PMAK-", HEX | DASH, (59, 59), MIN_HEX_ENTROPY),
    form("prefect-key", "pnu_", ALNUM, (36, 36), MIN_ENTROPY),
    form("figma-token", "figd_", URL_SAFE, (36, 60), Check::Mixed),
    form("mapbox-token", "sk.eyJ", URL_SAFE | DOT, (60, 400), MIN_ENTROPY),
    form("dropbox-token", "sl.", URL_SAFE | DOT, (100, 1500), Check::Mixed),
    form("frameio-token", "fio-u-", URL_SAFE | EQUALS, (64, 64), Check::Mixed),
    form("typeform-token", "tfp_", URL_SAFE | DOT, (40, 80), Check::Random),
    form("readme-key", "rdme_", DIGIT | LOWER, (70, 70), MIN_ENTROPY),
    form("contentful-token", "CFPAT-", URL_SAFE, (43, 43), Check::Random),
    form("facebook-token", "EAA", ALNUM, (100, 400), MIN_ENTROPY),
    form("infracost-key", "ico-", ALNUM, (32, 32), Check::Random),
    form("octopus-key", "API-", CAPITALS, (26, 26), Check::Random),
    form("adobe-secret", "p8e-", DIGIT | LOWER, (32, 32), Check::Random),
];
