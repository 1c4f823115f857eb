//! Values of Python as those of JSON, and back.

use pyo3::IntoPyObjectExt;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use serde_json::{Map, Number, Value};

/// Deeper tables are nobody's.
const DEEPEST: usize = 64;

/// A value of Python as JSON; numbers of NumPy are numbers, its arrays are lists.
pub fn to_json(value: &Bound<'_, PyAny>) -> PyResult<Value> {
    json(value, 0)
}

fn json(value: &Bound<'_, PyAny>, depth: usize) -> PyResult<Value> {
    if depth > DEEPEST {
        return Err(PyValueError::new_err("the table is nested too deeply"));
    }
    if value.is_none() {
        return Ok(Value::Null);
    }
    if let Ok(flag) = value.cast::<PyBool>() {
        return Ok(Value::Bool(flag.is_true()));
    }
    if value.is_instance_of::<PyFloat>() {
        return number(value.extract()?);
    }
    if value.is_instance_of::<PyInt>() {
        return match value.extract::<i64>() {
            Ok(whole) => Ok(whole.into()),
            Err(_) => number(value.extract()?),
        };
    }
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(Value::String(text.to_str()?.to_owned()));
    }
    if let Ok(dict) = value.cast::<PyDict>() {
        let mut map = Map::new();
        for (key, entry) in dict.iter() {
            let Ok(key) = key.cast::<PyString>() else {
                return Err(PyTypeError::new_err("keys of tables are strings"));
            };
            map.insert(key.to_str()?.to_owned(), json(&entry, depth + 1)?);
        }
        return Ok(Value::Object(map));
    }
    if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        let items = value.try_iter()?.map(|item| json(&item?, depth + 1));
        return Ok(Value::Array(items.collect::<PyResult<_>>()?));
    }
    // arrays and numbers of NumPy
    if value.hasattr("tolist")? {
        return json(&value.call_method0("tolist")?, depth + 1);
    }
    if value.hasattr("__index__")? {
        return json(&value.call_method0("__index__")?, depth + 1);
    }
    if value.hasattr("__float__")? {
        return number(value.extract()?);
    }
    let kind = value.get_type().name()?;
    Err(PyTypeError::new_err(format!("numbers, strings, lists and dictionaries are wanted here, not `{kind}`")))
}

fn number(x: f64) -> PyResult<Value> {
    Number::from_f64(x).map(Value::Number).ok_or_else(|| PyValueError::new_err(format!("{x} is no finite number")))
}

/// JSON as a value of Python.
pub fn to_python<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    match value {
        Value::Null => Ok(py.None().into_bound(py)),
        Value::Bool(flag) => flag.into_bound_py_any(py),
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(whole), _) => whole.into_bound_py_any(py),
            (_, Some(whole)) => whole.into_bound_py_any(py),
            _ => number.as_f64().unwrap_or(f64::NAN).into_bound_py_any(py),
        },
        Value::String(text) => text.into_bound_py_any(py),
        Value::Array(items) => {
            let list = PyList::empty(py);
            for item in items {
                list.append(to_python(py, item)?)?;
            }
            Ok(list.into_any())
        }
        Value::Object(map) => {
            let dict = PyDict::new(py);
            for (key, entry) in map {
                dict.set_item(key, to_python(py, entry)?)?;
            }
            Ok(dict.into_any())
        }
    }
}
