//! Results in parts, written and read.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::prices::{Price, PriceTable};
use crate::report::{ItemOutcome, ItemResult, Measurements, Report};
use crate::store::{
    Layout, PartsWriter, ReportFile, items_file, read_measurements, read_report, write_report,
};

fn layout(root: &Path) -> Layout {
    Layout::new(root.to_owned(), root.join("results"), root.join("history.db"), root.join("cache"))
}

fn report(items: &[Value]) -> Report {
    let metrics = match items.len() {
        0..4 => json!({}),
        _ => {
            json!({ "retrieved": { "avg": 3.0, "stddev": 0.0, "min": 3.0, "max": 3.0, "p50": 3.0, "p95": 3.0, "p99": 3.0, "count": 1 } })
        }
    };
    let file = json!({
        "schema": 1, "id": "5ea00522f3eb", "name": "desk", "timestamp": "2026-02-05T10:00:34.836Z", "passed": false, "verdict": "failed",
        "config": { "runs": 1, "concurrency": 1, "timeout": 1000, "evaluators": ["exact", "tone"], "passMarks": [0.5, 0.5], "strict": true },
        "summary": { "totalItems": items.len(), "metrics": metrics }, "items": items,
    });
    let report: Report = serde_json::from_value(file).unwrap();
    // As a file has it.
    serde_json::from_str(&report.to_json().unwrap()).unwrap()
}

/// Items of all kinds, of about 500 bytes.
fn item(index: usize) -> Value {
    let trial = |score: f64| {
        json!({ "output": { "output": "a", "metadata": { "tokens": { "input": 3, "output": 1 } } }, "latencyMs": 1.5, "status": "ok",
            "evaluations": { "exact": { "score": score }, "tone": { "notApplicable": true } } })
    };
    let text = format!("{index} ").repeat(100);
    let mut item = json!({
        "index": index, "key": format!("item-{index}"), "input": { "id": format!("item-{index}"), "input": text }, "latencyMs": 0.1 * index as f64,
        "output": { "output": "a" }, "status": "ok", "passed": true,
        "evaluations": { "exact": { "score": (index % 2) as f64 }, "tone": { "score": 0.25 } },
    });
    match index % 5 {
        1 => {
            item["status"] = json!("error");
            item["error"] = json!("no network");
            item["output"] = json!({ "output": "" });
            item["evaluations"] = json!({});
        }
        2 => item["runs"] = json!([trial(0.5), trial(1.0)]),
        3 => {
            item["input"]["id"] = json!(format!("Item {index}"));
            item["input"]["cluster"] = json!("b");
            item["evaluations"]["tone"] = json!({ "error": "the judge failed" });
            item["metrics"] = json!({ "retrieved": { "value": 3.0 } });
        }
        4 => {
            item["input"] = json!({ "input": text });
            item["key"] = json!(format!("{index:016x}"));
            item["traffic"] = json!({ "live": 2, "asked": ["0123456789"] });
        }
        _ => {}
    }
    item
}

fn write(root: &Path, report: &Report) -> PathBuf {
    let mut writer = PartsWriter::create(&layout(root), report, &PriceTable::default()).unwrap();
    report.items.iter().for_each(|item| writer.push(item).unwrap());
    assert_eq!(writer.items(), report.items.len());
    writer.finish(report).unwrap()
}

