//! Sketches of every kind become one type.

use countsketch_dp::PrivateCountSketch;
use sfm_pcsa::SfmTally;

use crate::any::AnySketch;
use crate::f0::{AnyF0Sketch, RawF0Sketch, ReleasedF0Sketch};
use crate::frequency::{FrequencySketch, RawCountSketch};
use crate::subsampled::AnySubsampled;

impl From<AnySubsampled> for AnySketch {
    fn from(sample: AnySubsampled) -> Self {
        Self::Subsampled(sample)
    }
}

impl From<SfmTally> for AnySketch {
    fn from(tally: SfmTally) -> Self {
        Self::SfmTally(tally)
    }
}

impl From<FrequencySketch> for AnySketch {
    fn from(sketch: FrequencySketch) -> Self {
        Self::Frequencies(sketch)
    }
}

impl From<AnyF0Sketch> for AnySketch {
    fn from(sketch: AnyF0Sketch) -> Self {
        Self::F0(sketch)
    }
}

impl From<ReleasedF0Sketch> for AnySketch {
    fn from(sketch: ReleasedF0Sketch) -> Self {
        Self::F0(sketch.into())
    }
}

impl From<RawF0Sketch> for AnySketch {
    fn from(raw: RawF0Sketch) -> Self {
        Self::F0(raw.into())
    }
}

impl From<PrivateCountSketch> for AnySketch {
    fn from(sketch: PrivateCountSketch) -> Self {
        Self::Frequencies(sketch.into())
    }
}

impl From<RawCountSketch> for AnySketch {
    fn from(raw: RawCountSketch) -> Self {
        Self::Frequencies(raw.into())
    }
}
