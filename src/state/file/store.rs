//! The database of a ledger: one table in a `redb` file.
//!
//! `redb` syncs a commit before it returns, recovers the last complete commit after a crash, and locks the
//! file. It does not verify a file that was closed cleanly, so a copy in memory is verified first. A damaged
//! or foreign file is refused before anything is written to it.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use redb::backends::InMemoryBackend;
use redb::{
    Builder, Database, DatabaseError, ReadableDatabase as _, ReadableTable as _, StorageBackend as _,
    StorageError, TableDefinition, TableHandle as _,
};

use super::error::{Damage, OpenError};
use crate::domain::{AllocationKey, ClusterName};

/// Allocation, group, kind, namespace and name.
type Key = (&'static str, &'static str, &'static str, &'static str, &'static str);

/// Maps allocations to clusters. The name of the table has the version of the format.
const TABLE: TableDefinition<'_, Key, &str> = TableDefinition::new("reviser-ledger-v2");
const TABLE_PREFIX: &str = "reviser-ledger-v";

/// The start of ledgers in the text format of earlier versions.
const TEXT_FORMAT: &[u8] = b"reviser-ledger v";

/// A ledger is read once and then only written, so a larger cache has no benefit.
const CACHE_BYTES: usize = 1 << 20;

pub(super) type Entries = HashMap<AllocationKey, ClusterName>;

/// An open ledger. Holds the lock on the file.
pub(super) struct Store(pub(super) Database);

impl Store {
    /// Opens the ledger at `path`. Creates an empty one if there is no file or an empty file.
    pub(super) fn create(path: &Path) -> Result<(Self, Entries), OpenError> {
        create_if_empty(path)?;
        Self::open(path)
    }

    /// Opens the existing ledger at `path`.
    pub(super) fn open(path: &Path) -> Result<(Self, Entries), OpenError> {
        let entries = examine(path)?;
        let failed = |error: DatabaseError| match error {
            DatabaseError::DatabaseAlreadyOpen => OpenError::Held(path.to_owned()),
            DatabaseError::Storage(StorageError::Io(source)) => {
                OpenError::io("open the ledger", path)(source)
            }
            other => {
                OpenError::Damaged { path: path.to_owned(), damage: Damage::Corrupted(other.to_string()) }
            }
        };
        let database = Builder::new().set_cache_size(CACHE_BYTES).open(path).map_err(failed)?;
        // The process that created this file may have been killed before it synced the directory.
        sync_directory(path).map_err(OpenError::io("sync the directory of the ledger", path))?;
        Ok((Self(database), entries))
    }

    /// Writes the changes in one transaction and syncs it. After an error the ledger must be opened again.
    pub(super) fn write(&self, changes: &[(&AllocationKey, &ClusterName)]) -> Result<(), redb::Error> {
        let transaction = self.0.begin_write()?;
        {
            let mut table = transaction.open_table(TABLE)?;
            for (key, cluster) in changes {
                table.insert(fields(key), cluster.as_str())?;
            }
        }
        Ok(transaction.commit()?)
    }
}

fn fields(key: &AllocationKey) -> (&str, &str, &str, &str, &str) {
    (&key.allocation, &key.group, &key.kind, &key.namespace, &key.name)
}

/// Reads the entries of a ledger and verifies every page, without modifying the file.
fn examine(path: &Path) -> Result<Entries, OpenError> {
    let file =
        File::options().read(true).write(true).open(path).map_err(OpenError::io("open the ledger", path))?;
    // Prevents writes of other processes during the read. `redb` takes its own lock later.
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(OpenError::Held(path.to_owned())),
        Err(TryLockError::Error(source)) => return Err(OpenError::io("lock the ledger", path)(source)),
    }
    let bytes = fs::read(path);
    // Unlock explicitly, because a child process that is being started may have a copy of the file
    // descriptor.
    file.unlock().map_err(OpenError::io("unlock the ledger", path))?;
    let bytes = bytes.map_err(OpenError::io("read the ledger", path))?;
    let damaged = |damage| OpenError::Damaged { path: path.to_owned(), damage };
    if bytes.starts_with(TEXT_FORMAT) {
        return Err(damaged(Damage::TextFormat));
    }
    let copy = InMemoryBackend::new();
    copy.set_len(bytes.len() as u64)
        .and_then(|()| copy.write(0, &bytes))
        .map_err(OpenError::io("copy the ledger", path))?;
    drop(bytes);
    entries(copy).map_err(damaged)
}

/// The entries in a copy of a file. Verifies the copy.
fn entries(copy: InMemoryBackend) -> Result<Entries, Damage> {
    let mut builder = Builder::new();
    let builder = builder.set_cache_size(CACHE_BYTES).set_check_integrity_on_open(true);
    let database = builder.create_with_backend(copy).map_err(|error| match error {
        DatabaseError::Storage(StorageError::Io(error)) if error.kind() == io::ErrorKind::InvalidData => {
            Damage::Foreign
        }
        other => Damage::Corrupted(other.to_string()),
    })?;
    read(&database).unwrap_or_else(|error| Err(Damage::Corrupted(error.to_string())))
}

fn read(database: &Database) -> Result<Result<Entries, Damage>, redb::Error> {
    let transaction = database.begin_read()?;
    let tables: Vec<String> = transaction.list_tables()?.map(|table| table.name().to_owned()).collect();
    if !tables.iter().any(|name| name == TABLE.name()) {
        let version = tables.iter().find_map(|name| name.strip_prefix(TABLE_PREFIX));
        return Ok(Err(version.map_or(Damage::NoTable, |version| Damage::Version(version.to_owned()))));
    }
    let mut entries = Entries::new();
    for entry in transaction.open_table(TABLE)?.iter()? {
        let (key, cluster) = entry?;
        let (allocation, group, kind, namespace, name) = key.value();
        let [allocation, group, kind, namespace, name] =
            [allocation, group, kind, namespace, name].map(str::to_owned);
        let key = AllocationKey { allocation, group, kind, namespace, name };
        let Some(cluster) = ClusterName::new(cluster.value()) else {
            return Ok(Err(Damage::Corrupted(format!("{key} is in a cluster without a name"))));
        };
        entries.insert(key, cluster);
    }
    Ok(Ok(entries))
}

/// Creates an empty ledger if there is no file or an empty file. Atomic: if the process is killed, the
/// previous state remains.
fn create_if_empty(path: &Path) -> Result<(), OpenError> {
    match fs::metadata(path) {
        Ok(metadata) if metadata.len() > 0 => return Ok(()),
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(OpenError::io("look at the ledger", path)(error));
        }
        _ => {}
    }
    let mut temporary = OsString::from(path);
    temporary.push(".tmp");
    let temporary = PathBuf::from(temporary);
    let failed = OpenError::io("create the ledger", path);
    let create = || -> Result<(), redb::Error> {
        match fs::remove_file(&temporary) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
        let database = Builder::new().create(&temporary)?;
        let transaction = database.begin_write()?;
        transaction.open_table(TABLE)?;
        transaction.commit()?;
        drop(database);
        if let Ok(metadata) = fs::metadata(path) {
            fs::set_permissions(&temporary, metadata.permissions())?;
        }
        fs::rename(&temporary, path)?;
        Ok(())
    };
    create().map_err(|error| {
        failed(match error {
            redb::Error::Io(error) => error,
            other => io::Error::other(other),
        })
    })
}

/// Syncs the directory entry of the file.
fn sync_directory(path: &Path) -> io::Result<()> {
    // `path` is resolved, so only the root has no parent.
    File::open(path.parent().unwrap_or(path))?.sync_all()
}