#[test]
fn a_result_in_parts_is_read_as_one_that_is_not() {
    let folder = tempfile::tempdir().unwrap();
    for count in [0, 1, 7, 6_000] {
        let report = report(&(0..count).map(item).collect::<Vec<_>>());
        let path = write(folder.path(), &report);
        assert_eq!(read_report(&path).unwrap(), report);
        let file = ReportFile::open(&path).unwrap();
        assert_eq!((file.report(), file.item_count()), (&report.without_items(), count));
        let parts = file.parts().unwrap();
        assert_eq!(parts.index().parts.len() > 3, count == 6_000, "parts are about 1 MiB long");
        for position in [0, 3, count / 2, count.saturating_sub(1)].into_iter().filter(|it| *it < count) {
            assert_eq!(parts.item(position, &report.config).unwrap(), report.items[position]);
        }
        let error = parts.item(count, &report.config).unwrap_err().to_string();
        assert!(error.contains(&format!("it has {count} items, and none at position {count}")), "{error}");
        let mut whole = Vec::new();
        file.write_whole(&mut whole).unwrap();
        let written =
            fs::read(write_report(&layout(&folder.path().join("whole")), &report).unwrap()).unwrap();
        assert!(whole == written, "as if it were not in parts");
        let measured = Measurements::from_report(&report, &PriceTable::default());
        assert_eq!(file.measurements(&PriceTable::default()).unwrap(), measured);
        assert_eq!(read_measurements(&path, &PriceTable::default()).unwrap(), measured);
    }
    let names = fs::read_dir(folder.path().join("results")).unwrap().count();
    assert_eq!(names, 2, "no draft is left");
}

#[test]
fn programs_for_zstandard_give_the_items_as_json_lines() {
    let folder = tempfile::tempdir().unwrap();
    let report = report(&(0..6_000).map(item).collect::<Vec<_>>());
    let path = items_file(&write(folder.path(), &report));
    let Ok(output) = std::process::Command::new("zstdcat").arg(&path).output() else { return };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines = output.stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let indexes: Vec<_> =
        lines.map(|line| serde_json::from_slice::<ItemResult>(line).unwrap().index).collect();
    assert_eq!(indexes, (0..6_000).collect::<Vec<_>>());
}

#[test]
fn rows_have_what_the_items_have() {
    let folder = tempfile::tempdir().unwrap();
    let report = report(&(0..20).map(item).collect::<Vec<_>>());
    let file = ReportFile::open(&write(folder.path(), &report)).unwrap();
    let rows: Vec<_> = file.parts().unwrap().rows().collect::<Result<_, _>>().unwrap();
    let expected = report
        .items
        .iter()
        .map(|item| super::ItemRow::of(item, &report.config, false, &PriceTable::default()));
    assert_eq!(rows, expected.collect::<Vec<_>>());
}

#[test]
fn the_outcomes_and_names_of_a_run_in_parts_are_those_of_its_items() {
    let folder = tempfile::tempdir().unwrap();
    let mut items: Vec<_> = (0..50).map(item).collect();
    for (id, index) in [("a b", 3), ("a-b", 30), ("a!b", 40)] {
        (items[index]["input"]["id"], items[index]["key"]) = (id.into(), id.into());
    }
    let report = report(&items);
    let whole = ReportFile::of_report(folder.path(), report.clone());
    let parts = ReportFile::open(&write(folder.path(), &report)).unwrap();
    let outcomes = [&whole, &parts].map(|file| file.outcomes().collect::<Result<Vec<_>, _>>().unwrap());
    assert_eq!(outcomes[0], outcomes[1]);
    let below = outcomes[0].iter().filter(|it| it.lowest_below_pass_mark(&report.config).is_some()).count();
    let expected = report.items.iter().filter(|it| report.config.scores_below_pass_mark(it).next().is_some());
    assert_eq!(below, expected.count());
    let names = [&whole, &parts].map(|file| {
        let names = file.case_names().unwrap();
        let name = |(place, it): (usize, &ItemOutcome)| names.name(place, &it.key, it.index).into_owned();
        outcomes[0].iter().enumerate().map(name).collect::<Vec<_>>()
    });
    assert_eq!(names[0], names[1]);
    assert!(names[0].contains(&"a-b-2".to_owned()), "{:?}", names[0]);
}

#[test]
fn items_are_read_in_the_given_order_with_their_keys() {
    let folder = tempfile::tempdir().unwrap();
    let report = report(&(0..50).map(item).collect::<Vec<_>>());
    let whole = ReportFile::of_report(folder.path(), report.clone());
    let parts = ReportFile::open(&write(folder.path(), &report)).unwrap();
    let positions = [40, 3, 49, 3];
    let [whole, parts] = [&whole, &parts].map(|file| file.keyed_items_at(&positions).unwrap());
    assert_eq!(whole, parts);
    assert!(parts.iter().map(|(_, item)| item.index).eq(positions));
    assert!(parts.iter().all(|(key, item)| *key == item.key));
}

