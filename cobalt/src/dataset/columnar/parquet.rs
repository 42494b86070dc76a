//! Parquet, one row group after another.

use std::io::{self, Read};

use arrow_array::RecordBatch;
use bytes::Bytes;
use cobalt_core::item::Item;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use parquet::errors::ParquetError;
use parquet::file::reader::ChunkReader;

use super::items::{ItemBuilder, catch_panics};
use crate::dataset::DatasetError;
use crate::dataset::text::{Content, Rest};

/// The items of a Parquet file. More than `max_bytes` of them as JSON is an error.
pub fn read_parquet(
    content: Content,
    shown: &str,
    max_bytes: Option<u64>,
) -> Result<Vec<Item>, DatasetError> {
    let items = ItemBuilder::new(shown, max_bytes);
    match content {
        Content { rest: Rest::File(file), .. } => catch_panics(shown, || read(|| file.try_clone(), items)),
        Content { head: mut all, rest: Rest::Decompressed(mut rest) } => {
            rest.read_to_end(&mut all).map_err(|error| items.read_error(error))?;
            let all = Bytes::from(all);
            catch_panics(shown, || read(|| Ok(all.clone()), items))
        }
    }
}

/// The items of a file, which `open` opens repeatedly.
fn read<R: ChunkReader + 'static>(
    open: impl Fn() -> io::Result<R>,
    mut items: ItemBuilder<'_>,
) -> Result<Vec<Item>, DatasetError> {
    let metadata = open()
        .map_err(ParquetError::from)
        .and_then(|reader| ArrowReaderMetadata::load(&reader, ArrowReaderOptions::new()))
        .map_err(|error| items.corrupt("footer", &error))?;
    let file = File { open, metadata };
    items.check_schema(file.metadata.schema())?;
    let groups = file.metadata.metadata().row_groups();
    items.check_size(groups.iter().map(|group| group.total_byte_size().max(0).unsigned_abs()).sum())?;
    for (index, group) in groups.iter().enumerate() {
        let place = format!("row group {index}");
        let before = items.len();
        let batches = file
            .batches(index, ProjectionMask::all())
            .map_err(|error| file.error_with_column(&items, index, &error))?;
        for batch in batches {
            items.add(&batch.map_err(|error| file.error_with_column(&items, index, &error))?, &place)?;
        }
        let (found, expected) = (items.len() - before, group.num_rows());
        if i64::try_from(found) != Ok(expected) {
            return Err(items.corrupt(&place, &format!("expected {expected} rows, found {found}")));
        }
    }
    items.finish()
}

struct File<O> {
    open: O,
    metadata: ArrowReaderMetadata,
}

impl<R: ChunkReader + 'static, O: Fn() -> io::Result<R>> File<O> {
    /// Some columns of a row group, in batches of the default size.
    fn batches(
        &self,
        group: usize,
        columns: ProjectionMask,
    ) -> Result<impl Iterator<Item = Result<RecordBatch, String>>, String> {
        let reader = (self.open)().map_err(|error| error.to_string())?;
        let batches = ParquetRecordBatchReaderBuilder::new_with_metadata(reader, self.metadata.clone())
            .with_row_groups(vec![group])
            .with_projection(columns)
            .build()
            .map_err(|error| error.to_string())?;
        Ok(batches.map(|batch| batch.map_err(|error| error.to_string())))
    }

    /// The error with the column that causes it: the first that cannot be read alone.
    fn error_with_column(&self, items: &ItemBuilder<'_>, group: usize, error: &str) -> DatasetError {
        let schema = self.metadata.parquet_schema();
        let fields = schema.root_schema().get_fields();
        let broken = fields.iter().enumerate().find(|(index, _)| {
            match self.batches(group, ProjectionMask::roots(schema, [*index])) {
                Ok(mut batches) => batches.any(|batch| batch.is_err()),
                Err(_) => true,
            }
        });
        let column = broken.map(|(_, field)| format!(", column `{}`", field.name()));
        items.corrupt(&format!("row group {group}{}", column.unwrap_or_default()), error)
    }
}
