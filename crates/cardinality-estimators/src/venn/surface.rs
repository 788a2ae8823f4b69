//! A likelihood over the sizes of regions, as the climb sees it.

use super::symmetric::Symmetric;

/// A function of the sizes of the regions that is to be made as large as it gets, with sizes from 0 to a largest count.
pub(crate) trait Surface {
    /// The number of regions.
    fn dimensions(&self) -> usize;

    /// The largest size worth looking for.
    fn cap(&self) -> f64;

    /// The log-likelihood.
    fn height(&self, regions: &[f64]) -> f64;

    /// Its derivatives.
    fn slope(&self, regions: &[f64]) -> Slope;
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
