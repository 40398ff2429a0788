import os

from payments import AuthenticatedClient, models
from payments.api.refunds import issue_refund
from payments.api.webhooks import subscribe_to_webhooks
from payments.models import (
    Amount,
    AmountCurrency,
    CategoriesOfEvents,
    DuplicateRequestKeyProblem,
    EventCategory,
    EventName,
    EveryEvent,
    InvalidRequestProblem,
    Refund,
    RefundErrorDetails,
    RefundRequest,
    SingleEvents,
    Subscription,
    SubscriptionRequest,
)
from refund import is_genuine, read_event, refund

client = AuthenticatedClient(base_url=os.environ["PAYMENTS_URL"], token=os.environ["ACCESS_TOKEN"])
run = os.environ["RUN"]

last = ""
for index, entry in enumerate(os.environ["REFUNDS"].split(",")):
    payment_id, amount = entry.split("=")
    last = f"{run}-exact{index}"
    response = refund(client, payment_id, amount, last)
    assert isinstance(response, Refund), response
    print(f"exact{index}.status={response.payment_status}")
    print(f"exact{index}.paymentId={response.payment_id}")
    print(f"exact{index}.reference={response.client_reference_id or 'null'}")

price = Amount(currency=AmountCurrency.USD, value=9.99)
request = RefundRequest("pay_recent", price, f"{run}-pending", client_reference_id="order-1042")
response = issue_refund.sync(client=client, body=request)
assert isinstance(response, Refund), response
print(f"pending.status={response.payment_status}")
print(f"pending.reference={response.client_reference_id}")

request = RefundRequest("pay_failed", price, f"{run}-failed", client_refefence_id="order-1043")
response = issue_refund.sync(client=client, body=request)
assert isinstance(response, Refund) and isinstance(response.error_details, RefundErrorDetails), response
print(f"failed.status={response.payment_status}")
print(f"failed.errorCode={response.error_details.error_code}")
print(f"failed.reference={response.client_reference_id}")

invalid = refund(client, "pay_recent", "19.999", f"{run}-invalid")
assert isinstance(invalid, InvalidRequestProblem), invalid
print(f"invalid.status={invalid.status}")
print(f"invalid.pointer={invalid.violations[0].pointer}")
duplicate = refund(client, "pay_recent", "9.99", last)
assert isinstance(duplicate, DuplicateRequestKeyProblem), duplicate
print(f"duplicate.status={duplicate.status}")
print(f"duplicate.errorCode={duplicate.error_details.error_code}")
print(f"duplicate.existing={duplicate.existing.payment_id}")
print(f"duplicate.amount={duplicate.existing.amount.value}")

secret = os.environ["WEBHOOK_SECRET"]
kinds = {
    "event": SingleEvents(type_="EVENT", details=[EventName.REFUND_AUTHORIZED]),
    "category": CategoriesOfEvents(type_="CATEGORY", details=[EventCategory.PAYMENT]),
    "all": EveryEvent(type_="ALL"),
}
for name, details in kinds.items():
    body = SubscriptionRequest("http://127.0.0.1:9/hooks", secret, details)
    subscription = subscribe_to_webhooks.sync(client=client, body=body)
    assert isinstance(subscription, Subscription), subscription
    print(f"subscription.{name}={subscription.subscription_key}")

id, event = os.environ["WEBHOOK_ID"], os.environ["WEBHOOK_BODY"].encode()
timestamp, signature = os.environ["WEBHOOK_TIMESTAMP"], os.environ["WEBHOOK_SIGNATURE"]
old, old_signature = os.environ["OLD_TIMESTAMP"], os.environ["OLD_SIGNATURE"]
print(f"webhook.genuine={is_genuine(secret, id, timestamp, signature, event)}".lower())
print(f"webhook.altered={is_genuine(secret, id, timestamp, signature, event + b' ')}".lower())
print(f"webhook.old={is_genuine(secret, id, old, old_signature, event)}".lower())


def is_accepted(forgery: str) -> bool:
    weak, signature = forgery.split("|")
    try:
        return is_genuine(weak, id, timestamp, signature, event)
    except ValueError:  # the secret is refused
        return False


print(f"webhook.forged={any(map(is_accepted, os.environ['FORGERIES'].split(';')))}".lower())


def fields(data) -> list:
    match data:
        case models.FailedRefundEventData():
            return [*refund_fields(data), data.error_details.error_code]
        case models.RefundEventData():
            return refund_fields(data)
        case models.PaymentEventData():
            return [data.payment_id, data.status, data.amount.value]
        case models.AccountEventData():
            return [data.account_id]
        case models.CustomerEventData():
            return [data.customer_id]


def refund_fields(data) -> list:
    reference = data.client_reference_id or "null"
    return [data.payment_id, data.payment_status, reference, data.original_payment_id, data.amount.value, data.request_key]


for index, line in enumerate(os.environ["EVENTS"].splitlines()):
    event = read_event(line.encode())
    head = [event.type_, event.sequence, round(event.timestamp.timestamp() * 1000)] if event else ["unknown"]
    print(f"event{index}=", *head, *(fields(event.data) if event else []))
