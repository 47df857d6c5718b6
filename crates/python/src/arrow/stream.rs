//! A table as an Arrow C stream of one batch.

use std::ffi::{c_char, c_int, c_void};
use std::ptr;
use std::sync::Arc;

use super::c_data::{ArrowArray, ArrowArrayStream, ArrowSchema};
use super::{Column, Table, schema};

/// What a stream owns.
struct Source {
    table: Table,
    given: bool,
}

/// What an array owns: a share of the table, the list of its buffers, and its children.
struct Owned {
    columns: Arc<Vec<Column>>,
    buffers: Vec<*const c_void>,
    children: Vec<*mut ArrowArray>,
}

/// The stream of a table.
pub(super) fn of_table(table: Table) -> ArrowArrayStream {
    ArrowArrayStream {
        get_schema: Some(get_schema),
        get_next: Some(get_next),
        get_last_error: Some(get_last_error),
        release: Some(release_stream),
        private_data: Box::into_raw(Box::new(Source { table, given: false })).cast(),
    }
}

unsafe extern "C" fn get_schema(stream: *mut ArrowArrayStream, out: *mut ArrowSchema) -> c_int {
    // SAFETY: the caller passes a whole stream of ours, and room for a schema.
    unsafe {
        let source = &*(*stream).private_data.cast::<Source>();
        ptr::write(out, schema::of_table(&source.table));
    }
    0
}

unsafe extern "C" fn get_next(stream: *mut ArrowArrayStream, out: *mut ArrowArray) -> c_int {
    // SAFETY: the caller passes a whole stream of ours, and room for an array.
    unsafe {
        let source = &mut *(*stream).private_data.cast::<Source>();
        let array = if source.given { ended() } else { whole(&source.table) };
        source.given = true;
        ptr::write(out, array);
    }
    0
}

unsafe extern "C" fn get_last_error(_: *mut ArrowArrayStream) -> *const c_char {
    // Nothing here fails.
    ptr::null()
}

unsafe extern "C" fn release_stream(stream: *mut ArrowArrayStream) {
    // SAFETY: the caller passes a whole stream of ours; `private_data` came from a box.
    unsafe {
        drop(Box::from_raw((*stream).private_data.cast::<Source>()));
        (*stream).release = None;
        (*stream).private_data = ptr::null_mut();
    }
}

/// The array that says that there are no more: a released one.
fn ended() -> ArrowArray {
    ArrowArray {
        length: 0,
        null_count: 0,
        offset: 0,
        n_buffers: 0,
        n_children: 0,
        buffers: ptr::null_mut(),
        children: ptr::null_mut(),
        dictionary: ptr::null_mut(),
        release: None,
        private_data: ptr::null_mut(),
    }
}

/// All rows as a structure with a child a column.
fn whole(table: &Table) -> ArrowArray {
    let child = |column: &Column| {
        let (rows, missing) = (column.rows(), column.missing());
        let array = array(&table.columns, rows, missing, column.buffers(), Vec::new());
        Box::into_raw(Box::new(array))
    };
    let children = table.columns().map(child).collect();
    // A structure has one buffer, its presence bits, which are absent here.
    array(&table.columns, table.rows(), 0, vec![ptr::null()], children)
}

fn array(
    columns: &Arc<Vec<Column>>,
    rows: usize,
    missing: usize,
    buffers: Vec<*const c_void>,
    children: Vec<*mut ArrowArray>,
) -> ArrowArray {
    let mut owned = Box::new(Owned { columns: Arc::clone(columns), buffers, children });
    ArrowArray {
        length: rows as i64,
        null_count: missing as i64,
        offset: 0,
        n_buffers: owned.buffers.len() as i64,
        n_children: owned.children.len() as i64,
        buffers: owned.buffers.as_mut_ptr(),
        children: owned.children.as_mut_ptr(),
        dictionary: ptr::null_mut(),
        release: Some(release_array),
        private_data: Box::into_raw(owned).cast(),
    }
}

/// Frees an array and those children that nobody has taken over; the last one frees the table.
unsafe extern "C" fn release_array(array: *mut ArrowArray) {
    // SAFETY: the caller passes a whole array of ours; `private_data` came from a box in `array`,
    // and so did every child.
    unsafe {
        let owned = Box::from_raw((*array).private_data.cast::<Owned>());
        for &child in &owned.children {
            if let Some(release) = (*child).release {
                release(child);
            }
            drop(Box::from_raw(child));
        }
        drop(owned.columns);
        (*array).release = None;
        (*array).private_data = ptr::null_mut();
    }
}
