//! Serde traits of the private sketch.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

use crate::error::DecodeError;
use crate::mode::Mode;
use crate::private::PrivateF0Sketch;
use crate::wire::PrivateBodyV1;

/// Fields of the wire body behind its version and the mark of insecure noise.
#[derive(Serialize, Deserialize)]
struct Versioned {
    version: u8,
    insecure_noise: bool,
    body: PrivateBodyV1,
}

/// The fields of the body of [`to_bytes`](PrivateF0Sketch::to_bytes), version 1, with the mark of insecure noise.
impl<M: Mode> Serialize for PrivateF0Sketch<M> {
    fn serialize<T: Serializer>(&self, serializer: T) -> Result<T::Ok, T::Error> {
        Versioned { version: 1, insecure_noise: self.insecure_noise(), body: self.into() }.serialize(serializer)
    }
}

/// Checked like [`from_bytes`](PrivateF0Sketch::from_bytes); sketches with insecure noise are refused.
impl<'de, M: Mode> Deserialize<'de> for PrivateF0Sketch<M> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Versioned { version, insecure_noise, body } = Versioned::deserialize(deserializer)?;
        if version != 1 {
            return Err(D::Error::custom(format_args!("sketch version: expected 1, found {version}")));
        }
        if insecure_noise {
            return Err(D::Error::custom(DecodeError::InsecureNoise));
        }
        body.into_sketch(false).map_err(D::Error::custom)
    }
}
