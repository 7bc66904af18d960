//! Cost of a session so far.

use std::sync::{Mutex, PoisonError};

use agent_client_protocol_schema::v1::Cost;
use pollux_protocol::{Measurement, Money, Observer, Origin};

/// Sum of the costs of all requests since the session was opened; `None` as soon as the price of
/// one of them is unknown.
pub(crate) struct Costs(Mutex<Option<Money>>);

impl Default for Costs {
    fn default() -> Self {
        Self(Mutex::new(Some(Money::ZERO)))
    }
}

impl Costs {
    /// Returns the sum in the form of the protocol.
    pub(crate) fn sum(&self) -> Option<Cost> {
        let sum = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        sum.map(|sum| Cost::new(sum.usd(), "USD"))
    }
}

impl Observer for Costs {
    fn measure(&self, _origin: &Origin, measurement: &Measurement) {
        let cost = match measurement {
            Measurement::ApiResponse(response) => response.cost,
            Measurement::ApiError(error) => error.cost,
            _ => return,
        };
        let mut sum = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *sum = sum.zip(cost).map(|(sum, cost)| sum.plus(cost));
    }
}
