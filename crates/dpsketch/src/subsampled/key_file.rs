//! Files of sample keys.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use dp_noise::{NoiseRng, SubsampleKey};
use zeroize::Zeroizing;

use crate::error::{Error, ErrorKind};
use crate::output_file::{OutputFile, Readers};

/// The first line of a key file.
const TITLE: &str = "dpsketch sample key v1";

/// No key file is longer.
const MAX_LEN: usize = 4096;

/// Makes a sample key from the operating system's randomness and writes it to a new file that only its owner may read.
///
/// The file is text: a title line, then the key as 64 hexadecimal digits.
///
/// # Errors
/// As [`create_key_file`](crate::create_key_file).
///
/// # Privacy
/// Whoever ever gets the file faces ε₀ instead of ε in all that was released under the key. Analysts must not have it; delete it
/// once no further sketch under it is due. See [`SubsampleKey`].
///
/// # Examples
/// ```
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("week.sample-key");
/// let key = dpsketch::create_subsample_key_file(&path)?;
/// assert_eq!(dpsketch::read_subsample_key_file(&path)?.id(), key.id());
/// assert!(dpsketch::create_subsample_key_file(&path).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn create_subsample_key_file(path: &Path) -> Result<SubsampleKey, Error> {
    let output = OutputFile::create_new(path, Readers::OwnerOnly)?;
    let key = SubsampleKey::draw(&mut NoiseRng::from_os()?);
    output.commit(&text_of(&key))?;
    Ok(key)
}

/// The text of a key file, in one piece that never grows.
fn text_of(key: &SubsampleKey) -> Zeroizing<Vec<u8>> {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = Zeroizing::new(Vec::with_capacity(TITLE.len() + 66));
    text.extend_from_slice(TITLE.as_bytes());
    text.push(b'\n');
    for byte in key.to_bytes().iter() {
        text.extend([byte >> 4, byte & 15].map(|nibble| DIGITS[usize::from(nibble)]));
    }
    text.push(b'\n');
    text
}

/// Reads the file of a sample key.
///
/// # Errors
/// [`ErrorKind::Unreadable`] when it cannot be opened, [`ErrorKind::Damaged`] when it is no such file, and [`ErrorKind::Refused`] when
/// others than its owner may read or write it (on Unix). What is in the file is never part of the message.
pub fn read_subsample_key_file(path: &Path) -> Result<SubsampleKey, Error> {
    let name = path.display().to_string();
    let told = |error: Error| error.argument("--subsample-key").value(&name);
    let unreadable = |error| told(Error::reading(&name, error));
    let file = File::open(path).map_err(unreadable)?;
    if is_open_to_others(&file).map_err(unreadable)? {
        return Err(told(
            Error::new(ErrorKind::Refused, format!("others than its owner may read {name}"))
                .allowed("a key file of mode 0600")
                .hint("make a new key with `dpsketch key new --subsample`: this one is not secret"),
        ));
    }
    let mut text = Zeroizing::new(String::with_capacity(MAX_LEN));
    file.take(MAX_LEN as u64).read_to_string(&mut text).map_err(unreadable)?;
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let key = match (lines.next(), lines.next(), lines.next()) {
        (Some(TITLE), Some(digits), None) => bytes_of(digits),
        _ => None,
    };
    key.map(|key| SubsampleKey::from_bytes(*key)).ok_or_else(|| {
        told(
            Error::new(ErrorKind::Damaged, format!("{name} is not the file of a sample key"))
                .allowed(format!("a first line {TITLE:?}, then 64 hexadecimal digits"))
                .hint("make one with `dpsketch key new --subsample`"),
        )
    })
}

/// The bytes of 64 hexadecimal digits.
fn bytes_of(digits: &str) -> Option<Zeroizing<[u8; 32]>> {
    let mut key = Zeroizing::new([0; 32]);
    if digits.len() != 64 {
        return None;
    }
    let mut nibbles = digits.chars().map(|digit| digit.to_digit(16).and_then(|nibble| u8::try_from(nibble).ok()));
    for byte in key.iter_mut() {
        *byte = nibbles.next()?? << 4 | nibbles.next()??;
    }
    Some(key)
}

#[cfg(unix)]
fn is_open_to_others(file: &File) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let metadata = file.metadata()?;
    // A pipe has no mode of its own.
    Ok(metadata.is_file() && metadata.mode() & 0o077 != 0)
}

#[cfg(not(unix))]
fn is_open_to_others(_file: &File) -> io::Result<bool> {
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(path: &Path, text: &str) {
        let output = OutputFile::create(path, Readers::OwnerOnly).unwrap();
        output.commit(text.as_bytes()).unwrap();
    }

    #[test]
    fn what_is_no_sample_key_is_refused_without_showing_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("k");
        let hex = "00112233445566778899aabbccddeeff".repeat(2);
        for text in [
            "",
            &hex,
            TITLE,
            &format!("dpsketch hash key v1\n{}\n", &hex[..32]),
            &format!("{TITLE}\n{hex}0\n"),
            &format!("{TITLE}\n{}g\n", &hex[..63]),
            &format!("{TITLE}\n{hex}\n{hex}"),
        ] {
            write(&path, text);
            let error = read_subsample_key_file(&path).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Damaged, "{text}");
            assert!(!error.to_text().contains(&hex[..8]));
        }
        write(&path, &format!("{TITLE}\r\n\r\n  {hex}  \r\n"));
        let key = read_subsample_key_file(&path).unwrap();
        assert_eq!(key.to_bytes()[1], 0x11);
        assert_eq!(*text_of(&key), *format!("{TITLE}\n{hex}\n").as_bytes());
    }

    #[cfg(unix)]
    #[test]
    fn a_key_that_others_may_read_is_no_secret() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("k");
        create_subsample_key_file(&path).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
        assert_eq!(read_subsample_key_file(&path).unwrap_err().kind(), ErrorKind::Refused);
    }
}
