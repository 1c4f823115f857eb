//! From TOML values with spans to typed tables. A mistake is reported and reading goes on, so that one pass finds them
//! all.
//!
//! The `table!` macro makes one definition the struct, its JSON Schema and its reader. A misspelt key is reported once
//! and then read as the field that was meant, so that it causes no further errors.

use std::ops::Range;
use std::sync::Arc;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::diagnostic::{Diagnostic, Diagnostics, Place, SourceText, suggest};
use crate::nearest::nearest;

/// A value with its place in the text.
pub(crate) type Item<'a> = Spanned<DeValue<'a>>;

/// A type that can be read from a TOML value. `None` means that the mistake has been reported.
pub(crate) trait Read: Sized {
    fn read(item: &Item<'_>, reader: &mut Reader<'_>) -> Option<Self>;

    /// What a missing key means; nothing, if it may not be missing.
    fn missing() -> Option<Self> {
        None
    }
}

impl<T: Read> Read for Option<T> {
    fn read(item: &Item<'_>, reader: &mut Reader<'_>) -> Option<Self> {
        T::read(item, reader).map(Some)
    }
    fn missing() -> Option<Self> {
        Some(None)
    }
}

/// An array; a single `[table]` where `[[table]]` is meant gets its own hint.
impl<T: Read> Read for Vec<T> {
    fn read(item: &Item<'_>, reader: &mut Reader<'_>) -> Option<Self> {
        let DeValue::Array(array) = item.get_ref() else {
            let field = reader.field.clone();
            let error = reader.wrong_type(item, "a list");
            if matches!(item.get_ref(), DeValue::Table(_)) {
                error.hint(format!("write [[{field}]] with double brackets: there may be several"));
            }
            return None;
        };
        let mut all = Some(Vec::with_capacity(array.len()));
        for (i, item) in array.iter().enumerate() {
            if reader.out.is_full() {
                return None;
            }
            let read = reader.inside(&format!("[{i}]"), |reader| T::read(item, reader));
            match (&mut all, read) {
                (Some(all), Some(read)) => all.push(read),
                _ => all = None,
            }
        }
        all
    }
}

impl Read for bool {
    fn read(item: &Item<'_>, reader: &mut Reader<'_>) -> Option<Self> {
        match item.get_ref() {
            DeValue::Boolean(value) => Some(*value),
            _ => {
                reader.wrong_type(item, "true or false");
                None
            }
        }
    }
}

