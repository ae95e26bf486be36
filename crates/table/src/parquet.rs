//! Tables as Parquet: rows are collected into row groups of bounded size, and each is written when it is full.

mod bounded;
mod read;

use std::io::Write;
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{Type, TypePtr};

use crate::{ColumnValue, Kind, TableError, TypedColumn};

pub use read::read_parquet;

/// The most rows of a group.
const ROWS: usize = 1 << 16;
/// The most bytes that a group holds in memory before it is written, give or take a row.
const BYTES: usize = 16 << 20;

/// The rows that are not written yet.
pub(crate) struct RowGroups {
    /// Writes to memory, which is emptied after each group: `SerializedFileWriter` would ask of any other
    /// place that it can be sent between threads.
    file: SerializedFileWriter<Vec<u8>>,
    columns: Vec<Buffer>,
    rows: usize,
    bytes: usize,
}

impl RowGroups {
    pub(crate) fn new(columns: &[TypedColumn]) -> Result<Self, TableError> {
        // Snappy, which every reader of Parquet has; the library names no clock or host in the file, so
        // equal rows give equal bytes.
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
        let file = SerializedFileWriter::new(Vec::new(), schema(columns)?, Arc::new(properties))?;
        Ok(Self { file, columns: columns.iter().map(Buffer::new).collect(), rows: 0, bytes: 0 })
    }

    /// Adds a row of checked values.
    pub(crate) fn row(&mut self, values: &[ColumnValue<'_>], out: &mut impl Write) -> Result<(), TableError> {
        for (column, value) in self.columns.iter_mut().zip(values) {
            self.bytes += column.push(value);
        }
        self.rows += 1;
        // By bytes as well: one row can hold the next-symbol sets of a string of 500 symbols.
        if self.rows >= ROWS || self.bytes >= BYTES { self.write_group(out) } else { Ok(()) }
    }

    fn write_group(&mut self, out: &mut impl Write) -> Result<(), TableError> {
        let mut group = self.file.next_row_group()?;
        for column in &mut self.columns {
            let mut writer = group.next_column()?.ok_or_else(|| ParquetError::EOF("a column".to_owned()))?;
            column.write(&mut writer)?;
            writer.close()?;
        }
        group.close()?;
        (self.rows, self.bytes) = (0, 0);
        self.file.flush()?;
        out.write_all(self.file.inner())?;
        self.file.inner_mut().clear();
        Ok(())
    }

    pub(crate) fn finish(mut self, out: &mut impl Write) -> Result<(), TableError> {
        if self.rows > 0 {
            self.write_group(out)?;
        }
        Ok(out.write_all(&self.file.into_inner()?)?)
    }
}

/// The values of a column in a row group, with Parquet's levels: how much of a value is there (0 for an absent one), and
/// whether it goes on with a list.
struct Buffer {
    list: bool,
    values: TypedValues,
    definition: Vec<i16>,
    repetition: Vec<i16>,
}

enum TypedValues {
    Text(Vec<ByteArray>),
    /// Those without a sign too, as the same bits.
    Integer(Vec<i64>),
    Float(Vec<f64>),
    Boolean(Vec<bool>),
}

impl Buffer {
    fn new(column: &TypedColumn) -> Self {
        let values = match column.kind {
            Kind::Text => TypedValues::Text(Vec::new()),
            Kind::Integer | Kind::Unsigned => TypedValues::Integer(Vec::new()),
            Kind::Float => TypedValues::Float(Vec::new()),
            Kind::Boolean => TypedValues::Boolean(Vec::new()),
        };
        Self { list: column.list, values, definition: Vec::new(), repetition: Vec::new() }
    }

