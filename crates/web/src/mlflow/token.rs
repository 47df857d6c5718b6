//! Who calls: a trial shows a token that only the runner can have made for it.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// One start of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct TrialStarted {
    /// Number of the trial; 0 is that of a warm-up.
    pub(super) number: u32,
    /// Which start of a trial in this run it was, from 1.
    pub(super) start: u32,
}

impl TrialStarted {
    /// The name of its run in MLflow.
    pub(super) fn run_id(self) -> String {
        format!("trial-{}-{}", self.number, self.start)
    }
}

/// What tokens are made with; never leaves the runner.
pub(super) struct Secret([u8; 32]);

impl Secret {
    /// A new one.
    ///
    /// # Errors
    /// The system has no random bytes.
    pub(super) fn random() -> anyhow::Result<Self> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes)
            .map_err(|fault| anyhow::anyhow!("the system gives no random bytes: {fault}"))?;
        Ok(Self(bytes))
    }

    /// The token of a trial.
    pub(super) fn token(&self, of: TrialStarted) -> String {
        let proof: String =
            self.mac(of).finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
        format!("{}.{}.{proof}", of.number, of.start)
    }

    /// The trial whose token this is. Proofs are compared in a time that says nothing of them.
    pub(super) fn trial(&self, token: &str) -> Option<TrialStarted> {
        let mut parts = token.splitn(3, '.');
        let number = parts.next()?.parse().ok()?;
        let start = parts.next()?.parse().ok()?;
        let proof = from_hex(parts.next()?)?;
        let of = TrialStarted { number, start };
        self.mac(of).verify_slice(&proof).ok().map(|()| of)
    }

    fn mac(&self, of: TrialStarted) -> Hmac<Sha256> {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).expect("keys of any length do");
        mac.update(&of.number.to_le_bytes());
        mac.update(&of.start.to_le_bytes());
        mac
    }
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16);
    let pairs = text.as_bytes().chunks(2);
    pairs
        .map(|pair| match pair {
            [high, low] => u8::try_from(digit(high)? * 16 + digit(low)?).ok(),
            _ => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_token_opens_its_own_trial_and_only_with_its_secret() {
        let (secret, other) = (Secret::random().unwrap(), Secret::random().unwrap());
        let own = TrialStarted { number: 7, start: 2 };
        let token = secret.token(own);
        assert_eq!(secret.trial(&token), Some(own));
        assert_eq!(other.trial(&token), None);
        for forged in [
            token.replacen("7.", "8.", 1),
            token.replacen(".2.", ".3.", 1),
            token[..token.len() - 2].to_owned(),
            token.to_uppercase() + "0",
            String::new(),
            "7.2.".to_owned(),
            "7.2".to_owned(),
        ] {
            assert_eq!(secret.trial(&forged), None, "{forged}");
        }
    }

    proptest! {
        #[test]
        fn no_text_is_a_token_by_chance(text in "[0-9.]{0,8}\\.?[0-9a-fé]{0,70}") {
            prop_assert_eq!(Secret([3; 32]).trial(&text), None);
        }
    }
}
