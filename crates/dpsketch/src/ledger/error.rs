use dp_noise::{Amount, AmountError};
use sfm_pcsa::Unit;
use thiserror::Error as ThisError;

use super::terms::{Currency, MAX_TEXT_LEN};
use crate::error::{Error, ErrorKind};
use crate::text_file::TextFileError;

/// Why a ledger refused something, or is none.
#[derive(Clone, Debug, PartialEq, Eq, ThisError)]
#[non_exhaustive]
pub enum LedgerError {
    /// The cost is more than what is left. Nothing was booked.
    #[error("the ledger does not cover the cost: requested {requested}, remaining {remaining} ({currency})")]
    Exceeded {
        /// What was asked for.
        requested: Amount,
        /// What is left.
        remaining: Amount,
        /// What both are amounts of.
        currency: Currency,
    },
    /// A ledger of nothing.
    #[error("the total of a ledger must be above zero; amounts below 10^-18 are rounded down")]
    NoTotal,
    /// A label or unit that is empty or too long.
    #[error("the {what} of a ledger has 1 to {MAX_TEXT_LEN} bytes, found {found}")]
    Text {
        /// `label` or `unit`.
        what: &'static str,
        /// Its length in bytes.
        found: usize,
    },
    /// A release that does not protect whom the ledger protects. Nothing was booked.
    #[error("the ledger is for {expected}, and the release protects {found}")]
    Unit {
        /// The words of the ledger.
        expected: String,
        /// Whom the release protects.
        found: Unit,
    },
    /// A release with Gaussian noise, which has no pure ε, in a ledger of ε. Nothing was booked.
    #[error("the ledger counts epsilon of pure differential privacy, and Gaussian noise costs rho: {rho}")]
    Gaussian {
        /// What the release costs.
        rho: Amount,
    },
    /// The file would become too long.
    #[error("the ledger is full: it would be longer than {max} bytes")]
    Full {
        /// The longest ledger.
        max: usize,
    },
    /// The file is damaged, or no ledger at all. Nothing was booked.
    #[error("not a ledger")]
    File(#[source] TextFileError),
    /// Another process kept the ledger locked.
    #[error("the ledger is in use by another process")]
    Busy,
    /// The ledger or its lock was moved, replaced or deleted while it was in use. Nothing was booked.
    #[error("the ledger or its lock file was moved or replaced meanwhile")]
    Moved,
    /// A spend that is not in the ledger, or not as it was made.
    #[error("spend {number} is not in the ledger as it was made")]
    NoSuchSpend {
        /// The number of the spend, from 1.
        number: usize,
    },
    /// A spend that has its release already.
    #[error("spend {number} has its release already")]
    Released {
        /// The number of the spend, from 1.
        number: usize,
    },
}

impl From<LedgerError> for Error {
    fn from(error: LedgerError) -> Self {
        use LedgerError as E;
        let told = |kind| Self::new(kind, error.to_string());
        match &error {
            E::Exceeded { requested, remaining, .. } => told(ErrorKind::Refused)
                .value(requested.to_string())
                .allowed(format!("at most {remaining}"))
                .hint("`dpsketch ledger show` lists what was spent on what"),
            E::NoTotal => told(ErrorKind::Parameter).allowed("an amount above zero, such as 1"),
            E::Text { found, .. } => told(ErrorKind::Parameter)
                .value(format!("{found} bytes"))
                .allowed(format!("1 to {MAX_TEXT_LEN} bytes of any text")),
            E::Unit { expected, found } => told(ErrorKind::Refused)
                .value(found.to_string())
                .allowed(format!("a release for {expected}"))
                .hint("bound the users with --user and --max-items, or book the release in a ledger of its own unit"),
            E::Gaussian { rho } => {
                told(ErrorKind::Refused).value(format!("rho {rho}")).allowed("releases of pure epsilon").hint(
                    "release with Laplace noise (--pure --epsilon E), or keep a ledger of rho \
                 (`dpsketch ledger create --rho R`), in which a pure release costs epsilon^2 / 2",
                )
            }
            E::Full { .. } => told(ErrorKind::Refused).hint("start another ledger with what remains of the total"),
            E::Busy => told(ErrorKind::Io).hint("try again when the other process is done"),
            E::Moved => told(ErrorKind::Io).hint("leave the ledger and its .lock file where they are, and try again"),
            E::NoSuchSpend { .. } | E::Released { .. } => told(ErrorKind::Refused)
                .hint("the ledger was edited or put back from a copy: compare it with the releases"),
            E::File(below) => Self::new(ErrorKind::Damaged, format!("{error}: {below}"))
                .hint("name a file made by `dpsketch ledger create`; nothing was booked"),
        }
        .caused_by(error)
    }
}

impl From<AmountError> for Error {
    fn from(error: AmountError) -> Self {
        Self::new(ErrorKind::Parameter, error.to_string()).allowed("a decimal number such as 0.5").caused_by(error)
    }
}
