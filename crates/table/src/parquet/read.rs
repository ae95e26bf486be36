//! Reads the tables that this crate writes as Parquet.

use std::borrow::Cow;

use parquet::basic::{LogicalType, Type as Physical};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use parquet::record::reader::RowIter;
use parquet::schema::types::Type;

use super::bounded::Bounded;
use crate::{ColumnValue, Kind, TableError, TypedColumn};

/// A row of a table that was read.
type ReadRow = Vec<ColumnValue<'static>>;

/// The columns and the rows of a table that [`TableWriter`](crate::TableWriter) wrote as Parquet. The bytes are expected to be
/// those that were written: check a hash of them first.
pub fn read_parquet(
    bytes: Vec<u8>,
) -> Result<(Vec<TypedColumn>, impl Iterator<Item = Result<ReadRow, TableError>>), TableError> {
    let reader = SerializedFileReader::new(Bounded::new(bytes))?;
    let schema = reader.metadata().file_metadata().schema_descr();
    let fields = schema.root_schema().get_fields();
    let columns = fields.iter().map(|field| column(field)).collect::<Result<_, _>>()?;
    let rows = RowIter::from_file_into(Box::new(reader));
    let rows = rows.map(|row| row?.get_column_iter().map(|(_, field)| value(field)).collect());
    Ok((columns, rows))
}

fn column(field: &Type) -> Result<TypedColumn, TableError> {
    let name = field.name();
    if field.is_primitive() {
        return Ok(TypedColumn::new(name, kind(field)?));
    }
    let element = field.get_fields().first().and_then(|list| list.get_fields().first());
    match element.filter(|element| element.is_primitive()) {
        Some(element) => Ok(TypedColumn::list(name, kind(element)?)),
        None => Err(foreign(name)),
    }
}

fn kind(field: &Type) -> Result<Kind, TableError> {
    match (field.get_physical_type(), field.get_basic_info().logical_type_ref()) {
        (Physical::BYTE_ARRAY, Some(LogicalType::String)) => Ok(Kind::Text),
        (Physical::INT64, None) => Ok(Kind::Integer),
        (Physical::INT64, Some(logical)) if *logical == LogicalType::integer(64, false) => Ok(Kind::Unsigned),
        (Physical::DOUBLE, None) => Ok(Kind::Float),
        (Physical::BOOLEAN, None) => Ok(Kind::Boolean),
        _ => Err(foreign(field.name())),
    }
}

fn value(field: &Field) -> Result<ColumnValue<'static>, TableError> {
    Ok(match field {
        Field::Null => ColumnValue::Null,
        Field::Str(text) => ColumnValue::Text(Cow::Owned(text.clone())),
        Field::Long(n) => (*n).into(),
        Field::ULong(n) => (*n).into(),
        Field::Double(x) => ColumnValue::Float(*x),
        Field::Bool(on) => ColumnValue::Boolean(*on),
        Field::ListInternal(list) => {
            ColumnValue::List(list.elements().iter().map(value).collect::<Result<_, _>>()?)
        }
        other => return Err(foreign(&other.to_string())),
    })
}

fn foreign(name: &str) -> TableError {
    TableError::Columns(format!("`{name}` is of a type that wug does not write"))
}
