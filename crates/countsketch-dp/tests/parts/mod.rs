//! Bytes of stacks taken apart and put together again.
#![allow(dead_code, reason = "no test file uses all of it")]

use sketch_testkit::reseal;

/// A stack in parts that need not fit.
#[derive(Clone)]
pub(crate) struct Parts {
    pub(crate) header: Vec<u8>,
    pub(crate) rows: u8,
    pub(crate) width: u32,
    pub(crate) levels: Vec<(u8, Vec<u8>)>,
}

impl Parts {
    pub(crate) fn of(bytes: &[u8]) -> Self {
        let number = |at: usize, len: usize| {
            let mut word = [0; 8];
            word[..len].copy_from_slice(&bytes[at..at + len]);
            usize::try_from(u64::from_le_bytes(word)).expect("a small number")
        };
        let (mut at, mut levels) = (45, Vec::new());
        for _ in 0..number(37, 8) {
            let end = at + 9 + number(at + 1, 8);
            levels.push((bytes[at], bytes[at + 9..end].to_vec()));
            at = end;
        }
        let width = u32::try_from(number(33, 4)).expect("four bytes");
        Self { header: bytes[..32].to_vec(), rows: bytes[32], width, levels }
    }

    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = self.header.clone();
        bytes.push(self.rows);
        bytes.extend(self.width.to_le_bytes());
        bytes.extend(to_u64(self.levels.len()));
        for (length, file) in &self.levels {
            bytes.push(*length);
            bytes.extend(to_u64(file.len()));
            bytes.extend(file);
        }
        reseal(&mut bytes);
        bytes
    }

    /// With other bytes at some place in the file of a level, whose checksum is right again.
    pub(crate) fn patched(&self, level: usize, at: usize, value: &[u8]) -> Vec<u8> {
        let mut patched = self.clone();
        let file = &mut patched.levels[level].1;
        file[at..at + value.len()].copy_from_slice(value);
        reseal(file);
        patched.to_bytes()
    }

    pub(crate) fn changed(&self, change: impl FnOnce(&mut Self)) -> Vec<u8> {
        let mut changed = self.clone();
        change(&mut changed);
        changed.to_bytes()
    }
}

/// Length and checksum of a file, which are made right again.
pub(crate) fn is_sealed(byte: usize) -> bool {
    (8..16).contains(&byte) || (24..32).contains(&byte)
}

fn to_u64(number: usize) -> [u8; 8] {
    u64::try_from(number).expect("64 bits").to_le_bytes()
}