    /// Adds a checked value; how many bytes it takes.
    fn push(&mut self, value: &ColumnValue<'_>) -> usize {
        match value {
            // Definition levels of a list: 0 no list, 1 an empty one, 2 an absent element, 3 an element.
            // Repetition 1 goes on with the list of the row.
            ColumnValue::List(values) if values.is_empty() => self.level(1, 0),
            ColumnValue::List(values) => {
                let elements = values.iter().enumerate();
                elements.map(|(i, value)| self.element(value, 2, i16::from(i > 0))).sum()
            }
            value => self.element(value, 0, 0),
        }
    }

    /// A value that is absent at this level and present at the next.
    fn element(&mut self, value: &ColumnValue<'_>, absent: i16, repetition: i16) -> usize {
        let bytes = match (&mut self.values, value) {
            (TypedValues::Text(all), ColumnValue::Text(text)) => {
                all.push(ByteArray::from(text.as_ref()));
                text.len() + size_of::<ByteArray>()
            }
            (TypedValues::Integer(all), ColumnValue::Integer(n)) => {
                // Beyond i64 the bits stay; the logical type says that they have no sign.
                all.push(*n as i64);
                size_of::<i64>()
            }
            (TypedValues::Float(all), ColumnValue::Float(x)) => {
                all.push(*x);
                size_of::<f64>()
            }
            (TypedValues::Boolean(all), ColumnValue::Boolean(on)) => {
                all.push(*on);
                size_of::<bool>()
            }
            _ => return self.level(absent, repetition),
        };
        bytes + self.level(absent + 1, repetition)
    }

    fn level(&mut self, definition: i16, repetition: i16) -> usize {
        self.definition.push(definition);
        self.repetition.push(repetition);
        2 * size_of::<i16>()
    }

    /// Writes everything, and forgets it.
    fn write(&mut self, to: &mut SerializedColumnWriter<'_>) -> Result<(), TableError> {
        let definition = Some(&*self.definition);
        let repetition = self.list.then_some(&*self.repetition);
        match &mut self.values {
            TypedValues::Text(all) => {
                to.typed::<ByteArrayType>().write_batch(all, definition, repetition)?;
                all.clear();
            }
            TypedValues::Integer(all) => {
                to.typed::<Int64Type>().write_batch(all, definition, repetition)?;
                all.clear();
            }
            TypedValues::Float(all) => {
                to.typed::<DoubleType>().write_batch(all, definition, repetition)?;
                all.clear();
            }
            TypedValues::Boolean(all) => {
                to.typed::<BoolType>().write_batch(all, definition, repetition)?;
                all.clear();
            }
        }
        self.definition.clear();
        self.repetition.clear();
        Ok(())
    }
}

fn schema(columns: &[TypedColumn]) -> Result<TypePtr, ParquetError> {
    let fields = columns.iter().map(field).collect::<Result<_, _>>()?;
    Ok(Arc::new(Type::group_type_builder("schema").with_fields(fields).build()?))
}

/// A column's type; a list has the three levels that the format prescribes.
fn field(column: &TypedColumn) -> Result<TypePtr, ParquetError> {
    if !column.list {
        return primitive(&column.name, column.kind);
    }
    let elements = Type::group_type_builder("list")
        .with_repetition(Repetition::REPEATED)
        .with_fields(vec![primitive("element", column.kind)?])
        .build()?;
    let list = Type::group_type_builder(&column.name)
        .with_repetition(Repetition::OPTIONAL)
        .with_logical_type(Some(LogicalType::List))
        .with_fields(vec![Arc::new(elements)]);
    Ok(Arc::new(list.build()?))
}

fn primitive(name: &str, kind: Kind) -> Result<TypePtr, ParquetError> {
    let (physical, logical) = match kind {
        Kind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        Kind::Integer => (Physical::INT64, None),
        Kind::Unsigned => (Physical::INT64, Some(LogicalType::integer(64, false))),
        Kind::Float => (Physical::DOUBLE, None),
        Kind::Boolean => (Physical::BOOLEAN, None),
    };
    let builder = Type::primitive_type_builder(name, physical).with_repetition(Repetition::OPTIONAL);
    Ok(Arc::new(builder.with_logical_type(logical).build()?))
}
