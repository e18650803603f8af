//! Validation of ECN: tests if the path carries the codepoint that the sender sets, and reacts if it does not.
//!
//! - `none`: the sender goes on setting its codepoint. RFC 3168 has no test of the path, so a TCP sender that
//!   negotiated ECN does not notice a path that clears the field.
//! - `handshake`: the first ACK reports the codepoint with which the first packet arrived (RFC 9768, section 3.2.2.3).
//!   If the codepoint was changed to anything but CE, later packets are not ECN-capable. Later changes by the path are
//!   not noticed.
//! - `counts`: every ACK that raises the largest acknowledged number is compared with the codepoints sent (RFC 9000,
//!   section 13.4.2.1). After a failure packets are not ECN-capable, and marks are ignored. There is no second attempt.
//!
//! Two rules of RFC 9000 are left out. A sender keeps ECN although all its first packets were lost (section 13.4.2).
//! The counters may exceed the number of sent packets for a codepoint in use, because the receiver counts duplicates
//! too. Only for the unused codepoint an excess is a failure.

use crate::wire::EcnCounts;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// ECN codepoint of data packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EcnMode {
    /// Not ECN-capable.
    Off,
    /// ECT(0), classic.
    Ect0,
    /// ECT(1), L4S.
    Ect1,
}

/// Test of the path for the ECN field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EcnValidation {
    /// No test (RFC 3168).
    None,
    /// The first ACK is tested (RFC 9768, section 3.2.2.3).
    Handshake,
    /// Every ACK is tested (RFC 9000, section 13.4.2.1).
    Counts,
}

/// State of the ECN validation of one sender.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EcnValidator {
    rule: EcnValidation,
    /// Codepoint of the packets sent before a failure.
    configured: EcnMode,
    /// Codepoint of the packets sent now.
    codepoint: EcnMode,
    /// Counts of the latest tested ACK; `None` before the first.
    tested: Option<EcnCounts>,
}

impl EcnValidator {
    /// Returns the validator of a sender that sets `codepoint`, by `rule`.
    pub(crate) const fn new(codepoint: EcnMode, rule: EcnValidation) -> Self {
        Self { rule, configured: codepoint, codepoint, tested: None }
    }

    /// Returns the codepoint of the packets sent now.
    pub(crate) const fn codepoint(&self) -> EcnMode {
        self.codepoint
    }

    /// Returns 1 while the path has passed its tests, 0 afterwards, and `None` without tests.
    pub(crate) fn field(&self) -> Option<f64> {
        let is_tested = self.rule != EcnValidation::None && self.configured != EcnMode::Off;
        is_tested.then(|| if self.has_failed() { 0.0 } else { 1.0 })
    }

    /// Returns true if marks give information about the path.
    pub(crate) fn trusts_marks(&self) -> bool {
        self.rule != EcnValidation::Counts || !self.has_failed()
    }

    fn has_failed(&self) -> bool {
        self.codepoint != self.configured
    }

    /// Tests an ACK with the receiver's `counts` that newly acknowledges `packets` packets. `is_largest`: true if no
    /// later packet was acknowledged before.
    #[inline]
    pub(crate) fn on_ack(&mut self, counts: EcnCounts, packets: u64, is_largest: bool) {
        if self.codepoint != EcnMode::Off && self.rule != EcnValidation::None && is_largest {
            self.test(counts, packets);
        }
    }

