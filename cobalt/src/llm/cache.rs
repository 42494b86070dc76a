//! The response cache on disk: one small file per response, by the key of its request. Several processes may share the folder.
//!
//! A file contains a header line and the response, but neither the question nor an API key. It is written under a temporary
//! name and renamed, so it is complete or absent. An unreadable file counts as missing.

use std::io::Write as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use std::{fs, io};

use cobalt_core::atomic_write::create_private;
use cobalt_core::hash::sha256_hex;
use cobalt_core::prices::Tokens;
use cobalt_core::store::Layout;
use cobalt_core::timestamp::Timestamp;

use super::client::Target;
use super::{CacheSettings, Question};

/// The start of a file: its type, and the version of its format.
const MAGIC: &str = "cobalt-answer 1";
/// How far ahead another machine's clock may be.
const MAX_CLOCK_SKEW: Duration = Duration::from_secs(24 * 3600);

/// The response cache.
#[derive(Debug)]
pub(super) struct Cache {
    layout: Layout,
    ttl: Duration,
    /// Whether the note that caching fails was printed.
    has_warned: AtomicBool,
}

/// A cached response.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct CachedResponse {
    pub(super) content: Vec<u8>,
    /// When it was received.
    pub(super) at: Timestamp,
    /// The tokens that it used; `None` if it was cached by an earlier version.
    pub(super) tokens: Option<Tokens>,
}

impl Cache {
    pub(super) fn new(CacheSettings { layout, ttl }: CacheSettings) -> Self {
        Self { layout, ttl, has_warned: AtomicBool::new(false) }
    }

    /// The response cached under a key, a hash in hexadecimal digits, if it is complete and not expired.
    pub(super) fn get(&self, key: &str) -> Option<CachedResponse> {
        let mut content = fs::read(self.path(key)).ok()?;
        let end = content.iter().position(|byte| *byte == b'\n')?;
        let header: Header = std::str::from_utf8(&content[..end]).ok()?.parse().ok()?;
        content.drain(..=end);
        let at = Timestamp::from(UNIX_EPOCH + Duration::from_millis(header.written));
        let is_valid = header.matches(&content) && self.is_fresh(header.written);
        is_valid.then_some(CachedResponse { content, at, tokens: header.tokens })
    }

    /// Caches a response, with the tokens that it used, under a key. If that fails, it will be requested again; no evaluation fails.
    pub(super) fn put(&self, key: &str, content: &[u8], tokens: Tokens) {
        let kept = self.write(key, content, tokens).or_else(|error| match error.kind() {
            // The folder is created only if it is missing.
            io::ErrorKind::NotFound => self.make_folder(key).and_then(|()| self.write(key, content, tokens)),
            _ => Err(error),
        });
        if let Err(error) = kept
            && !self.has_warned.swap(true, Ordering::Relaxed)
        {
            let folder = self.layout.cache().display();
            eprintln!(
                "note: cannot cache model responses in `{folder}` ({error}), so they will be requested again; set \
                COBALT_CACHE_DIR to another folder, or COBALT_CACHE=0 to disable the cache"
            );
        }
    }

    fn path(&self, key: &str) -> PathBuf {
        self.layout.cached_response(key)
    }

    fn make_folder(&self, key: &str) -> io::Result<()> {
        match self.path(key).parent() {
            Some(folder) => self.layout.create_folder(folder),
            None => Ok(()),
        }
    }

    fn write(&self, key: &str, content: &[u8], tokens: Tokens) -> io::Result<()> {
        let path = self.path(key);
        let (written, length) = (millis(now()), content.len());
        let header = Header { written, length, sum: checksum(content), tokens: Some(tokens) };
        let mut whole = format!("{header}\n").into_bytes();
        whole.extend_from_slice(content);
        // Another process, possibly on another machine, may cache the same response at the same time.
        let temporary = path.with_extension(format!("{:016x}", fastrand::u64(..)));
        let written = create_private(&temporary).and_then(|mut file| file.write_all(&whole));
        written.and_then(|()| fs::rename(&temporary, &path)).inspect_err(|_| {
            let _ = fs::remove_file(&temporary);
        })
    }

    fn is_fresh(&self, written: u64) -> bool {
        let (now, written) = (now(), Duration::from_millis(written));
        written <= now.saturating_add(MAX_CLOCK_SKEW) && now.saturating_sub(written) <= self.ttl
    }
}

