//! Names of coins in bodies. The layout stands in [`wire`](crate::wire).

use serde::{Deserialize, Serialize};

use crate::coins::{CoinId, CoinUses, MAX_COINS};
use crate::error::DecodeError;
use crate::leaf::Leaf;
use crate::mode::{Mode, ModeKind};
use crate::private::PrivateF0Sketch;

#[derive(Serialize, Deserialize)]
pub(crate) struct CoinV1 {
    name: [u8; 16],
    /// Index of the release made from them.
    release: u32,
}

/// The coins as bytes name them. Every release of a sketch has its index among the leaves, of which there are few enough.
pub(crate) fn coins_of<M: Mode>(sketch: &PrivateF0Sketch<M>) -> Vec<CoinV1> {
    let index = |release| sketch.leaves().binary_search_by_key(&release, Leaf::id).unwrap_or(usize::MAX);
    let coins = sketch.coins();
    coins
        .map(|(coin, release)| CoinV1 {
            name: coin.to_bytes(),
            release: u32::try_from(index(release)).unwrap_or(u32::MAX),
        })
        .collect()
}

pub(crate) fn check_coins(stored: &[CoinV1], leaves: &[Leaf], mode: ModeKind) -> Result<CoinUses, DecodeError> {
    check_number_of_coins(stored.len(), mode)?;
    let mut nameless = vec![mode == ModeKind::Presampled; leaves.len()];
    let mut uses = Vec::with_capacity(stored.len());
    for (index, &CoinV1 { name, release }) in stored.iter().enumerate() {
        let place = usize::try_from(release).unwrap_or(usize::MAX);
        let (Some(leaf), Some(nameless)) = (leaves.get(place), nameless.get_mut(place)) else {
            return Err(DecodeError::CoinRelease { index, release });
        };
        *nameless = false;
        uses.push((CoinId::from_bytes(name), leaf.id()));
    }
    if let Some(index) = nameless.iter().position(|nameless| *nameless) {
        return Err(DecodeError::NoCoins { index });
    }
    CoinUses::from_rising(uses).map_err(|index| DecodeError::CoinOrder { index })
}

/// A set has no coins, and no sketch has too many.
pub(crate) const fn check_number_of_coins(found: usize, mode: ModeKind) -> Result<(), DecodeError> {
    let most = match mode {
        ModeKind::Set => 0,
        ModeKind::Presampled => MAX_COINS,
    };
    if found > most { Err(DecodeError::Coins { mode, found }) } else { Ok(()) }
}
