//! The type of a table as an Arrow C schema.

use std::ffi::{CStr, CString, c_void};
use std::ptr;

use super::c_data::ArrowSchema;
use super::{Column, Table};

/// A cell may be empty.
const NULLABLE: i64 = 2;

/// What a schema owns.
struct Owned {
    format: CString,
    name: CString,
    children: Vec<*mut ArrowSchema>,
}

/// The schema of a table: a structure with a field a column.
pub(super) fn of_table(table: &Table) -> ArrowSchema {
    let children = table.columns().map(|column| Box::into_raw(Box::new(of_column(column))));
    schema(c"+s", "", 0, children.collect())
}

fn of_column(column: &Column) -> ArrowSchema {
    schema(column.format(), column.name(), NULLABLE, Vec::new())
}

fn schema(format: &CStr, name: &str, flags: i64, children: Vec<*mut ArrowSchema>) -> ArrowSchema {
    // No name holds a zero byte: factors and metrics are checked, the others are ours.
    let name = CString::new(name.replace('\0', "")).unwrap_or_default();
    let mut owned = Box::new(Owned { format: format.to_owned(), name, children });
    ArrowSchema {
        format: owned.format.as_ptr(),
        name: owned.name.as_ptr(),
        metadata: ptr::null(),
        flags,
        n_children: owned.children.len() as i64,
        children: owned.children.as_mut_ptr(),
        dictionary: ptr::null_mut(),
        release: Some(release),
        private_data: Box::into_raw(owned).cast::<c_void>(),
    }
}

/// Frees a schema and those children that nobody has taken over.
unsafe extern "C" fn release(schema: *mut ArrowSchema) {
    // SAFETY: the caller passes a whole schema of ours; `private_data` came from a box in `schema`,
    // and so did every child.
    unsafe {
        let owned = Box::from_raw((*schema).private_data.cast::<Owned>());
        for child in owned.children {
            drop(Box::from_raw(child));
        }
        (*schema).release = None;
        (*schema).private_data = ptr::null_mut();
    }
}