#[test]
fn costs_are_at_the_given_prices_whatever_those_of_the_columns() {
    let folder = tempfile::tempdir().unwrap();
    let with_model = |index: usize| {
        let mut item = item(index);
        item["output"]["metadata"] =
            json!({ "model": "ours", "tokens": { "input": 1_000_000, "output": index } });
        item
    };
    let report = report(&(0..6).step_by(5).map(with_model).collect::<Vec<_>>());
    let file = ReportFile::open(&write(folder.path(), &report)).unwrap();
    let cost = |measured: &Measurements| measured.items.get(0).unwrap().cost();
    let mut prices = PriceTable::default();
    assert_eq!(cost(&file.measurements(&prices).unwrap()), None);
    prices.insert("ours", Price::new(2.0, 0.0)).unwrap();
    let measured = file.measurements(&prices).unwrap();
    assert_eq!(cost(&measured), Some(2.0));
    assert_eq!(measured, Measurements::from_report(&report, &prices));
}

#[test]
fn a_truncated_result_file_is_no_newer_version() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), &report(&[item(0)]));
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, &text[..text.len() - 20]).unwrap();
    for error in [
        read_report(&path).unwrap_err().to_string(),
        read_measurements(&path, &PriceTable::default()).unwrap_err().to_string(),
    ] {
        assert!(error.contains("EOF while parsing") && !error.contains("update"), "{error}");
    }
}

#[test]
fn versions_that_know_no_parts_say_where_the_items_are() {
    #[derive(Debug, serde::Deserialize)]
    struct OldReport {
        #[expect(dead_code, reason = "only its type matters")]
        items: Vec<ItemResult>,
    }

    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), &report(&[item(0)]));
    let error = serde_json::from_slice::<OldReport>(&fs::read(path).unwrap()).unwrap_err().to_string();
    let expected =
        "kept in parts, in `2026-02-05T10-00-34_desk_5ea00522f3eb.items.zst`; update Cobalt to read them";
    assert!(error.contains(expected), "{error}");
}

#[test]
fn a_damaged_part_is_named_and_the_others_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let report = report(&(0..6_000).map(item).collect::<Vec<_>>());
    let path = write(folder.path(), &report);
    let items = items_file(&path);
    let whole = fs::read(&items).unwrap();
    let parts = ReportFile::open(&path).unwrap().parts().unwrap().index().clone();
    let mut damaged = whole.clone();
    damaged[usize::try_from(parts.parts[1].offset).unwrap() + 100] ^= 1;
    fs::write(&items, &damaged).unwrap();
    let file = ReportFile::open(&path).unwrap();
    let error = read_report(&path).unwrap_err().to_string();
    let expected = format!(
        "failed to read `{}`: part 2 of {} is damaged: its checksum differs",
        items.display(),
        parts.parts.len()
    );
    assert_eq!(error, expected);
    let read = file.items().filter(Result::is_ok).count();
    assert_eq!(read, 6_000 - parts.parts[1].items);
    file.measurements(&PriceTable::default()).unwrap();

    let mut damaged = whole.clone();
    damaged[usize::try_from(parts.columns[0].offset).unwrap() + 100] ^= 1;
    fs::write(&items, &damaged).unwrap();
    let error = read_measurements(&path, &PriceTable::default()).unwrap_err().to_string();
    assert!(error.contains("block of columns 1 of 2 is damaged"), "{error}");

    fs::write(&items, &whole[..whole.len() - 1]).unwrap();
    let error = read_report(&path).unwrap_err().to_string();
    assert!(error.contains("it is incomplete, or of another run"), "{error}");
    fs::remove_file(&items).unwrap();
    let error = read_report(&path).unwrap_err().to_string();
    assert!(error.contains("must lie beside it; copy both files"), "{error}");
}

