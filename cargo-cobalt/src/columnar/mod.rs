//! Runs as Parquet and Arrow files: one row per item, written batch by batch from the result files.

mod rows;

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::sync::Arc;

use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions};
use arrow_schema::{ArrowError, SchemaRef};
use cobalt_core::prices::PriceTable;
use cobalt_core::store::{ReportFile, StoreError};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;

use rows::Rows;

/// The size of a row group, before it is compressed: a writer holds one in memory.
const ROW_GROUP: usize = 32 << 20;

/// Formats of columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnarFormat {
    Parquet,
    /// An Arrow IPC file, also known as Feather.
    Arrow,
}

#[derive(Debug, thiserror::Error)]
pub enum ColumnarError {
    #[error(transparent)]
    Store(#[from] StoreError),

    #[error("failed to write Parquet: {0}")]
    Parquet(#[from] ParquetError),

    #[error("failed to write Arrow: {0}")]
    Arrow(#[from] ArrowError),

    #[error(transparent)]
    Write(#[from] io::Error),
}

/// Writes runs. Of those in parts, only one part and one row group are in memory.
pub fn write_columns(
    files: &[ReportFile],
    prices: &PriceTable,
    format: ColumnarFormat,
    out: impl Write + Send,
) -> Result<(), ColumnarError> {
    let mut rows = Rows::new(&column_names(files));
    let mut writer = BatchWriter::new(format, rows.schema(), out)?;
    for file in files {
        for item in file.items() {
            rows.push(file.report(), &*item?, prices);
            if rows.is_full() {
                writer.write(&rows.take()?)?;
            }
        }
    }
    writer.write(&rows.take()?)?;
    writer.finish()
}

/// The names of evaluators and of metrics, which have a column each.
#[derive(Debug, Default)]
pub struct ColumnNames {
    /// In the order of the experiments.
    pub evaluators: Vec<Arc<str>>,
    pub metrics: BTreeSet<String>,
}

/// The names in the heads of all runs.
fn column_names(files: &[ReportFile]) -> ColumnNames {
    let mut names = ColumnNames::default();
    for report in files.iter().map(ReportFile::report) {
        for name in &report.config.evaluators {
            if !names.evaluators.iter().any(|known| **known == **name) {
                names.evaluators.push(name.to_string().into());
            }
        }
        names.metrics.extend(report.summary.metrics.keys().cloned());
    }
    names
}

enum BatchWriter<W: Write + Send> {
    Parquet(Box<ArrowWriter<W>>),
    Arrow(Box<FileWriter<W>>),
}

impl<W: Write + Send> BatchWriter<W> {
    fn new(format: ColumnarFormat, schema: SchemaRef, out: W) -> Result<Self, ColumnarError> {
        Ok(match format {
            ColumnarFormat::Parquet => {
                let properties = WriterProperties::builder()
                    .set_compression(Compression::ZSTD(ZstdLevel::default()))
                    .set_max_row_group_bytes(Some(ROW_GROUP))
                    .set_created_by(concat!("cobalt ", env!("CARGO_PKG_VERSION")).to_owned());
                Self::Parquet(Box::new(ArrowWriter::try_new(out, schema, Some(properties.build()))?))
            }
            ColumnarFormat::Arrow => {
                let options = IpcWriteOptions::default().try_with_compression(Some(CompressionType::ZSTD))?;
                Self::Arrow(Box::new(FileWriter::try_new_with_options(out, &schema, options)?))
            }
        })
    }

    fn write(&mut self, batch: &arrow_array::RecordBatch) -> Result<(), ColumnarError> {
        match self {
            Self::Parquet(writer) => writer.write(batch)?,
            Self::Arrow(writer) => writer.write(batch)?,
        }
        Ok(())
    }

    fn finish(self) -> Result<(), ColumnarError> {
        match self {
            Self::Parquet(writer) => drop(writer.close()?),
            Self::Arrow(mut writer) => {
                writer.finish()?;
                writer.get_mut().flush()?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use arrow_array::cast::AsArray;
    use arrow_array::types::{Float64Type, Int64Type};
    use arrow_array::{Array, RecordBatch};
    use arrow_ipc::reader::FileReader;
    use bytes::Bytes;
    use cobalt_core::report::Report;
    use cobalt_core::store::{Layout, PartsWriter};
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
    use parquet::file::reader::{FileReader as _, SerializedFileReader};
    use serde_json::{Value, json};
    use tempfile::TempDir;

    use super::*;
    use crate::formats::fixtures::{broken, item, report};

    /// Result files of these reports.
    fn stored(folder: &TempDir, reports: &[Value]) -> Vec<ReportFile> {
        let write = |(index, report): (usize, &Value)| {
            let path = folder.path().join(format!("{index}.json"));
            fs::write(&path, report.to_string()).unwrap();
            ReportFile::open(&path).unwrap()
        };
        reports.iter().enumerate().map(write).collect()
    }

    fn written(reports: &[Value], format: ColumnarFormat) -> Vec<u8> {
        let folder = tempfile::tempdir().unwrap();
        let mut bytes = Vec::new();
        write_columns(&stored(&folder, reports), &PriceTable::default(), format, &mut bytes).unwrap();
        bytes
    }

    fn read_parquet(bytes: Vec<u8>) -> Vec<RecordBatch> {
        let reader = ParquetRecordBatchReaderBuilder::try_new(Bytes::from(bytes)).unwrap().build().unwrap();
        reader.collect::<Result<_, _>>().unwrap()
    }

    /// The values of a column, as JSON.
    fn values(batches: &[RecordBatch], column: &str) -> Vec<Value> {
        let of_batch = |batch: &RecordBatch| {
            let column = batch.column_by_name(column).unwrap_or_else(|| panic!("no column {column}")).clone();
            let value = |row: usize| match column.data_type() {
                _ if column.is_null(row) => Value::Null,
                arrow_schema::DataType::Utf8 => column.as_string::<i32>().value(row).into(),
                arrow_schema::DataType::Boolean => column.as_boolean().value(row).into(),
                arrow_schema::DataType::Int64 => column.as_primitive::<Int64Type>().value(row).into(),
                arrow_schema::DataType::Float64 => column.as_primitive::<Float64Type>().value(row).into(),
                other => panic!("{other}"),
            };
            (0..batch.num_rows()).map(value).collect::<Vec<_>>()
        };
        batches.iter().flat_map(of_batch).collect()
    }

    /// Two runs: one with a metric and an item in error, and one with another evaluator.
    fn two_runs() -> [Value; 2] {
        let mut items =
            [item(0, &json!("a"), 1.0), item(1, &json!({ "b": 1 }), 0.25), broken(2, "error", "no seats")];
        items[0]["metrics"] = json!({ "documents": { "value": 3.0 } });
        items[0]["evaluations"]["right"]["reason"] = json!("as expected");
        let mut one = report(&items);
        one["summary"]["metrics"] = json!({ "documents": {
            "avg": 3.0, "min": 3.0, "max": 3.0, "p50": 3.0, "p95": 3.0, "p99": 3.0, "count": 1,
        } });
        let mut other = report(&[item(0, &json!("a"), 0.5)]);
        other["id"] = json!("fedcba987654");
        other["config"]["evaluators"] = json!(["polite"]);
        other["items"][0]["evaluations"] = json!({ "polite": { "score": 0.5 } });
        [one, other]
    }

    fn check(batches: &[RecordBatch]) {
        let column = |name: &str| values(batches, name);
        let (one, other) = ("0123456789ab", "fedcba987654");
        assert_eq!(column("run_id"), [one, one, one, other]);
        assert_eq!(column("key"), ["k0", "k1", "k2", "k0"]);
        assert_eq!(column("index"), [0, 1, 2, 0]);
        assert_eq!(column("status"), ["ok", "ok", "error", "ok"]);
        assert_eq!(column("passed"), [true, false, false, true]);
        assert_eq!(column("latency_ms"), [250.0; 4]);
        assert_eq!(column("right.score"), [json!(1.0), json!(0.25), Value::Null, Value::Null]);
        assert_eq!(column("polite.score"), [Value::Null, Value::Null, Value::Null, json!(0.5)]);
        assert_eq!(column("right.reason"), [json!("as expected"), Value::Null, Value::Null, Value::Null]);
        assert_eq!(column("metric.documents"), [json!(3.0), Value::Null, Value::Null, Value::Null]);
        assert_eq!(column("error"), [Value::Null, Value::Null, json!("no seats"), Value::Null]);
        assert_eq!(column("output"), [json!("a"), json!("{\"b\":1}"), Value::Null, json!("a")]);
        assert_eq!(column("expected"), [json!("4"), json!("4"), Value::Null, json!("4")]);
        assert_eq!(column("input"), ["what now?"; 4]);
        assert_eq!(column("tokens"), [const { Value::Null }; 4]);
    }

    #[test]
    fn parquet_has_a_row_per_item_and_a_column_per_evaluator_and_metric_of_all_runs() {
        check(&read_parquet(written(&two_runs(), ColumnarFormat::Parquet)));
    }

    #[test]
    fn arrow_has_the_same() {
        let bytes = written(&two_runs(), ColumnarFormat::Arrow);
        let batches = FileReader::try_new(io::Cursor::new(bytes), None).unwrap();
        check(&batches.collect::<Result<Vec<_>, _>>().unwrap());
    }

    #[test]
    fn items_in_parts_are_the_same_rows() {
        let folder = tempfile::tempdir().unwrap();
        let prices = PriceTable::default();
        let root = folder.path().to_owned();
        let layout =
            Layout::new(root.clone(), root.join("results"), root.join("history.db"), root.join("cache"));
        let in_parts = two_runs().map(|report| {
            let report: Report = serde_json::from_value(report).unwrap();
            let mut writer = PartsWriter::create(&layout, &report, &prices).unwrap();
            report.items.iter().for_each(|item| writer.push(item).unwrap());
            ReportFile::open(&writer.finish(&report).unwrap()).unwrap()
        });
        assert!(in_parts.iter().all(|file| file.parts().is_some()));
        let mut bytes = Vec::new();
        write_columns(&in_parts, &prices, ColumnarFormat::Parquet, &mut bytes).unwrap();
        check(&read_parquet(bytes));
    }

    #[test]
    fn many_rows_are_written_in_batches_and_compressed() {
        let items: Vec<_> = (0..20_000).map(|index| item(index, &json!("x".repeat(1_000)), 0.5)).collect();
        let bytes = written(&[report(&items)], ColumnarFormat::Parquet);
        assert!(bytes.len() < 2_000_000, "{}", bytes.len());
        let batches = read_parquet(bytes);
        let scores: f64 = values(&batches, "right.score").iter().filter_map(Value::as_f64).sum();
        assert_eq!((batches.iter().map(RecordBatch::num_rows).sum::<usize>(), scores), (20_000, 10_000.0));
    }

    #[test]
    fn row_groups_are_bounded() {
        // Texts that do not compress and are all different.
        let mut random = fastrand::Rng::with_seed(7);
        let mut text = || (0..5_000).map(|_| random.alphanumeric()).collect::<String>();
        let items: Vec<_> = (0..20_000).map(|index| item(index, &json!(text()), 0.5)).collect();
        let bytes = written(&[report(&items)], ColumnarFormat::Parquet);
        let groups = SerializedFileReader::new(Bytes::from(bytes)).unwrap().metadata().num_row_groups();
        assert!((3..=8).contains(&groups), "{groups}");
    }

    #[test]
    fn a_run_without_items_is_a_file_without_rows() {
        let batches = read_parquet(written(&[report(&[])], ColumnarFormat::Parquet));
        assert_eq!(batches.iter().map(RecordBatch::num_rows).sum::<usize>(), 0);
    }
}
