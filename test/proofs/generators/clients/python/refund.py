import base64
import hashlib
import hmac
import json
import time

from payments import AuthenticatedClient, models
from payments.api.refunds import issue_refund
from payments.models import Amount, AmountCurrency, Problem, Refund, RefundRequest

EVENTS = {
    "refund.pending": models.RefundPendingEvent,
    "refund.authorized": models.RefundAuthorizedEvent,
    "refund.terminal_failed": models.RefundTerminalFailedEvent,
    "payment.settled": models.PaymentSettledEvent,
    "payment.failed": models.PaymentFailedEvent,
    "payment.covered": models.PaymentCoveredEvent,
    "account.linked": models.AccountLinkedEvent,
    "account.unlinked": models.AccountUnlinkedEvent,
    "customer.created": models.CustomerCreatedEvent,
}


def refund(client: AuthenticatedClient, payment_id: str, amount: str, request_key: str) -> Refund | Problem | None:
    # A float: the JSON module refuses a Decimal, and prints a float as it was read.
    value = Amount(currency=AmountCurrency.USD, value=float(amount))
    request = RefundRequest(payment_id=payment_id, amount=value, request_key=request_key)
    return issue_refund.sync(client=client, body=request)


def is_genuine(secret: str, id: str, timestamp: str, signatures: str, body: bytes) -> bool:
    if not timestamp.isdigit() or abs(time.time() - int(timestamp)) > 300:
        return False
    key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)  # raises if it isn't base64
    if len(key) < 24:
        raise ValueError("the secret is so short that others could guess it")
    digest = hmac.digest(key, f"{id}.{timestamp}.".encode() + body, hashlib.sha256)
    expected = "v1," + base64.b64encode(digest).decode()
    return any(hmac.compare_digest(expected, signature) for signature in signatures.split(" "))


def read_event(body: bytes):
    """The event in its own class, or None if it is newer than this client."""
    event = json.loads(body)
    known = EVENTS.get(event["type"])
    return known.from_dict(event) if known else None
