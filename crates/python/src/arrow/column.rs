//! Cells in Arrow's layout: values, and a bit a cell that says whether there is one.

use std::ffi::{CStr, c_void};

use pyo3::prelude::*;
use pyo3::types::PyList;
use trainwright::{Cells, TrialColumn};

/// A named column.
pub(crate) struct Column {
    name: String,
    values: Values,
    /// A bit a cell, least significant first; absent where every cell has a value.
    valid: Option<Vec<u8>>,
    rows: usize,
    missing: usize,
}

enum Values {
    Integers(Vec<i64>),
    Numbers(Vec<f64>),
    /// A bit a cell.
    Truths(Vec<u8>),
    /// Where each text begins in the bytes, and where the last one ends.
    Texts {
        offsets: Vec<i64>,
        bytes: Vec<u8>,
    },
}

impl Column {
    pub(super) fn new(column: TrialColumn) -> Self {
        let TrialColumn { name, cells } = column;
        let (values, present) = match cells {
            Cells::Integers(cells) => (Values::Integers(filled(&cells)), presence(&cells)),
            Cells::Numbers(cells) => (Values::Numbers(filled(&cells)), presence(&cells)),
            Cells::Truths(cells) => {
                let truths: Vec<bool> = filled(&cells);
                (Values::Truths(bits(&truths)), presence(&cells))
            }
            Cells::Texts(cells) => (texts(&cells), presence(&cells)),
        };
        let (rows, missing) = (present.len(), present.iter().filter(|own| !**own).count());
        let valid = (missing > 0).then(|| bits(&present));
        Self { name, values, valid, rows, missing }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// Cells without a value.
    pub(super) fn missing(&self) -> usize {
        self.missing
    }

    /// Arrow's word for the type.
    pub(super) fn format(&self) -> &'static CStr {
        match self.values {
            Values::Integers(_) => c"l",
            Values::Numbers(_) => c"g",
            Values::Truths(_) => c"b",
            Values::Texts { .. } => c"U",
        }
    }

    /// Where the presence bits and the values lie.
    pub(super) fn buffers(&self) -> Vec<*const c_void> {
        let valid = self.valid.as_ref().map_or(std::ptr::null(), |own| own.as_ptr().cast());
        match &self.values {
            Values::Integers(values) => vec![valid, values.as_ptr().cast()],
            Values::Numbers(values) => vec![valid, values.as_ptr().cast()],
            Values::Truths(values) => vec![valid, values.as_ptr().cast()],
            Values::Texts { offsets, bytes } => {
                vec![valid, offsets.as_ptr().cast(), bytes.as_ptr().cast()]
            }
        }
    }

    /// The cells as a Python list.
    pub(crate) fn to_list<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let has = |row: usize| self.valid.as_ref().is_none_or(|own| bit(own, row));
        let rows = 0..self.rows;
        let list = match &self.values {
            Values::Integers(own) => PyList::new(py, rows.map(|row| has(row).then(|| own[row]))),
            Values::Numbers(own) => PyList::new(py, rows.map(|row| has(row).then(|| own[row]))),
            Values::Truths(own) => PyList::new(py, rows.map(|row| has(row).then(|| bit(own, row)))),
            Values::Texts { offsets, bytes } => {
                let text = |row: usize| {
                    let span = offsets[row] as usize..offsets[row + 1] as usize;
                    String::from_utf8_lossy(&bytes[span])
                };
                PyList::new(py, rows.map(|row| has(row).then(|| text(row))))
            }
        };
        Ok(list?.into_any())
    }
}

/// The values, with a blank where there is none.
fn filled<T: Copy + Default>(cells: &[Option<T>]) -> Vec<T> {
    cells.iter().map(|cell| cell.unwrap_or_default()).collect()
}

fn presence<T>(cells: &[Option<T>]) -> Vec<bool> {
    cells.iter().map(Option::is_some).collect()
}

fn bits(truths: &[bool]) -> Vec<u8> {
    let byte = |eight: &[bool]| {
        eight.iter().enumerate().fold(0u8, |byte, (place, own)| byte | u8::from(*own) << place)
    };
    truths.chunks(8).map(byte).collect()
}

fn bit(bytes: &[u8], place: usize) -> bool {
    bytes[place / 8] >> (place % 8) & 1 == 1
}

fn texts(cells: &[Option<String>]) -> Values {
    let (mut offsets, mut bytes) = (vec![0], Vec::new());
    for cell in cells {
        bytes.extend_from_slice(cell.as_deref().unwrap_or_default().as_bytes());
        offsets.push(bytes.len() as i64);
    }
    Values::Texts { offsets, bytes }
}
