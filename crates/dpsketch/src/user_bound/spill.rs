//! A temporary file that no name leads to.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// A file without a name, readable by the owner only, that is overwritten with zeros when it is dropped.
///
/// It is made inside a new private folder, which goes away at once: if the process is killed, no name is left behind, and
/// the system frees the space. On systems that cannot take the name from an open file it is deleted on closing instead.
#[derive(Debug)]
pub(super) struct SpillFile {
    file: File,
    len: u64,
    /// Kept until the file is closed where the folder cannot go first.
    _folder: Option<tempfile::TempDir>,
}

impl SpillFile {
    pub(super) fn create(parent: &Path) -> io::Result<Self> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(".dpsketch-");
        if let Some(permissions) = private(0o700) {
            builder.permissions(permissions);
        }
        let folder = builder.tempdir_in(parent)?;
        let file = tempfile::tempfile_in(folder.path())?;
        if let Some(permissions) = private(0o600) {
            file.set_permissions(permissions)?;
        }
        let folder = if cfg!(unix) { folder.close().map(|()| None)? } else { Some(folder) };
        Ok(Self { file, len: 0, _folder: folder })
    }

    /// Bytes written so far.
    pub(super) fn len(&self) -> u64 {
        self.len
    }

    pub(super) fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(self.len))?;
        // Whatever part of it gets written has to be wiped.
        self.len += bytes.len() as u64;
        self.file.write_all(bytes)
    }

    pub(super) fn read(&mut self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(offset))?;
        self.file.read_exact(bytes)
    }

    /// Overwrites everything, waits until the disk has it, and gives the space back.
    pub(super) fn wipe(&mut self) -> io::Result<()> {
        if self.len > 0 {
            self.overwrite()?;
            self.file.set_len(0)?;
            self.len = 0;
        }
        Ok(())
    }

    fn overwrite(&mut self) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(0))?;
        io::copy(&mut io::repeat(0).take(self.len), &mut self.file)?;
        self.file.sync_data()
    }
}

impl Drop for SpillFile {
    fn drop(&mut self) {
        // Reached with content only after another failure, which is the one to be reported.
        let _ = self.wipe();
    }
}

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "other systems have no modes")]
fn private(mode: u32) -> Option<std::fs::Permissions> {
    use std::os::unix::fs::PermissionsExt;
    Some(std::fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn private(_mode: u32) -> Option<std::fs::Permissions> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let mut file = SpillFile::create(folder.path()).unwrap();
        file.append(b"hello ").unwrap();
        file.append(b"world").unwrap();
        let mut bytes = [0; 5];
        file.read(4, &mut bytes).unwrap();
        assert_eq!((&bytes, file.len()), (b"o wor", 11));
    }

    #[cfg(unix)]
    #[test]
    fn no_name_leads_to_the_file_and_only_the_owner_may_read_it() {
        use std::os::unix::fs::MetadataExt;
        let folder = tempfile::tempdir().unwrap();
        let mut file = SpillFile::create(folder.path()).unwrap();
        file.append(b"sensitive").unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        let metadata = file.file.metadata().unwrap();
        assert_eq!((metadata.nlink(), metadata.mode() & 0o777), (0, 0o600));
    }

    #[test]
    fn wiping_overwrites_every_byte() {
        let folder = tempfile::tempdir().unwrap();
        let mut file = SpillFile::create(folder.path()).unwrap();
        file.append(&[7; 10_000]).unwrap();
        file.overwrite().unwrap();
        let mut bytes = [7; 10_000];
        file.read(0, &mut bytes).unwrap();
        assert!(bytes.iter().all(|byte| *byte == 0));
        file.wipe().unwrap();
        assert_eq!((file.len(), file.file.metadata().unwrap().len()), (0, 0));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn dropping_the_file_wipes_it() {
        use std::os::fd::AsRawFd;
        let folder = tempfile::tempdir().unwrap();
        let mut file = SpillFile::create(folder.path()).unwrap();
        file.append(b"sensitive").unwrap();
        // A second way to the same file outlives it.
        let witness = File::open(format!("/proc/self/fd/{}", file.file.as_raw_fd())).unwrap();
        drop(file);
        assert_eq!(witness.metadata().unwrap().len(), 0);
    }
}
