//! Tables of the store and how old versions become the present one.

use rusqlite::Connection;

/// Marks the file as ours: "TRWR" in ASCII.
const APPLICATION_ID: i32 = 0x5452_5752;

/// Each entry turns version n into n + 1; an entry never changes once released.
const MIGRATIONS: [&str; 3] = [
    r"
    CREATE TABLE study (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        fixed TEXT NOT NULL,
        source TEXT NOT NULL,
        created_ms INTEGER NOT NULL
    );
    CREATE TABLE machine (
        id INTEGER PRIMARY KEY,
        description TEXT NOT NULL UNIQUE
    );
    CREATE TABLE trial (
        study INTEGER NOT NULL REFERENCES study(id),
        number INTEGER NOT NULL,
        row INTEGER,
        replicate INTEGER NOT NULL,
        seed INTEGER NOT NULL,
        configuration TEXT NOT NULL,
        state TEXT NOT NULL,
        attempts INTEGER NOT NULL DEFAULT 0,
        imported INTEGER NOT NULL DEFAULT 0,
        started_ms INTEGER,
        machine INTEGER REFERENCES machine(id),
        command TEXT,
        environment TEXT,
        usage TEXT,
        reason TEXT,
        output_end TEXT,
        PRIMARY KEY (study, number)
    ) WITHOUT ROWID;
    CREATE TABLE measurement (
        study INTEGER NOT NULL,
        number INTEGER NOT NULL,
        metric TEXT NOT NULL,
        value REAL NOT NULL,
        in_range INTEGER NOT NULL,
        PRIMARY KEY (study, number, metric)
    ) WITHOUT ROWID;
    CREATE TABLE series (
        study INTEGER NOT NULL,
        number INTEGER NOT NULL,
        name TEXT NOT NULL,
        axis TEXT NOT NULL,
        unit TEXT NOT NULL,
        count INTEGER NOT NULL,
        columns BLOB NOT NULL,
        PRIMARY KEY (study, number, name)
    );
",
    r"
    ALTER TABLE trial ADD COLUMN block INTEGER;
    ALTER TABLE trial ADD COLUMN whole_plot INTEGER;
",
    r"
    CREATE TABLE change (number INTEGER NOT NULL);
    INSERT INTO change VALUES (0);
    CREATE TABLE circumstances (
        id INTEGER PRIMARY KEY,
        description TEXT NOT NULL UNIQUE
    );
    CREATE TABLE progress (
        study INTEGER NOT NULL,
        number INTEGER NOT NULL,
        elapsed_s REAL NOT NULL,
        latest TEXT NOT NULL,
        told_ms INTEGER NOT NULL,
        PRIMARY KEY (study, number)
    ) WITHOUT ROWID;
    ALTER TABLE trial ADD COLUMN circumstances INTEGER REFERENCES circumstances(id);
    ALTER TABLE trial ADD COLUMN used_s REAL NOT NULL DEFAULT 0;
    UPDATE trial SET used_s = coalesce(json_extract(usage, '$.wall_s'), 0) WHERE usage IS NOT NULL;
",
];

/// The version this program writes.
pub(crate) const VERSION: u32 = MIGRATIONS.len() as u32;

/// The version of an open store; 0 for an empty file.
pub(crate) fn version(connection: &Connection) -> rusqlite::Result<u32> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// Whether another program made the file: it has tables or a mark that are not ours.
pub(crate) fn is_foreign(connection: &Connection) -> rusqlite::Result<bool> {
    let mark: i32 = connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
    let tables: u32 =
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    let empty = mark == 0 && tables == 0 && version(connection)? == 0;
    Ok(mark != APPLICATION_ID && !empty)
}

/// Brings a store of an older version, or an empty file, to the present one in one step.
pub(crate) fn migrate(connection: &mut Connection) -> rusqlite::Result<()> {
    if version(connection)? == VERSION {
        return Ok(());
    }
    let transaction =
        connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    let found = version(&transaction)?;
    for migration in MIGRATIONS.iter().skip(found as usize) {
        transaction.execute_batch(migration)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", VERSION)?;
    transaction.commit()
}
