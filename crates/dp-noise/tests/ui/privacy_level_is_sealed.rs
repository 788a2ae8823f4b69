use dp_noise::{Amount, ParameterError, PrivacyLevel};

#[derive(Clone, Copy, PartialEq, PartialOrd)]
struct Free;

impl PrivacyLevel for Free {
    fn to_amount(self) -> Amount {
        Amount::ZERO
    }

    fn from_amount(_: Amount) -> Result<Self, ParameterError> {
        Ok(Free)
    }
}

fn main() {}
