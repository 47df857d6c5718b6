//! Tables of the store and how old versions become the present one.

use rusqlite::Connection;

/// Marks the file as ours: "TRWR" in ASCII.
const APPLICATION_ID: i32 = 0x5452_5752;

/// Each entry turns version n into n + 1; an entry never changes once released.
const MIGRATIONS: [&str; 5] = [
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
    r"
    CREATE TABLE cluster_task (
        study INTEGER NOT NULL,
        number INTEGER NOT NULL,
        place INTEGER NOT NULL,
        description TEXT NOT NULL,
        PRIMARY KEY (study, number, place)
    ) WITHOUT ROWID;
",
    r"
    CREATE TABLE exclusion (
        study INTEGER NOT NULL,
        number INTEGER NOT NULL,
        reason TEXT NOT NULL,
        excluded_ms INTEGER NOT NULL,
        PRIMARY KEY (study, number)
    ) WITHOUT ROWID;
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A store in memory as a program of that version left it.
    fn of_version(found: u32) -> Connection {
        let connection = Connection::open_in_memory().unwrap();
        for migration in MIGRATIONS.iter().take(found as usize) {
            connection.execute_batch(migration).unwrap();
        }
        if found > 0 {
            connection.pragma_update(None, "application_id", APPLICATION_ID).unwrap();
            connection.pragma_update(None, "user_version", found).unwrap();
        }
        connection
    }

    fn tables(connection: &Connection) -> Vec<String> {
        let mut found: Vec<String> = connection
            .prepare(
                "SELECT name || ': ' || group_concat(column) FROM (SELECT m.name AS name,
                      p.name || ' ' || p.type AS column FROM sqlite_schema m
                      JOIN pragma_table_info(m.name) p WHERE m.type = 'table'
                      ORDER BY m.name, p.name) GROUP BY name",
            )
            .unwrap()
            .query_map([], |row| row.get(0))
            .unwrap()
            .collect::<Result<_, _>>()
            .unwrap();
        found.sort();
        found
    }

    #[test]
    fn every_older_version_becomes_the_present_one() {
        let mut fresh = of_version(0);
        migrate(&mut fresh).unwrap();
        assert_eq!(tables(&fresh).len(), 10);
        for found in 1..=VERSION {
            let mut older = of_version(found);
            migrate(&mut older).unwrap();
            assert_eq!(version(&older).unwrap(), VERSION, "from {found}");
            assert_eq!(tables(&older), tables(&fresh), "from {found}");
        }
    }

    #[test]
    fn a_present_store_is_left_as_it_is() {
        let mut connection = of_version(VERSION);
        connection.execute("UPDATE change SET number = 9", []).unwrap();
        migrate(&mut connection).unwrap();
        let number: i64 =
            connection.query_row("SELECT number FROM change", [], |row| row.get(0)).unwrap();
        assert_eq!(number, 9);
    }

    #[test]
    fn the_time_that_older_trials_took_is_what_their_usage_says() {
        let mut connection = of_version(2);
        connection
            .execute_batch(
                r#"INSERT INTO study VALUES (1, 's', '{}', '', 0);
                   INSERT INTO trial (study, number, replicate, seed, configuration, state, usage)
                   VALUES (1, 1, 1, 0, '{}', 'finished', '{"wall_s":2.5}'),
                          (1, 2, 1, 0, '{}', 'finished', '{}'),
                          (1, 3, 1, 0, '{}', 'planned', NULL);"#,
            )
            .unwrap();
        migrate(&mut connection).unwrap();
        let used: Vec<f64> = connection
            .prepare("SELECT used_s FROM trial ORDER BY number")
            .unwrap()
            .query_map([], |row| row.get(0))
            .unwrap()
            .collect::<Result<_, _>>()
            .unwrap();
        assert_eq!(used, [2.5, 0.0, 0.0]);
    }

    #[test]
    fn a_migration_that_fails_changes_nothing() {
        let mut connection = of_version(1);
        connection.execute_batch("CREATE TABLE progress (mine TEXT)").unwrap();
        assert!(migrate(&mut connection).is_err());
        assert_eq!(version(&connection).unwrap(), 1);
        let columns = "SELECT count(*) FROM pragma_table_info('trial') WHERE name = 'block'";
        let added: u32 = connection.query_row(columns, [], |row| row.get(0)).unwrap();
        assert_eq!(added, 0);
    }

    #[test]
    fn only_an_empty_file_or_one_with_our_mark_is_ours() {
        let foreign = |script: &str| {
            let connection = Connection::open_in_memory().unwrap();
            connection.execute_batch(script).unwrap();
            is_foreign(&connection).unwrap()
        };
        assert!(!foreign(""));
        assert!(!foreign("PRAGMA application_id = 1414682450; CREATE TABLE t (x);"));
        assert!(foreign("CREATE TABLE t (x);"));
        assert!(foreign("PRAGMA user_version = 3;"));
        assert!(foreign("PRAGMA application_id = 7;"));
        assert_eq!(APPLICATION_ID.to_be_bytes(), *b"TRWR");
    }
}
