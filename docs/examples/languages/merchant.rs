use hmac::{Hmac, Mac};
use payments::apis::{configuration::Configuration, refunds_api, Error};
use payments::models::{amount::Currency, Amount, DuplicateRequestKeyProblem, RefundRequest};
use serde_json::json;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use std::{env, fs, io::Read, thread};

async fn refund(configuration: &Configuration, request: &RefundRequest) -> String {
    let retries: serde_json::Value = serde_json::from_slice(&fs::read("retries.json").unwrap()).unwrap(); // by the contract
    for attempt in 0..4 {
        match refunds_api::issue_refund(configuration, request.clone()).await {
            Ok(refund) => return json!(refund.payment_status).as_str().unwrap().into(),
            Err(Error::ResponseError(error)) if error.status == 409 => {
                let Ok(problem) = serde_json::from_str::<DuplicateRequestKeyProblem>(&error.content) else { break };
                let found = problem.existing;
                let ours = found.original_payment_id.as_ref() == Some(&request.payment_id)
                    && found.amount.as_ref() == Some(&request.amount)
                    && found.client_reference_id.flatten() == request.client_reference_id;
                return json!(found.payment_status).as_str().filter(|_| ours).unwrap_or("conflict").into();
            }
            Err(Error::ResponseError(error)) => {
                let result = &retries[error.status.as_str()];
                // This alone shows that no attempt made the refund, of this run or of an earlier one.
                if result == "none" && error.content.contains("errorDetails") { return "none".into() }
                if error.status.as_u16() < 500 && result != "again" { break }
            }
            Err(_) => {} // no response, or none that can be read
        }
        thread::sleep(Duration::from_secs(1 << attempt)); // the generated function drops Retry-After
    }
    "unknown".into()
}

fn receive(secret: &str, id: &str, timestamp: &str, signatures: &str, body: &[u8]) -> std::io::Result<u16> {
    let key = base64::decode(secret.trim_start_matches("whsec_")).expect("the secret is not base64");
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let is_recent = timestamp.parse::<u64>().is_ok_and(|sent| now.abs_diff(sent) <= 300);
    let mut mac = Hmac::<sha2::Sha256>::new_from_slice(&key).unwrap();
    mac.update(format!("{id}.{timestamp}.").as_bytes());
    mac.update(body);
    let mut given = signatures.split(' ').filter_map(|text| base64::decode(text.strip_prefix("v1,")?).ok());
    if key.len() < 24 || !is_recent || !given.any(|digest| mac.clone().verify_slice(&digest).is_ok()) {
        return Ok(400);
    }
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
        let mut body = Vec::new();
        std::io::stdin().read_to_end(&mut body).unwrap();
        return println!("{}", receive(&env::var("WEBHOOK_SECRET").unwrap(), &given[2], &given[3], &given[4], &body).unwrap());
    }
    let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).timeout(Duration::from_secs(10));
    let mut configuration = Configuration::new();
    configuration.client = client.build().unwrap();
    configuration.base_path = env::var("PAYMENTS_URL").unwrap();
    configuration.bearer_access_token = env::var("PAYMENTS_TOKEN").ok();
    let amount = Amount::new(Currency::Usd, given[3].parse().unwrap());
    let mut request = RefundRequest::new(given[2].clone(), amount, given[4].clone());
    request.client_reference_id = Some(given[4].clone());
    println!("{}", refund(&configuration, &request).await);
}
