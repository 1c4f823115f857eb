//! Parquet files of one row group each, and their merger into one file by copying the encoded columns.

use super::ResultError;
use super::table::{Buffer, CellType, Column};
use crate::folder::FORMAT;
use crate::folder::disk::{self, Output};
use parquet::basic::{Compression, ConvertedType, Repetition, Type as Physical};
use parquet::column::writer::ColumnCloseResult;
use parquet::data_type::{ByteArrayType, DoubleType};
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::metadata::{KeyValue, ParquetMetaDataReader};
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesPtr};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{ColumnPath, Type, TypePtr};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Key of the metadata under which names, units and kinds of the columns stand as JSON.
const COLUMNS: &str = "carom.columns";

/// Key of the version of the file.
const VERSION: &str = "carom.format";

/// Key that a table has where it is not whole: why.
const PARTIAL: &str = "carom.partial";

/// What all files of a table share.
pub(super) struct Layout {
    schema: TypePtr,
    properties: WriterPropertiesPtr,
}

impl Layout {
    pub fn new(columns: &[Column]) -> ParquetResult<Layout> {
        let fields = columns.iter().map(field).collect::<ParquetResult<Vec<_>>>()?;
        let schema = Arc::new(Type::group_type_builder("table").with_fields(fields).build()?);
        let infos: Vec<_> = columns.iter().map(|column| &column.info).collect();
        let infos = serde_json::to_string(&infos).map_err(|error| ParquetError::External(Box::new(error)))?;
        // no page index, so that a column is copied as one piece with its metadata
        let mut properties = WriterProperties::builder()
            .set_created_by(format!("carom {}", env!("CARGO_PKG_VERSION")))
            .set_compression(Compression::SNAPPY)
            .set_dictionary_enabled(false)
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .set_offset_index_disabled(true)
            .set_key_value_metadata(Some(vec![
                KeyValue::new(COLUMNS.to_owned(), infos),
                KeyValue::new(VERSION.to_owned(), FORMAT.to_string()),
            ]));
        for column in columns.iter().filter(|column| column.kind == CellType::Text) {
            properties = properties.set_column_dictionary_enabled(ColumnPath::from(column.info.name.as_str()), true);
        }
        Ok(Layout { schema, properties: Arc::new(properties.build()) })
    }

    /// Writes one row group as a file that appears under its name only when it is complete.
    pub fn write(&self, path: &Path, buffers: &[Buffer]) -> Result<(), ResultError> {
        self.complete("write", path, |writer| {
            let mut group = writer.next_row_group()?;
            for buffer in buffers {
                let Some(mut column) = group.next_column()? else {
                    return Err(ParquetError::General("fewer columns than values".into()));
                };
                match buffer {
                    Buffer::Real(values) => column.typed::<DoubleType>().write_batch(values, None, None)?,
                    Buffer::Optional { values, levels } => {
                        column.typed::<DoubleType>().write_batch(values, Some(levels), None)?
                    }
                    Buffer::Text { values, .. } => column.typed::<ByteArrayType>().write_batch(values, None, None)?,
                };
                column.close()?;
            }
            group.close().map(|_| ())
        })
    }

    /// Copies the row groups of `parts`, in this order, into the file `path`; `partial` says why they are not all.
    pub fn merge(&self, path: &Path, parts: &[PathBuf], partial: Option<&str>) -> Result<(), ResultError> {
        self.complete("merge the parts into", path, |writer| {
            if let Some(reason) = partial {
                writer.append_key_value_metadata(KeyValue::new(PARTIAL.to_owned(), reason.to_owned()));
            }
            for part in parts {
                let file = File::open(part)?;
                let metadata = ParquetMetaDataReader::new().parse_and_finish(&file)?;
                for source in metadata.row_groups() {
                    let mut group = writer.next_row_group()?;
                    for column in source.columns() {
                        let close = ColumnCloseResult {
                            bytes_written: column.compressed_size().unsigned_abs(),
                            rows_written: source.num_rows().unsigned_abs(),
                            metadata: column.clone(),
                            bloom_filter: None,
                            column_index: None,
                            offset_index: None,
                        };
                        group.append_column(&file, close)?;
                    }
                    group.close()?;
                }
            }
            Ok(())
        })
    }

    /// Writes beside `path`, then renames; what is incomplete is removed.
    fn complete(
        &self,
        action: &'static str,
        path: &Path,
        fill: impl FnOnce(&mut SerializedFileWriter<Output>) -> ParquetResult<()>,
    ) -> Result<(), ResultError> {
        let temporary = temporary(path);
        let file = Output::create(&temporary)?;
        let written = SerializedFileWriter::new(file, self.schema.clone(), self.properties.clone())
            .and_then(|mut writer| {
                fill(&mut writer)?;
                writer.close().map(|_| ())
            })
            .map_err(ResultError::parquet(action, path))
            .and_then(|()| Ok(disk::rename(&temporary, path)?));
        if written.is_err() {
            _ = fs::remove_file(&temporary);
        }
        written
    }
}

/// The name of a file while it is written.
fn temporary(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(".tmp");
    path.with_file_name(name)
}

fn field(column: &Column) -> ParquetResult<TypePtr> {
    let (physical, repetition, converted) = match column.kind {
        CellType::Real => (Physical::DOUBLE, Repetition::REQUIRED, ConvertedType::NONE),
        CellType::Optional => (Physical::DOUBLE, Repetition::OPTIONAL, ConvertedType::NONE),
        CellType::Text => (Physical::BYTE_ARRAY, Repetition::REQUIRED, ConvertedType::UTF8),
    };
    let builder = Type::primitive_type_builder(&column.info.name, physical);
    Ok(Arc::new(builder.with_repetition(repetition).with_converted_type(converted).build()?))
}
