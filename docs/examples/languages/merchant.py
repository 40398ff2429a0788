import base64
import hmac
import json
import os
import re
import sqlite3
import sys
import time
# A merchant's program: `refund PAYMENT AMOUNT REFERENCE` issues a refund safely, `receive ID TIME SIGNATURES` takes an event from standard input.
RETRIES = json.load(open("retries.json"))  # what each status means for a refund, by the contract


def refund(api, request):
    for attempt in range(4):
        wait = 0
        try:
            return api.issue_refund(request, _request_timeout=10).payment_status
        except payments.ApiException as error:
            if error.status == 409:
                found = payments.DuplicateRequestKeyProblem.from_json(error.body).existing
                same_money = found.original_payment_id == request.payment_id and found.amount == request.amount
                is_ours = same_money and found.client_reference_id == request.client_reference_id
                return found.payment_status if is_ours else "conflict"
            result = RETRIES.get(str(error.status))
            if result == "none" and "errorDetails" in error.body:
                return "none"  # this alone shows that no attempt made the refund, of this run or of an earlier one
            if error.status < 500 and result != "again":
                return "unknown"
            wait = int(error.headers.get("Retry-After", 0))
        except Exception:  # no response, or none that can be read
            pass
        time.sleep(wait + 0.3 * 2**attempt)
    return "unknown"


def receive(secret, id, timestamp, signatures, body):
    key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    if len(key) < 24 or not re.fullmatch("[0-9]{1,12}", timestamp) or abs(time.time() - int(timestamp)) > 300:
        return 400
    expected = b"v1," + base64.b64encode(hmac.digest(key, f"{id}.{timestamp}.".encode() + body, "sha256"))
    if not any(hmac.compare_digest(expected, given.encode()) for given in signatures.split(" ")):
        return 400
    with sqlite3.connect("events.db") as database:  # committed before the response: after a 2xx nothing is sent again
        database.execute("CREATE TABLE IF NOT EXISTS events (webhook_id TEXT PRIMARY KEY, event TEXT)")
        database.execute("INSERT OR IGNORE INTO events VALUES (?, ?)", (id, body.decode()))
    return 204


if sys.argv[1] == "receive":
    print(receive(os.environ["WEBHOOK_SECRET"], *sys.argv[2:], sys.stdin.buffer.read()))
else:
    import payments

    payment, amount, reference = sys.argv[2:]
    configuration = payments.Configuration(os.environ["PAYMENTS_URL"], access_token=os.environ["PAYMENTS_TOKEN"])
    configuration.retries = False  # it follows no redirect, and repeats nothing by itself
    value = payments.Amount(currency="USD", value=float(amount))
    request = payments.RefundRequest(paymentId=payment, amount=value, clientReferenceId=reference, requestKey=reference)
    print(refund(payments.RefundsApi(payments.ApiClient(configuration)), request))
