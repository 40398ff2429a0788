import base64
import hashlib
import hmac
import json
import re
import time

import httpx
from payments import AuthenticatedClient, models
from payments.api.refunds import issue_refund
from payments.errors import UnexpectedStatus
from payments.models import Amount, AmountCurrency, DuplicateRequestKeyProblem, Problem, Refund, RefundRequest

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


def refund_once(client: AuthenticatedClient, request: RefundRequest) -> str | None:
    """Repeats a call whose outcome is unknown, always with the same requestKey. Returns the status of the refund, or None if
    none was made. After an exception, repeat it later with the same requestKey."""
    client = client.with_timeout(httpx.Timeout(10))  # otherwise it would wait for ever; it follows no redirect by itself
    for attempt in range(4):
        try:
            response = issue_refund.sync_detailed(client=client, body=request)
        except (httpx.TransportError, ValueError) as error:  # no response, or none that can be read
            failure, seconds = error, 0
        else:
            if isinstance(response.parsed, Refund):
                return response.parsed.payment_status.value
            if isinstance(response.parsed, DuplicateRequestKeyProblem):
                return existing_status(request, response.parsed)
            if response.status_code < 500 and response.status_code != 429:
                return None
            failure = UnexpectedStatus(response.status_code, response.content)
            seconds = int(response.headers.get("Retry-After", 0))
        if attempt < 3:
            time.sleep(seconds + 0.3 * 2**attempt)
    raise failure


def existing_status(request: RefundRequest, problem: DuplicateRequestKeyProblem) -> str | None:
    """The status of the refund that has the requestKey, if it is the one that was requested."""
    existing = problem.existing
    is_ours = existing.original_payment_id == request.payment_id and existing.amount == request.amount
    return existing.payment_status.value if is_ours else None


def is_genuine(secret: str, id: str, timestamp: str, signatures: str, body: bytes) -> bool:
    if not re.fullmatch("[0-9]{1,12}", timestamp) or abs(time.time() - int(timestamp)) > 300:
        return False
    key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)  # raises if it isn't base64
    if len(key) < 24:
        raise ValueError("the secret is so short that others could guess it")
    digest = hmac.digest(key, f"{id}.{timestamp}.".encode() + body, hashlib.sha256)
    expected = b"v1," + base64.b64encode(digest)
    return any(hmac.compare_digest(expected, signature) for signature in signatures.encode().split(b" "))


def read_event(body: bytes):
    """The event in its own class, or None if it is newer than this client."""
    event = json.loads(body)
    known = EVENTS.get(event["type"])
    return known.from_dict(event) if known else None