    fn test(&mut self, counts: EcnCounts, packets: u64) {
        let before = match (self.rule, self.tested) {
            (EcnValidation::Handshake, Some(_)) => return,
            (_, tested) => tested.unwrap_or_default(),
        };
        self.tested = Some(counts);
        let is_ect1 = self.codepoint == EcnMode::Ect1;
        let of_sent = |counts: EcnCounts| counts.ce + if is_ect1 { counts.ect1 } else { counts.ect0 };
        let never_sent = if is_ect1 { counts.ect0 } else { counts.ect1 };
        if of_sent(counts).saturating_sub(of_sent(before)) < packets || never_sent > 0 {
            self.codepoint = EcnMode::Off;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn validator(ecn: EcnMode, ecn_validation: EcnValidation) -> EcnValidator {
        EcnValidator::new(ecn, ecn_validation)
    }

    fn counts(ect0: u64, ect1: u64, ce: u64) -> EcnCounts {
        EcnCounts { ect0, ect1, ce }
    }

    /// Returns the codepoint after ACKs with these counts and these numbers of newly acknowledged packets.
    fn after(ecn: EcnMode, rule: EcnValidation, acks: &[(EcnCounts, u64)]) -> EcnMode {
        let mut validator = validator(ecn, rule);
        for (counts, packets) in acks {
            validator.on_ack(*counts, *packets, true);
        }
        assert_eq!(
            validator.trusts_marks(),
            validator.codepoint() != EcnMode::Off || rule != EcnValidation::Counts
        );
        validator.codepoint()
    }

    #[test]
    fn a_path_that_carries_the_field_passes() {
        // Marks count for the codepoint that was sent; after a lost ACK the counts rise by more than the new packets.
        let acks = [(counts(1, 0, 0), 1), (counts(2, 0, 1), 2), (counts(7, 0, 2), 3)];
        assert_eq!(after(EcnMode::Ect0, EcnValidation::Counts, &acks), EcnMode::Ect0);
        let acks = [(counts(0, 1, 0), 1), (counts(0, 1, 9), 9)];
        assert_eq!(after(EcnMode::Ect1, EcnValidation::Counts, &acks), EcnMode::Ect1);
    }

    #[test]
    fn a_path_that_clears_the_field_fails_with_the_first_cleared_packet() {
        let acks = [(counts(1, 0, 0), 1), (counts(3, 0, 0), 2), (counts(4, 0, 0), 2)];
        assert_eq!(after(EcnMode::Ect0, EcnValidation::Counts, &acks[..2]), EcnMode::Ect0);
        assert_eq!(after(EcnMode::Ect0, EcnValidation::Counts, &acks), EcnMode::Off);
        assert_eq!(after(EcnMode::Ect0, EcnValidation::Counts, &[(counts(0, 0, 0), 1)]), EcnMode::Off);
    }

    #[test]
    fn a_codepoint_that_was_never_sent_fails() {
        assert_eq!(after(EcnMode::Ect0, EcnValidation::Counts, &[(counts(2, 1, 0), 2)]), EcnMode::Off);
        assert_eq!(after(EcnMode::Ect1, EcnValidation::Counts, &[(counts(1, 2, 0), 2)]), EcnMode::Off);
    }

    #[test]
    fn acks_that_do_not_raise_the_largest_number_prove_nothing() {
        let mut validator = validator(EcnMode::Ect0, EcnValidation::Counts);
        validator.on_ack(counts(5, 0, 0), 5, true);
        validator.on_ack(counts(3, 0, 0), 1, false);
        validator.on_ack(counts(6, 0, 0), 1, true);
        assert_eq!(validator.codepoint(), EcnMode::Ect0);
    }

    #[test]
    fn a_handshake_tests_the_first_ack_only() {
        let rule = EcnValidation::Handshake;
        assert_eq!(after(EcnMode::Ect1, rule, &[(counts(0, 1, 0), 1), (counts(0, 1, 0), 9)]), EcnMode::Ect1);
        assert_eq!(after(EcnMode::Ect1, rule, &[(counts(0, 0, 1), 1)]), EcnMode::Ect1);
        assert_eq!(after(EcnMode::Ect1, rule, &[(counts(0, 0, 0), 1)]), EcnMode::Off);
        assert_eq!(after(EcnMode::Ect1, rule, &[(counts(1, 0, 0), 1)]), EcnMode::Off);
    }

    #[test]
    fn without_validation_nothing_is_noticed() {
        assert_eq!(after(EcnMode::Ect0, EcnValidation::None, &[(counts(0, 9, 0), 9)]), EcnMode::Ect0);
        assert_eq!(validator(EcnMode::Ect0, EcnValidation::None).field(), None);
        assert_eq!(validator(EcnMode::Off, EcnValidation::Counts).field(), None);
    }
}
