//! Transposition by blocks of 64 × 64.

use alloc::vec;

use super::BitMatrix;
use crate::{ShapeError, transpose64};

/// Blocks side by side that are read together: eight words of a row are a cache line.
const SPAN: usize = 8;

impl BitMatrix {
    /// Rows and columns exchanged.
    ///
    /// # Errors
    /// [`ShapeError::TooLarge`] when the result exceeds [`MAX_BITS`](crate::MAX_BITS): it may need more padding.
    pub fn transpose(&self) -> Result<Self, ShapeError> {
        let mut transposed = Self::zeros(self.columns, self.rows)?;
        let mut blocks = vec![[0; 64]; SPAN];
        for top in (0..self.rows).step_by(64) {
            for left in (0..self.row_words()).step_by(SPAN) {
                let span = SPAN.min(self.row_words() - left);
                self.read_blocks(top, left, &mut blocks[..span]);
                for (index, block) in blocks[..span].iter_mut().enumerate() {
                    transpose64(block);
                    transposed.write_block(left + index, top / 64, block);
                }
            }
        }
        Ok(transposed)
    }

    /// Blocks whose first row is `top` and whose words are `left ..`; behind the last row they are 0.
    fn read_blocks(&self, top: usize, left: usize, blocks: &mut [[u64; 64]]) {
        let height = 64.min(self.rows - top);
        for row in 0..height {
            for (block, word) in blocks.iter_mut().zip(&self.words(top + row)[left..]) {
                block[row] = *word;
            }
        }
        for block in blocks {
            block[height..].fill(0);
        }
    }

    /// Writes a block to rows `64 · index ..` of word `word`, as far as there are such rows.
    fn write_block(&mut self, index: usize, word: usize, block: &[u64; 64]) {
        let stride = self.stride;
        for (row, from) in self.words[64 * index * stride..].chunks_exact_mut(stride).zip(block) {
            row[word] = *from;
        }
    }
}
