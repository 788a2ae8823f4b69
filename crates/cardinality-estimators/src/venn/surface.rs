//! A likelihood over the sizes of regions, as the climb sees it.

use super::symmetric::Symmetric;
use crate::Grid;

/// A function of the sizes of the regions that is to be made as large as it gets, with sizes from 0 to a largest count.
pub(crate) trait Surface {
    /// The number of regions.
    fn dimensions(&self) -> usize;

    /// The largest size worth looking for.
    fn cap(&self) -> f64;

    /// Total sizes from which one starts: enough to find the neighbourhood of the highest point.
    fn totals(&self) -> Vec<f64> {
        Grid::new(0.0625, 1).unwrap_or_default().points(self.cap()).collect()
    }

    /// How much smaller the barrier gets from one stage of a climb to the next.
    fn barrier_factor(&self) -> f64 {
        0.05
    }

    /// The log-likelihood.
    fn height(&self, regions: &[f64]) -> f64;

    /// The log-likelihood to a unit or so: enough to compare starts.
    fn rough_height(&self, regions: &[f64]) -> f64 {
        self.height(regions)
    }

    /// Its derivatives.
    fn slope(&self, regions: &[f64]) -> Slope;
}

impl<S: Surface + ?Sized> Surface for &S {
    fn dimensions(&self) -> usize {
        (**self).dimensions()
    }

    fn cap(&self) -> f64 {
        (**self).cap()
    }

    fn totals(&self) -> Vec<f64> {
        (**self).totals()
    }

    fn barrier_factor(&self) -> f64 {
        (**self).barrier_factor()
    }

    fn height(&self, regions: &[f64]) -> f64 {
        (**self).height(regions)
    }

    fn rough_height(&self, regions: &[f64]) -> f64 {
        (**self).rough_height(regions)
    }

    fn slope(&self, regions: &[f64]) -> Slope {
        (**self).slope(regions)
    }
}

/// Gradient and curvature of a log-likelihood at one point.
#[derive(Clone, Debug)]
pub(crate) struct Slope {
    pub(crate) gradient: Vec<f64>,
    /// Minus the second derivatives, as expected.
    pub(crate) information: Symmetric,
    /// Minus the second derivatives of the data; where they are as good as unknown, the expected ones.
    pub(crate) bend: Symmetric,
}
