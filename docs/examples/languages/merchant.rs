use hmac::{Hmac, Mac};
use payments::apis::{configuration::Configuration, refunds_api, Error};
use payments::models::{amount::Currency, Amount, DuplicateRequestKeyProblem, RefundRequest};
use serde_json::json;
use std::{env, fs, io::Read, thread, time::{Duration, SystemTime, UNIX_EPOCH}};
// A merchant's program: `refund PAYMENT AMOUNT REFERENCE` issues a refund safely, `receive ID TIME SIGNATURES` takes an event from standard input.
async fn refund(configuration: &Configuration, request: &RefundRequest) -> String {
    let retries: serde_json::Value = serde_json::from_slice(&fs::read("retries.json").unwrap()).unwrap(); // by the contract
    for attempt in 0..4 {
        match refunds_api::issue_refund(configuration, request.clone()).await {
            Ok(refund) => return json!(refund.payment_status).as_str().unwrap().into(),
            Err(Error::ResponseError(error)) if error.status == 409 => {
                let Ok(DuplicateRequestKeyProblem { existing: found, .. }) = serde_json::from_str(&error.content) else { break };
                let ours = found.original_payment_id.as_ref() == Some(&request.payment_id)
                    && found.amount.as_ref() == Some(&request.amount)
                    && found.client_reference_id.flatten() == request.client_reference_id;
                return json!(found.payment_status).as_str().filter(|_| ours).unwrap_or("conflict").into();
            }
            // This alone shows that no attempt made the refund, of this run or of an earlier one.
            Err(Error::ResponseError(error)) if retries[error.status.as_str()] == "none" && error.content.contains("errorDetails") => return "none".into(),
            Err(Error::ResponseError(error)) if error.status.as_u16() < 500 && retries[error.status.as_str()] != "again" => break,
            Err(_) => {} // to be repeated, or no response that can be read
        }
        thread::sleep(Duration::from_secs(1 << attempt)); // the generated function drops Retry-After
    }
    "unknown".into()
}

fn receive(secret: &str, id: &str, timestamp: &str, signatures: &str, body: &[u8]) -> std::io::Result<u16> {
    let key = base64::decode(secret.trim_start_matches("whsec_")).expect("the secret is not base64");
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let mut mac = Hmac::<sha2::Sha256>::new_from_slice(&key).unwrap();
    mac.update(&[format!("{id}.{timestamp}.").as_bytes(), body].concat());
    let mut given = signatures.split(' ').filter_map(|text| base64::decode(text.strip_prefix("v1,")?).ok());
    let is_signed = key.len() >= 24 && given.any(|digest| mac.clone().verify_slice(&digest).is_ok());
    if !is_signed || now.abs_diff(timestamp.parse().unwrap_or(0)) > 300 { return Ok(400) }
    fs::create_dir_all("events")?;
    let half = format!("events/.{}", std::process::id());
    fs::write(&half, body)?;
    fs::File::open(&half)?.sync_all()?;
    fs::rename(&half, format!("events/{id}"))?; // one file for each id: a repeat changes nothing
    Ok(204)
}

#[tokio::main]
async fn main() {
    let given: Vec<String> = env::args().collect();
    if given[1] == "receive" {
        let body: Vec<u8> = std::io::stdin().bytes().collect::<Result<_, _>>().unwrap();
        return println!("{}", receive(&env::var("WEBHOOK_SECRET").unwrap(), &given[2], &given[3], &given[4], &body).unwrap());
    }
    let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).timeout(Duration::from_secs(10));
    let mut configuration = Configuration { client: client.build().unwrap(), ..Configuration::new() };
    configuration.base_path = env::var("PAYMENTS_URL").unwrap();
    configuration.bearer_access_token = env::var("PAYMENTS_TOKEN").ok();
    let mut request = RefundRequest::new(given[2].clone(), Amount::new(Currency::Usd, given[3].parse().unwrap()), given[4].clone());
    request.client_reference_id = Some(given[4].clone());
    println!("{}", refund(&configuration, &request).await);
}
