use hmac::{Hmac, Mac};
use payments::apis::{configuration::Configuration, refunds_api, Error};
use payments::models::{self, amount::Currency, Amount, DuplicateRequestKeyProblem, Refund, RefundRequest};
use serde_json::{from_str, from_value, json, Value};
use sha2::Sha256;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

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

/// The service never redirects, and reqwest would follow with the whole request.
pub fn without_redirects() -> reqwest::Client {
    let builder = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none());
    builder.timeout(Duration::from_secs(10)).build().unwrap()
}

/// Repeats a call whose outcome is unknown, always with the same requestKey. Returns the status of the refund, or None if none was
/// made. After an error, repeat it later with the same requestKey. The generated function drops the headers of a problem, and with
/// them Retry-After, so the request is sent by reqwest.
pub async fn refund_once(configuration: &Configuration, request: &RefundRequest) -> Result<Option<Value>, String> {
    let url = format!("{}/v1/refunds", configuration.base_path);
    let token = configuration.bearer_access_token.as_deref().unwrap_or_default();
    for attempt in 0..4 {
        let mut wait = Duration::from_millis(300 << attempt);
        let call = configuration.client.post(&url).bearer_auth(token).header("Accept", "application/json").json(request);
        if let Ok(response) = call.send().await {
            let status = response.status().as_u16();
            let seconds = response.headers().get("retry-after").and_then(|value| value.to_str().ok()?.parse().ok());
            wait += Duration::from_secs(seconds.unwrap_or(0));
            let body = response.text().await.unwrap_or_default();
            if status == 201 {
                if let Ok(refund) = from_str::<Refund>(&body) {
                    return Ok(Some(json!(refund.payment_status)));
                }
            }
            if status == 409 {
                return Ok(existing_status(request, &body));
            }
            if (300..500).contains(&status) && status != 429 {
                return Ok(None);
            }
        }
        std::thread::sleep(wait); // in a server: tokio::time::sleep
    }
    Err("the outcome is unknown".into())
}

/// The status of the refund that has the requestKey, if it is the one that was requested.
fn existing_status(request: &RefundRequest, body: &str) -> Option<Value> {
    let existing = from_str::<DuplicateRequestKeyProblem>(body).ok()?.existing;
    let is_ours = existing.original_payment_id.as_ref() == Some(&request.payment_id) && existing.amount.as_ref() == Some(&request.amount);
    is_ours.then(|| json!(existing.payment_status))
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
