use hmac::{Hmac, Mac};
use payments::apis::{configuration::Configuration, refunds_api, Error};
use payments::models::{amount::Currency, Amount, Refund, RefundRequest};
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