/// The header line of a file.
struct Header {
    /// In milliseconds since 1970.
    written: u64,
    length: usize,
    sum: u64,
    /// Absent in files of earlier versions, which ignore it.
    tokens: Option<Tokens>,
}

impl Header {
    fn matches(&self, content: &[u8]) -> bool {
        self.length == content.len() && self.sum == checksum(content)
    }
}

impl std::fmt::Display for Header {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{MAGIC} {} {} {:016x}", self.written, self.length, self.sum)?;
        match self.tokens {
            Some(Tokens { input, output, cached_input }) => write!(f, " {input} {output} {cached_input}"),
            None => Ok(()),
        }
    }
}

impl std::str::FromStr for Header {
    type Err = ();

    fn from_str(line: &str) -> Result<Self, ()> {
        let mut parts = line.strip_prefix(MAGIC).ok_or(())?.split_ascii_whitespace();
        let mut next = || parts.next().ok_or(());
        let (written, length, sum) = (next()?, next()?, next()?);
        let counts: Option<Vec<u64>> = parts.map(|count| count.parse().ok()).collect();
        let tokens = match counts.as_deref() {
            Some(&[input, output, cached_input]) => Some(Tokens { input, output, cached_input }),
            _ => None,
        };
        Ok(Self {
            written: written.parse().map_err(drop)?,
            length: length.parse().map_err(drop)?,
            sum: u64::from_str_radix(sum, 16).map_err(drop)?,
            tokens,
        })
    }
}

