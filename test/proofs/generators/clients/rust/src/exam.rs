//! The whole system of a merchant, as small as it can be, for the exam. Requests are handled one after the other.
use crate::refund::{is_genuine, read_event, refund_once, without_redirects, Event};
use payments::apis::configuration::Configuration;
use payments::models::{amount::Currency, Amount, RefundRequest};
use serde_json::{json, Value};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::{collections::HashMap, env, fs};

/// Each refund is a file, where yours has a database.
fn read(reference: &str) -> Option<Value> {
    serde_json::from_str(&fs::read_to_string(format!("refunds/{reference}")).ok()?).ok()
}

fn write(reference: &str, refund: &Value) {
    let file = format!("refunds/{reference}");
    fs::write(format!("{file}.new"), refund.to_string()).unwrap();
    fs::rename(format!("{file}.new"), file).unwrap();
}

fn receive(headers: &HashMap<String, String>, body: &str) -> u16 {
    let header = |name: &str| headers.get(&format!("webhook-{name}")).cloned().unwrap_or_default();
    let secret = env::var("WEBHOOK_SECRET").unwrap();
    if !is_genuine(&secret, &header("id"), &header("timestamp"), &header("signature"), body) {
        return 400;
    }
    match read_event(body) {
        Ok(Event::RefundPending(event)) => store(event.sequence, &json!(event.data)),
        Ok(Event::RefundAuthorized(event)) => store(event.sequence, &json!(event.data)),
        Ok(Event::RefundTerminalFailed(event)) => store(event.sequence, &json!(event.data)),
        Ok(_) => {}
        Err(_) => return 400,
    }
    204
}

/// Takes an event that is newer than what is known; repeats, and statuses of later versions, change nothing.
fn store(sequence: i32, data: &Value) {
    let (Some(reference), Some(status)) = (data["clientReferenceId"].as_str(), data["paymentStatus"].as_str()) else { return };
    let known = read(reference).and_then(|refund| refund["sequence"].as_i64()).unwrap_or(0);
    if i64::from(sequence) > known && ["PENDING", "AUTHORIZED", "TERMINAL_FAILED"].contains(&status) {
        write(reference, &json!({ "requestKey": data["requestKey"], "sequence": sequence, "status": status }));
    }
}

async fn issue(order: &Value) {
    let text = |name: &str| order[name].as_str().unwrap().to_string();
    let reference = text("reference");
    // If it is known, it is the same decision to refund, after a run that did not finish. The key needs 128 random bits.
    let refund = read(&reference).unwrap_or_else(|| json!({ "requestKey": random_key(), "sequence": 0, "status": null }));
    write(&reference, &refund);
    let mut configuration = Configuration::new();
    configuration.base_path = text("url");
    configuration.bearer_access_token = Some(text("token"));
    configuration.client = without_redirects();
    let amount = Amount::new(Currency::Usd, text("amount").parse().unwrap());
    let mut request = RefundRequest::new(text("paymentId"), amount, refund["requestKey"].as_str().unwrap().into());
    request.client_reference_id = Some(reference.clone());
    if let Ok(status) = refund_once(&configuration, &request).await {
        let mut refund = read(&reference).unwrap();
        if refund["sequence"] == 0 {
            refund["status"] = status.unwrap_or(Value::Null);
            write(&reference, &refund);
        }
    }
}

fn random_key() -> String {
    let mut bytes = [0; 16];
    fs::File::open("/dev/urandom").unwrap().read_exact(&mut bytes).unwrap();
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

async fn handle(mut stream: TcpStream) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let target = line.split(' ').nth(1).unwrap_or_default().to_string();
    let mut headers = HashMap::new();
    loop {
        line.clear();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        headers.insert(name.to_lowercase(), value.to_string());
    }
    let length = headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    let mut bytes = vec![0; length];
    reader.read_exact(&mut bytes)?;
    let body = String::from_utf8_lossy(&bytes);
    let (status, text) = match target.as_str() {
        "/webhooks" => (receive(&headers, &body), String::new()),
        "/refund" => {
            issue(&serde_json::from_str(&body)?).await;
            (200, String::new())
        }
        _ => {
            let pairs = target.split(['?', '&']);
            let reference = pairs.filter_map(|pair| pair.strip_prefix("reference=")).next().unwrap_or_default();
            let status = read(reference).and_then(|refund| refund["status"].as_str().map(String::from));
            (200, status.unwrap_or_default())
        }
    };
    let length = if status == 204 { String::new() } else { format!("Content-Length: {}\r\n", text.len()) };
    write!(stream, "HTTP/1.1 {status} Done\r\nConnection: close\r\n{length}\r\n{text}")
}

pub async fn serve() {
    fs::create_dir_all("refunds").unwrap();
    let address = format!("127.0.0.1:{}", env::var("PORT").unwrap());
    for stream in TcpListener::bind(address).unwrap().incoming().flatten() {
        if let Err(error) = handle(stream).await {
            eprintln!("{error}");
        }
    }
}
