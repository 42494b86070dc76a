//! Compressed files: every member and frame, and corrupt, truncated or oversized ones.

use std::fs;

use crate::dataset::{FormatHints, read};

/// JSONL with this number of items.
fn lines(count: usize) -> String {
    (0..count).map(|n| format!("{{\"id\": {n}, \"input\": \"{}\"}}\n", n * 7919 % 1000)).collect()
}

/// The number of items of a file with this content, or the error.
fn load(name: &str, content: &[u8], max_bytes: Option<u64>) -> Result<usize, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, content).unwrap();
    let told = FormatHints { max_bytes, ..FormatHints::by_name(name) };
    read(&path, name, &told).map(|items| items.len()).map_err(|error| error.to_string())
}

#[cfg(not(feature = "remote"))]
#[test]
fn without_the_feature_the_error_names_it() {
    for (name, content) in [("a.jsonl.gz", b"\x1f\x8b\x08\0"), ("a.jsonl.zst", b"\x28\xb5\x2f\xfd")] {
        let error = load(name, content, None).unwrap_err();
        assert!(error.starts_with(&format!("{name}: gzip and zstd files need the feature `remote`")));
    }
    assert_eq!(load("a.jsonl", lines(2).as_bytes(), None), Ok(2));
}

#[cfg(feature = "remote")]
mod unpacked {
    use std::io::Write;

    use flate2::write::GzEncoder;
    use proptest::prelude::*;
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};

    use super::*;

    fn gzip(text: &str) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    }

    fn zstd(text: &str) -> Vec<u8> {
        compress_to_vec(text.as_bytes(), CompressionLevel::Fastest)
    }

    #[test]
    fn the_format_below_is_told_by_the_name_without_the_last_extension_or_by_content() {
        for (name, text) in [
            ("a.jsonl.gz", "{\"a\": 1}\n"),
            ("a.csv.gz", "a\n1\n"),
            ("a.tsv.GZ", "a\tb,c\n1\t2\n"),
            ("a.json", "[{}]"),
            ("export", "\n[{}]"),
        ] {
            assert_eq!(load(name, &gzip(text), None), Ok(1), "{name}");
            assert_eq!(load(&name.replace("gz", "zst"), &zstd(text), None), Ok(1), "{name}");
        }
    }

    #[test]
    fn a_file_that_was_unpacked_on_its_way_is_read_as_it_is() {
        assert_eq!(load("a.jsonl.gz", lines(3).as_bytes(), None), Ok(3));
    }

    #[test]
    fn all_members_and_frames_are_read() {
        let text = lines(50_000);
        let (first, second) = text.split_at(text.len() / 2);
        assert_eq!(load("a.jsonl.gz", &[gzip(first), gzip(""), gzip(second)].concat(), None), Ok(50_000));

        let skipped = [&[0x53, 0x2a, 0x4d, 0x18, 3, 0, 0, 0][..], b"abc"].concat();
        let frames = [skipped.clone(), zstd(first), skipped, zstd(""), zstd(second)].concat();
        assert_eq!(load("a.jsonl.zst", &frames, None), Ok(50_000));
    }

    #[test]
    fn a_stream_that_is_cut_off_is_refused_wherever_that_is() {
        let text = lines(20_000);
        for (name, packed) in [("a.jsonl.gz", gzip(&text)), ("a.jsonl.zst", zstd(&text))] {
            let kind = if name.ends_with("gz") { "gzip" } else { "zstd" };
            for kept in [4, 10, 100, packed.len() / 2, packed.len() - 3, packed.len() - 1] {
                let error = load(name, &packed[..kept], None).unwrap_err();
                let start = format!("failed to read {name}: the {kind} stream is truncated after ");
                assert!(error.starts_with(&start), "{kept} bytes: {error}");
                assert!(error.ends_with(" bytes of content; download or copy the file again"), "{error}");
            }
        }
    }

    #[test]
    fn content_that_does_not_fit_its_checksum_is_refused() {
        for (name, mut packed, place) in
            [("a.jsonl.gz", gzip(&lines(2)), 8), ("a.jsonl.zst", zstd(&lines(2)), 4)]
        {
            let place = packed.len() - place;
            packed[place] ^= 1;
            let error = load(name, &packed, None).unwrap_err();
            assert!(error.contains(" stream is corrupt ("), "{error}");
            assert!(error.contains("checksum"), "{error}");
        }
    }

    #[test]
    fn what_follows_the_last_member_or_frame_is_refused_where_it_is_no_other() {
        for (name, packed) in [("a.jsonl.gz", gzip(&lines(2))), ("a.jsonl.zst", zstd(&lines(2)))] {
            let error = load(name, &[&packed[..], b"more than the stream"].concat(), None).unwrap_err();
            assert!(error.contains(" stream is corrupt ("), "{error}");
        }
    }

    #[test]
    fn a_small_file_cannot_become_a_large_one() {
        let bomb = format!("[{}{{}}]", " ".repeat(20_000_000));
        for (name, packed) in [("a.json.gz", gzip(&bomb)), ("a.json.zst", zstd(&bomb))] {
            assert!(packed.len() < 200_000, "{}", packed.len());
            assert_eq!(
                load(name, &packed, Some(1_000_000)).unwrap_err(),
                format!(
                    "failed to read {name}: it exceeds 1,000,000 bytes after decompression; if this is expected, raise `max_bytes` \
                    (`max-bytes` in cobalt.toml)"
                )
            );
            assert_eq!(load(name, &packed, Some(bomb.len() as u64)), Ok(1));
        }
    }

    #[test]
    fn an_empty_file_is_empty_also_when_it_is_compressed() {
        for (name, packed) in [("a.jsonl.gz", gzip("")), ("a.jsonl.zst", zstd(""))] {
            let error = load(name, &packed, None).unwrap_err();
            assert!(error.starts_with(&format!("{name}: the dataset is empty")), "{error}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

        #[test]
        fn a_changed_byte_never_gives_other_items(place: prop::sample::Index, change in 1..=255_u8, gz: bool) {
            let text = lines(300);
            let (name, mut packed) = if gz { ("a.jsonl.gz", gzip(&text)) } else { ("a.jsonl.zst", zstd(&text)) };
            let place = place.index(packed.len());
            packed[place] ^= change;
            // Some bytes do not affect the content, such as the time in the gzip header.
            if let Ok(count) = load(name, &packed, None) {
                prop_assert_eq!(count, 300);
            }
        }
    }
}