/// The FNV-1a hash, which detects a file that was truncated or filled with zeros by a crash.
fn checksum(content: &[u8]) -> u64 {
    content
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |sum, byte| (sum ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

fn now() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// Incremented when the same request would be answered differently, for example after a change of our instructions.
const VERSION: &str = "1";

/// The cache key of a question to a model.
pub fn question_key(target: &Target, question: &Question) -> String {
    let Question { system, prompt, schema, repetition: which, is_shared: _ } = question;
    // Independent of the order of its keys.
    let mut written = schema.schema.clone();
    written.sort_all_objects();
    let parts =
        [schema.name.to_owned(), written.to_string(), system.clone(), prompt.clone(), which.to_string()];
    key_of_parts("question", target, parts)
}

/// The key of a question in recordings: without the model, which may not be known when it is replayed.
pub fn recorded_question_key(question: &Question, temperature: Option<f64>) -> String {
    let Question { system, prompt, schema, repetition: which, is_shared: _ } = question;
    let mut written = schema.schema.clone();
    written.sort_all_objects();
    let temperature = temperature.map(|temperature| temperature.to_string()).unwrap_or_default();
    let parts = [
        "question",
        VERSION,
        schema.name,
        &written.to_string(),
        system,
        prompt,
        &which.to_string(),
        &temperature,
    ];
    sha256_hex(&parts)
}

/// The key of a text in recordings, for embedding or moderation.
pub fn recorded_text_key(what: &str, text: &str) -> String {
    sha256_hex(&[what, VERSION, text])
}

/// The cache key of a text, for embedding or moderation.
pub fn text_key(what: &str, target: &Target, text: &str) -> String {
    key_of_parts(what, target, [text.to_owned()])
}

/// The API key is not included: the answer does not depend on it.
fn key_of_parts<const N: usize>(what: &str, target: &Target, parts: [String; N]) -> String {
    let Target { provider, model, base_url, api_key: _, temperature } = target;
    let temperature = temperature.map(|temperature| temperature.to_string()).unwrap_or_default();
    let target = [what, VERSION, provider.name(), model, base_url, &temperature].map(str::to_owned);
    sha256_hex(&[&target[..], &parts].concat())
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::thread;

    use cobalt_core::hash::sha256_hex;
    use tempfile::TempDir;

    use super::*;

    fn cache(folder: &TempDir) -> Cache {
        Cache::new(CacheSettings { layout: layout(folder.path()), ttl: Duration::from_secs(60) })
    }

    fn layout(folder: &Path) -> Layout {
        let root = folder.join(".cobalt");
        let [results, history, cache] = ["results", "history.db", "cache"].map(|name| root.join(name));
        Layout::new(root, results, history, cache)
    }

    fn key(text: &str) -> String {
        sha256_hex(&[text.to_owned()])
    }

    #[test]
    fn an_answer_is_found_by_its_key_in_another_process_too() {
        let folder = tempfile::tempdir().unwrap();
        let (one, other) = (cache(&folder), cache(&folder));
        assert_eq!(one.get(&key("a")), None);
        for content in [&b""[..], b"two\nlines\n", &[0, 255, 10, 13]] {
            let tokens = Tokens { input: 7, output: content.len() as u64, cached_input: 3 };
            one.put(&key("a"), content, tokens);
            let found = other.get(&key("a")).unwrap();
            assert_eq!((&found.content[..], found.tokens), (content, Some(tokens)));
            assert!(millis(now()) - millis(found.at.time().duration_since(UNIX_EPOCH).unwrap()) < 50_000);
        }
        assert_eq!(other.get(&key("b")), None);
    }

    #[test]
    fn a_new_folder_is_not_kept_by_git() {
        let folder = tempfile::tempdir().unwrap();
        cache(&folder).put(&key("a"), b"x", Tokens::default());
        let ignored = fs::read_to_string(folder.path().join(".cobalt/.gitignore")).unwrap();
        assert!(ignored.lines().any(|line| line == "cache/"), "{ignored}");
    }

    #[test]
    fn what_is_too_old_or_from_the_future_counts_as_missing() {
        let folder = tempfile::tempdir().unwrap();
        let cache = cache(&folder);
        cache.put(&key("a"), b"x", Tokens::default());
        let path = cache.path(&key("a"));
        let now = millis(now());
        for (written, found) in
            [(now, true), (now - 50_000, true), (now - 70_000, false), (now + 90_000_000, false)]
        {
            // Earlier versions wrote no tokens.
            let header = Header { written, length: 1, sum: checksum(b"x"), tokens: None };
            fs::write(&path, format!("{header}\nx")).unwrap();
            let cached = cache.get(&key("a"));
            assert_eq!(
                cached.as_ref().is_some_and(|cached| cached.tokens.is_none()),
                found,
                "{written} at {now}"
            );
            assert_eq!(cached.is_some(), found);
        }
    }

    #[test]
    fn what_is_torn_or_of_another_version_counts_as_missing_and_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let cache = cache(&folder);
        cache.put(&key("a"), b"some answer", Tokens::default());
        let path = cache.path(&key("a"));
        let whole = fs::read(&path).unwrap();
        let mut zeros = whole.clone();
        let length = zeros.len();
        zeros[length - 4..].fill(0);
        let later =
            String::from_utf8_lossy(&whole).replace("cobalt-answer 1", "cobalt-answer 12").into_bytes();
        let most = whole[..length - 1].to_vec();
        for broken in [Vec::new(), most, zeros, later, b"\n".to_vec(), vec![0xff; 64], b"{}".to_vec()] {
            fs::write(&path, &broken).unwrap();
            assert_eq!(cache.get(&key("a")), None, "{}", String::from_utf8_lossy(&broken));
        }
        cache.put(&key("a"), b"another", Tokens::default());
        assert_eq!(cache.get(&key("a")).unwrap().content, b"another");
    }

    #[test]
    fn a_folder_that_cannot_be_written_fails_nothing() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join(".cobalt")).unwrap();
        fs::write(folder.path().join(".cobalt/cache"), "a file").unwrap();
        let cache = cache(&folder);
        cache.put(&key("a"), b"x", Tokens::default());
        assert_eq!(cache.get(&key("a")), None);
        assert!(cache.has_warned.load(Ordering::Relaxed), "the warning was printed");
    }

    #[test]
    fn many_writers_of_the_same_answers_lose_none_and_leave_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        thread::scope(|scope| {
            for writer in 0..8 {
                let cache = cache(&folder);
                scope.spawn(move || {
                    for number in 0..50 {
                        // Half of the keys are shared by all writers.
                        let name =
                            if number % 2 == 0 { format!("{number}") } else { format!("{writer} {number}") };
                        cache.put(&key(&name), name.as_bytes(), Tokens::default());
                        assert_eq!(cache.get(&key(&name)).unwrap().content, name.as_bytes());
                    }
                });
            }
        });
        let files =
            |path: &Path| fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect::<Vec<_>>();
        let entries: usize =
            files(&folder.path().join(".cobalt/cache")).iter().map(|path| files(path).len()).sum();
        assert_eq!(entries, 25 + 8 * 25);
    }
}