#[test]
fn an_item_that_contradicts_itself_is_found_in_its_part() {
    let folder = tempfile::tempdir().unwrap();
    let mut report = report(&[item(0), item(5)]);
    let validate = |report: &Report| {
        let file = ReportFile::open(&write(folder.path(), report)).unwrap();
        file.parts().unwrap().validate(file.report()).map_err(|error| error.to_string())
    };
    assert_eq!(validate(&report), Ok(()));
    report.items[1].passed = true;
    let error = validate(&report).unwrap_err();
    assert!(error.contains("part 1 of 1 is damaged: item 5 (`item-5`) is damaged: its `passed`"), "{error}");
    report.items[1].runs[0].latency_ms = -1.0;
    let error = validate(&report).unwrap_err();
    assert!(error.contains("item 5 (`item-5`) is damaged: its `latencyMs` is -1"), "{error}");
}

#[test]
fn an_earlier_result_stays_until_both_files_of_the_new_one_are_written() {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (report(&[item(0)]), report(&[item(0), item(5)]));
    let path = write(folder.path(), &first);
    // The draft of the result file cannot be created.
    let obstacle = path.with_file_name(format!(".{}.tmp", first.id));
    fs::create_dir(&obstacle).unwrap();
    let written = PartsWriter::write_report(&layout(folder.path()), &second, &PriceTable::default());
    assert!(written.is_err());
    assert_eq!(read_report(&path).unwrap(), first);
    fs::remove_dir(&obstacle).unwrap();
    write(folder.path(), &second);
    assert_eq!(read_report(&path).unwrap(), second);
    assert_eq!(fs::read_dir(folder.path().join("results")).unwrap().count(), 2, "no draft is left");
    // The whole form of the run replaces both files.
    write_report(&layout(folder.path()), &first).unwrap();
    assert_eq!(fs::read_dir(folder.path().join("results")).unwrap().count(), 1);
}

#[test]
fn an_item_that_cannot_be_parsed_is_named_and_the_others_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let report = report(&[item(0), item(1), item(2)]);
    let path = write(folder.path(), &report);
    let mut head: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    let lines: Vec<_> = report.items.iter().map(|item| serde_json::to_string(item).unwrap()).collect();
    let text = format!("{}\n{{\"index\":\"one\"}}\n{}\n", lines[0], lines[2]);
    let frame = super::compress::compress(text.as_bytes());
    let part = json!({ "offset": 0, "bytes": frame.len(), "text": text.len(), "items": 3, "first": 0, "crc32": crc32fast::hash(&frame) });
    let columns = json!({ "offset": 0, "bytes": 0, "text": 9, "items": 3, "first": 0, "crc32": 0 });
    for (field, value) in
        [("bytes", json!(frame.len())), ("parts", json!([part])), ("columns", json!([columns]))]
    {
        head["parts"][field] = value;
    }
    fs::write(&path, head.to_string()).unwrap();
    fs::write(items_file(&path), frame).unwrap();
    let file = ReportFile::open(&path).unwrap();
    let parts = file.parts().unwrap();
    assert_eq!(parts.item(2, &report.config).unwrap(), report.items[2]);
    let told = parts.item(1, &report.config).unwrap_err().to_string();
    let expected =
        format!("failed to read `{}`: part 1 of 1 is damaged: item 1: ", items_file(&path).display());
    assert!(told.starts_with(&expected), "{told}");
}

#[test]
fn an_abandoned_writer_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let report = report(&[item(0)]);
    let mut writer = PartsWriter::create(&layout(folder.path()), &report, &PriceTable::default()).unwrap();
    writer.push(&report.items[0]).unwrap();
    drop(writer);
    assert_eq!(fs::read_dir(folder.path().join("results")).unwrap().count(), 0);
    // The whole form of the same run is still its result.
    assert_eq!(read_report(&write_report(&layout(folder.path()), &report).unwrap()).unwrap(), report);
}
