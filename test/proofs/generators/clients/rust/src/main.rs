mod exam;
mod refund;

use payments::apis::refunds_api::{issue_refund, IssueRefundError};
use payments::apis::{configuration::Configuration, webhooks_api, Error};
use payments::models::{
    amount::Currency, subscription_details::Type, Amount, DuplicateRequestKeyProblem, FailedRefundEventData,
    PaymentEventData, RefundEventData, RefundRequest, SubscriptionDetails, SubscriptionRequest,
};
use refund::{is_genuine, read_event, refund, Event};
use serde_json::json;

fn env(name: &str) -> String {
    std::env::var(name).expect(name)
}

fn main() {
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        if std::env::args().len() > 1 { exam::serve().await } else { run().await }
    });
}

async fn run() {
    let mut configuration = Configuration::new();
    configuration.base_path = env("PAYMENTS_URL");
    configuration.bearer_access_token = Some(env("ACCESS_TOKEN"));
    let run = env("RUN");

    let mut last = String::new();
    for (index, entry) in env("REFUNDS").split(',').enumerate() {
        let (payment_id, amount) = entry.split_once('=').unwrap();
        last = format!("{run}-exact{index}");
        let refund = refund(&configuration, payment_id, amount.parse().unwrap(), &last).await.unwrap();
        println!("exact{index}.status={}\nexact{index}.paymentId={}", json!(refund.payment_status).as_str().unwrap(), refund.payment_id);
        println!("exact{index}.reference={}", or_null(refund.client_reference_id));
    }

    let price = Amount::new(Currency::Usd, 9.99);
    let mut request = RefundRequest::new("pay_recent".into(), price.clone(), format!("{run}-pending"));
    request.client_reference_id = Some("order-1042".into());
    let pending = issue_refund(&configuration, request).await.unwrap();
    println!("pending.status={}", json!(pending.payment_status).as_str().unwrap());
    println!("pending.reference={}", pending.client_reference_id.unwrap());

    let mut request = RefundRequest::new("pay_failed".into(), price, format!("{run}-failed"));
    request.client_refefence_id = Some("order-1043".into());
    let failed = issue_refund(&configuration, request).await.unwrap();
    println!("failed.status={}", json!(failed.payment_status).as_str().unwrap());
    println!("failed.errorCode={}", failed.error_details.unwrap().error_code);
    println!("failed.reference={}", failed.client_reference_id.unwrap());

    if let Err(Error::ResponseError(response)) = refund(&configuration, "pay_recent", 19.999, &format!("{run}-invalid")).await {
        println!("invalid.status={}", response.status.as_u16());
        if let Some(IssueRefundError::Status400(problem)) = response.entity {
            println!("invalid.pointer={}", problem.violations[0].pointer);
        }
    }
    if let Err(Error::ResponseError(response)) = refund(&configuration, "pay_recent", 9.99, &last).await {
        println!("duplicate.status={}", response.status.as_u16());
        // In `entity` it is the plain `Problem`, which fits too and comes first.
        let problem: DuplicateRequestKeyProblem = serde_json::from_str(&response.content).unwrap();
        println!("duplicate.errorCode={}", problem.error_details.error_code);
        println!("duplicate.existing={}", problem.existing.payment_id);
        println!("duplicate.amount={}", problem.existing.amount.unwrap().value);
    }

    for (name, kind, details) in [
        ("event", Type::Event, vec!["refund.authorized".into()]),
        ("category", Type::Category, vec!["PAYMENT".into()]),
        ("all", Type::All, vec![]),
    ] {
        let details = SubscriptionDetails::new(kind, details);
        let request = SubscriptionRequest::new("http://127.0.0.1:9/hooks".into(), env("WEBHOOK_SECRET"), details);
        let subscription = webhooks_api::subscribe_to_webhooks(&configuration, request).await.unwrap();
        println!("subscription.{name}={}", subscription.subscription_key);
    }

    let (secret, id, body) = (env("WEBHOOK_SECRET"), env("WEBHOOK_ID"), env("WEBHOOK_BODY"));
    let (timestamp, signature) = (env("WEBHOOK_TIMESTAMP"), env("WEBHOOK_SIGNATURE"));
    println!("webhook.genuine={}", is_genuine(&secret, &id, &timestamp, &signature, &body));
    println!("webhook.altered={}", is_genuine(&secret, &id, &timestamp, &signature, &format!("{body} ")));
    println!("webhook.old={}", is_genuine(&secret, &id, &env("OLD_TIMESTAMP"), &env("OLD_SIGNATURE"), &body));
    let forgeries = env("FORGERIES");
    let forged = forgeries.split(';').any(|forgery| {
        let (weak, signature) = forgery.split_once('|').unwrap();
        is_genuine(weak, &id, &timestamp, signature, &body)
    });
    println!("webhook.forged={forged}");

    for (index, line) in env("EVENTS").lines().enumerate() {
        println!("event{index}={}", describe(read_event(line).unwrap()));
    }
}

fn describe(event: Event) -> String {
    match event {
        Event::RefundPending(e) => format!("refund.pending {} {} {}", e.sequence, e.timestamp, of_refund(*e.data)),
        Event::RefundAuthorized(e) => format!("refund.authorized {} {} {}", e.sequence, e.timestamp, of_refund(*e.data)),
        Event::RefundTerminalFailed(e) => format!("refund.terminal_failed {} {} {}", e.sequence, e.timestamp, of_failed(*e.data)),
        Event::PaymentSettled(e) => format!("payment.settled {} {} {}", e.sequence, e.timestamp, of_payment(*e.data)),
        Event::PaymentFailed(e) => format!("payment.failed {} {} {}", e.sequence, e.timestamp, of_payment(*e.data)),
        Event::PaymentCovered(e) => format!("payment.covered {} {} {}", e.sequence, e.timestamp, of_payment(*e.data)),
        Event::AccountLinked(e) => format!("account.linked {} {} {}", e.sequence, e.timestamp, e.data.account_id),
        Event::AccountUnlinked(e) => format!("account.unlinked {} {} {}", e.sequence, e.timestamp, e.data.account_id),
        Event::CustomerCreated(e) => format!("customer.created {} {} {}", e.sequence, e.timestamp, e.data.customer_id),
        Event::Unknown => "unknown".into(),
    }
}

fn of_refund(d: RefundEventData) -> String {
    let reference = or_null(d.client_reference_id);
    format!("{} {} {reference} {} {} {}", d.payment_id, d.payment_status, d.original_payment_id, d.amount.value, d.request_key)
}

fn of_failed(d: FailedRefundEventData) -> String {
    let reference = or_null(d.client_reference_id);
    let refund = format!("{} {} {reference} {}", d.payment_id, d.payment_status, d.original_payment_id);
    format!("{refund} {} {} {}", d.amount.value, d.request_key, d.error_details.error_code)
}

fn of_payment(d: PaymentEventData) -> String {
    format!("{} {} {}", d.payment_id, d.status, d.amount.value)
}

fn or_null(reference: Option<String>) -> String {
    reference.unwrap_or("null".into())
}
