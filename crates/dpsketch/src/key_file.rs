use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use dp_noise::{NoiseRng, rand_core::Rng};
use sketch_hash::HashKey;

use crate::error::{Error, ErrorKind};
use crate::output_file::{OutputFile, Readers};

/// The first line of a key file.
const TITLE: &str = "dpsketch hash key v1";

/// No key file is longer.
const MAX_LEN: u64 = 4096;

/// Makes a key from the operating system's randomness and writes it to a new file that only its owner may read.
///
/// The file is text: a title line, then the key as 32 hexadecimal digits. All parties of a study need the same file.
///
/// # Errors
/// [`ErrorKind::Parameter`] when there is a file of that name already (a lost key cannot be made again),
/// [`ErrorKind::Io`] when it cannot be written, [`ErrorKind::Entropy`] without randomness.
///
/// # Examples
/// ```
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("study.key");
/// let key = dpsketch::create_key_file(&path)?;
/// assert_eq!(dpsketch::read_key_file(&path)?, key);
/// assert!(dpsketch::create_key_file(&path).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn create_key_file(path: &Path) -> Result<HashKey, Error> {
    let output = OutputFile::create_new(path, Readers::OwnerOnly)?;
    let mut bytes = [0; 16];
    NoiseRng::from_os()?.fill_bytes(&mut bytes);
    let key = HashKey::from_bytes(bytes);
    output.commit(format!("{TITLE}\n{}\n", key.to_hex()).as_bytes())?;
    Ok(key)
}

/// Reads a key file.
///
/// # Errors
/// [`ErrorKind::Unreadable`] when it cannot be opened, [`ErrorKind::Damaged`] when it is no key file. What is in the file
/// is never part of the message.
pub fn read_key_file(path: &Path) -> Result<HashKey, Error> {
    let name = path.display().to_string();
    let told = |error: Error| error.argument("--key-file").value(&name);
    let text = read_text(path).map_err(|error| told(Error::reading(&name, error)))?;
    let no_key = || {
        told(
            Error::new(ErrorKind::Damaged, format!("{name} is not a key file"))
                .allowed(format!("a first line {TITLE:?}, then 32 hexadecimal digits"))
                .hint("make one with `dpsketch key new`, and give all parties the same file"),
        )
    };
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    match (lines.next(), lines.next(), lines.next()) {
        (Some(TITLE), Some(key), None) => HashKey::from_hex(key).map_err(|error| no_key().caused_by(error)),
        _ => Err(no_key()),
    }
}

fn read_text(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    File::open(path)?.take(MAX_LEN).read_to_string(&mut text)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_key_file_is_refused_without_showing_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("k");
        let hex = "00112233445566778899aabbccddeeff";
        for text in [
            "",
            hex,
            TITLE,
            "dpsketch hash key v2\n00",
            &format!("{TITLE}\n{hex}0\n"),
            &format!("{TITLE}\n{hex}\n{hex}"),
        ] {
            std::fs::write(&path, text).unwrap();
            let error = read_key_file(&path).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Damaged, "{text}");
            assert!(!error.to_text().contains(&hex[..8]));
        }
        std::fs::write(&path, format!("{TITLE}\r\n\r\n  {hex}  \r\n")).unwrap();
        assert_eq!(read_key_file(&path).unwrap().to_hex(), hex);
    }

    #[test]
    fn two_keys_are_never_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let keys = ["a", "b"].map(|name| create_key_file(&folder.path().join(name)).unwrap());
        assert_ne!(keys[0], keys[1]);
    }
}
