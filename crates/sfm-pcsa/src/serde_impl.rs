//! Serde traits of private sketches and tallies.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

use crate::error::DecodeError;
use crate::private::PrivateBitmap;
use crate::shape::BitmapShape;
use crate::tally::{SfmTally, TallyBodyV1};
use crate::wire::PrivateBodyV1;

/// Fields of the wire body behind its version and the mark of insecure noise.
#[derive(Serialize, Deserialize)]
struct Versioned<B> {
    version: u8,
    insecure_noise: bool,
    body: B,
}

/// The body, of the version and the noise that are read.
fn deserialize_body<'de, B: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<B, D::Error> {
    let Versioned { version, insecure_noise, body } = Versioned::<B>::deserialize(deserializer)?;
    if version != 1 {
        return Err(D::Error::custom(format_args!("sketch version: expected 1, found {version}")));
    }
    if insecure_noise {
        return Err(D::Error::custom(DecodeError::InsecureNoise));
    }
    Ok(body)
}

/// The fields of the body of [`to_bytes`](PrivateBitmap::to_bytes), version 1, with the mark of insecure noise.
impl<S: BitmapShape> Serialize for PrivateBitmap<S> {
    fn serialize<T: Serializer>(&self, serializer: T) -> Result<T::Ok, T::Error> {
        let body = PrivateBodyV1::from(self);
        Versioned { version: 1, insecure_noise: self.insecure_noise(), body }.serialize(serializer)
    }
}

/// Checked like [`from_bytes`](PrivateBitmap::from_bytes); sketches with insecure noise are refused.
impl<'de, S: BitmapShape> Deserialize<'de> for PrivateBitmap<S> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let body: PrivateBodyV1<S::Fields> = deserialize_body(deserializer)?;
        body.into_sketch(false).map_err(D::Error::custom)
    }
}

/// The fields of the body of [`to_bytes`](SfmTally::to_bytes), version 1, with the mark of insecure noise.
impl Serialize for SfmTally {
    fn serialize<T: Serializer>(&self, serializer: T) -> Result<T::Ok, T::Error> {
        let body = TallyBodyV1::from(self);
        Versioned { version: 1, insecure_noise: self.insecure_noise(), body }.serialize(serializer)
    }
}

/// Checked like [`from_bytes`](SfmTally::from_bytes); tallies with insecure noise are refused.
impl<'de> Deserialize<'de> for SfmTally {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let body: TallyBodyV1 = deserialize_body(deserializer)?;
        body.into_tally(false).map_err(D::Error::custom)
    }
}