/// Keeps the path to the present value.
pub(crate) struct Reader<'a> {
    pub(crate) source: Arc<SourceText>,
    pub(crate) field: Arc<str>,
    pub(crate) out: &'a mut Diagnostics,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(source: &Arc<SourceText>, field: &str, out: &'a mut Diagnostics) -> Self {
        Reader { source: source.clone(), field: field.into(), out }
    }

    /// Reads something one step further down the path.
    pub(crate) fn inside<T>(&mut self, step: &str, read: impl FnOnce(&mut Reader<'_>) -> T) -> T {
        let outer = self.enter(step);
        let result = read(self);
        self.field = outer;
        result
    }

    /// Lengthens the path; the path before.
    fn enter(&mut self, step: &str) -> Arc<str> {
        let separator = if self.field.is_empty() || step.starts_with('[') { "" } else { "." };
        let longer: Arc<str> = format!("{}{separator}{step}", self.field).into();
        std::mem::replace(&mut self.field, longer)
    }

    pub(crate) fn place(&self, span: Range<usize>) -> Place {
        Place { source: self.source.clone(), span, field: self.field.clone() }
    }

    pub(crate) fn error(&mut self, span: Range<usize>, message: impl Into<String>) -> &mut Diagnostic {
        let place = self.place(span);
        self.out.error(&place, message)
    }

    pub(crate) fn wrong_type(&mut self, item: &Item<'_>, expected: &str) -> &mut Diagnostic {
        let found = kind(item.get_ref());
        self.error(item.span(), format!("expected {expected}, found {found}"))
    }

    pub(crate) fn table<'t, 'i>(&mut self, item: &'t Item<'i>) -> Option<&'t DeTable<'i>> {
        match item.get_ref() {
            DeValue::Table(table) => Some(table),
            _ => {
                self.wrong_type(item, "a table");
                None
            }
        }
    }

    /// Reports keys that no field has; returns the misspelt ones with the fields that are meant.
    pub(crate) fn unknown_keys<'t, 'i>(
        &mut self,
        table: &'t DeTable<'i>,
        fields: &[&'static str],
    ) -> Vec<(&'static str, &'t Item<'i>)> {
        let mut meant = Vec::new();
        for (key, item) in ordered(table) {
            let name: &str = key.get_ref();
            if fields.contains(&name) {
                continue;
            }
            if self.out.is_full() {
                return meant;
            }
            let near = nearest(name, fields.iter().copied()).and_then(|near| fields.iter().find(|f| **f == near));
            let hint = suggest(name, fields.iter().copied(), false, || format!("valid keys: {}", fields.join(", ")));
            self.inside(name, |reader| {
                reader.error(key.span(), format!("unknown key `{name}`")).hint(hint);
            });
            if let Some(near) = near
                && !table.contains_key(*near)
            {
                meant.push((*near, item));
            }
        }
        meant
    }

    /// Reads a field of a table, or what was meant by it.
    pub(crate) fn field<T: Read>(
        &mut self,
        table: &DeTable<'_>,
        key: &'static str,
        meant: &[(&'static str, &Item<'_>)],
        place: &Place,
    ) -> Option<T> {
        if let Some(item) = given(table, key, meant) {
            return self.inside(key, |reader| T::read(item, reader));
        }
        let value = T::missing();
        if value.is_none() {
            self.missing(table, key, place);
        }
        value
    }

    /// Reports a field that may not be missing.
    fn missing(&mut self, table: &DeTable<'_>, key: &'static str, place: &Place) {
        let near = nearest(key, table.keys().map(|key| key.get_ref().as_ref())).map(str::to_string);
        self.inside(key, |reader| {
            let error = reader.error(place.span.clone(), format!("the field `{key}` is missing"));
            error.hint = near.map(|near| format!("is `{near}` meant to be `{key}`?"));
        });
    }
}

/// The value of a field in a table, or what was meant by it.
fn given<'t, 'i>(
    table: &'t DeTable<'i>,
    key: &'static str,
    meant: &[(&'static str, &'t Item<'i>)],
) -> Option<&'t Item<'i>> {
    let misspelt = || meant.iter().find(|(field, _)| *field == key).map(|(_, item)| *item);
    table.get(key).or_else(misspelt)
}

/// The entries of a table in the order of the text.
pub(crate) fn ordered<'t, 'i>(table: &'t DeTable<'i>) -> Vec<(&'t Spanned<std::borrow::Cow<'i, str>>, &'t Item<'i>)> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    entries
}

/// The kind of a value in words, with the value where it is short.
pub(crate) fn kind(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) if text.chars().count() <= 24 => format!("the text {text:?}"),
        DeValue::String(_) => "a text".into(),
        DeValue::Integer(number) => format!("the integer {number}"),
        DeValue::Float(number) => format!("the number {number}"),
        DeValue::Boolean(value) => format!("the boolean {value}"),
        DeValue::Datetime(date) => format!("the date {date}"),
        DeValue::Array(_) => "a list".into(),
        DeValue::Table(_) => "a table".into(),
    }
}

/// Defines a table of the file: the struct, its JSON Schema and its reader. Fields that are `Option`s may be missing. A
/// key that is a word of the language is given after the name of its field: `region as "where"`.
macro_rules! table {
    (@key $field:ident) => { stringify!($field) };
    (@key $field:ident $key:literal) => { $key };
    ($(#[$meta:meta])* pub struct $name:ident { $($(#[$about:meta])* pub $field:ident $(as $key:literal)?: $type:ty,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Debug, schemars::JsonSchema)]
        #[schemars(deny_unknown_fields)]
        pub struct $name {
            $($(#[$about])* $(#[schemars(rename = $key)])? pub $field: $type,)*
            /// Where the table stands.
            #[schemars(skip)]
            pub place: $crate::diagnostic::Place,
        }

        impl $name {
            /// The keys of the table.
            pub const KEYS: &'static [&'static str] = &[$($crate::file::reader::table!(@key $field $($key)?)),*];
        }

        impl $crate::file::reader::Read for $name {
            fn read(
                item: &$crate::file::reader::Item<'_>,
                reader: &mut $crate::file::reader::Reader<'_>,
            ) -> Option<Self> {
                let table = reader.table(item)?;
                let meant = reader.unknown_keys(table, Self::KEYS);
                let place = reader.place(item.span());
                $(let $field = reader.field::<$type>(table, $crate::file::reader::table!(@key $field $($key)?), &meant, &place);)*
                Some($name { $($field: $field?,)* place })
            }
        }
    };
}
pub(crate) use table;
