//! Serde traits. What is read is checked as by `from_words`.

use alloc::vec::Vec;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

use crate::{BitMatrix, BitVector, EncodingError, ShapeError};

#[derive(Serialize)]
#[serde(rename = "BitVector")]
struct VectorOut<'a> {
    bits: u64,
    words: &'a [u64],
}

#[derive(Deserialize)]
#[serde(rename = "BitVector", deny_unknown_fields)]
struct VectorIn {
    bits: u64,
    words: Vec<u64>,
}

impl Serialize for BitVector {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        VectorOut { bits: self.len() as u64, words: self.words() }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for BitVector {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let VectorIn { bits, words } = VectorIn::deserialize(deserializer)?;
        let length = usize::try_from(bits).map_err(|_| D::Error::custom(ShapeError::TooLong { bits }))?;
        Self::from_words(words, length).map_err(D::Error::custom)
    }
}

#[derive(Serialize, Deserialize)]
#[serde(rename = "BitMatrix", deny_unknown_fields)]
struct Matrix {
    rows: u64,
    columns: u64,
    words: Vec<u64>,
}

impl Serialize for BitMatrix {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Matrix { rows: self.rows() as u64, columns: self.columns() as u64, words: self.to_words() }
            .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for BitMatrix {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::try_from(Matrix::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

impl TryFrom<Matrix> for BitMatrix {
    type Error = EncodingError;

    fn try_from(Matrix { rows, columns, words }: Matrix) -> Result<Self, EncodingError> {
        match (usize::try_from(rows), usize::try_from(columns)) {
            (Ok(rows), Ok(columns)) => Self::from_words(rows, columns, &words),
            _ => Err(ShapeError::TooLarge { rows, columns }.into()),
        }
    }
}
