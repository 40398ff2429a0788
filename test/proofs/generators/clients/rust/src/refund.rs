use hmac::{Hmac, Mac};
use payments::apis::{configuration::Configuration, refunds_api, Error};
use payments::models::{self, amount::Currency, Amount, Refund, RefundRequest};
use serde_json::{from_str, from_value, Value};
use sha2::Sha256;
use std::time::{SystemTime, UNIX_EPOCH};

pub async fn refund(
    configuration: &Configuration,
    payment_id: &str,
    amount: f64, // printed with the digits that it was parsed from
    request_key: &str,
) -> Result<Refund, Error<refunds_api::IssueRefundError>> {
    let dollars = Amount::new(Currency::Usd, amount);
    let request = RefundRequest::new(payment_id.into(), dollars, request_key.into());
    refunds_api::issue_refund(configuration, request).await
}

pub fn is_genuine(secret: &str, id: &str, timestamp: &str, signatures: &str, body: &str) -> bool {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let Ok(sent) = timestamp.parse::<u64>() else { return false };
    let Ok(key) = base64::decode(secret.trim_start_matches("whsec_")) else { return false };
    if key.len() < 24 {
        return false; // a key that others could guess proves nothing
    }
    now.abs_diff(sent) <= 300
        && signatures.split(' ').filter_map(|signature| signature.strip_prefix("v1,")).any(|signature| {
            let mut mac = Hmac::<Sha256>::new_from_slice(&key).unwrap();
            mac.update(format!("{id}.{timestamp}.{body}").as_bytes());
            base64::decode(signature).is_ok_and(|digest| mac.verify_slice(&digest).is_ok())
        })
}

pub enum Event {
    RefundPending(models::RefundPendingEvent),
    RefundAuthorized(models::RefundAuthorizedEvent),
    RefundTerminalFailed(models::RefundTerminalFailedEvent),
    PaymentSettled(models::PaymentSettledEvent),
    PaymentFailed(models::PaymentFailedEvent),
    PaymentCovered(models::PaymentCoveredEvent),
    AccountLinked(models::AccountLinkedEvent),
    AccountUnlinked(models::AccountUnlinkedEvent),
    CustomerCreated(models::CustomerCreatedEvent),
    /// It is newer than this client.
    Unknown,
}

pub fn read_event(body: &str) -> serde_json::Result<Event> {
    let event: Value = from_str(body)?;
    Ok(match event["type"].as_str() {
        Some("refund.pending") => Event::RefundPending(from_value(event)?),
        Some("refund.authorized") => Event::RefundAuthorized(from_value(event)?),
        Some("refund.terminal_failed") => Event::RefundTerminalFailed(from_value(event)?),
        Some("payment.settled") => Event::PaymentSettled(from_value(event)?),
        Some("payment.failed") => Event::PaymentFailed(from_value(event)?),
        Some("payment.covered") => Event::PaymentCovered(from_value(event)?),
        Some("account.linked") => Event::AccountLinked(from_value(event)?),
        Some("account.unlinked") => Event::AccountUnlinked(from_value(event)?),
        Some("customer.created") => Event::CustomerCreated(from_value(event)?),
        _ => Event::Unknown,
    })
}
