"""The whole system of a merchant, as small as it can be, for the exam."""

import json
import os
import uuid
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock
from urllib.parse import parse_qs, urlsplit

import httpx
from payments import AuthenticatedClient
from payments.errors import UnexpectedStatus
from payments.models import Amount, AmountCurrency, RefundRequest
from refund import is_genuine, read_event, refund_once

SECRET = os.environ["WEBHOOK_SECRET"]
STATUSES = ("PENDING", "AUTHORIZED", "TERMINAL_FAILED")
LOCK = Lock()


def known(reference):
    """Each refund is a file, where yours has a database."""
    try:
        with open(f"refunds/{reference}") as file:
            return json.load(file)
    except FileNotFoundError:
        return None


def store(reference, refund):
    with open(f"refunds/{reference}.new", "w") as file:
        json.dump(refund, file)
    os.replace(f"refunds/{reference}.new", f"refunds/{reference}")


def receive(headers, body):
    id, timestamp, signatures = (headers.get(f"webhook-{name}", "") for name in ("id", "timestamp", "signature"))
    if not is_genuine(SECRET, id, timestamp, signatures, body):
        return 400
    event = read_event(body)
    if event is None or not event.type_.startswith("refund.") or event.data.payment_status not in STATUSES:
        return 204
    with LOCK:
        reference = event.data.client_reference_id
        refund = known(reference) or {"requestKey": event.data.request_key, "sequence": 0}
        if event.sequence > refund["sequence"]:  # otherwise a repeat, or older
            store(reference, {**refund, "sequence": event.sequence, "status": str(event.data.payment_status)})
    return 204


def issue(url, token, paymentId, amount, reference):
    if Decimal(amount) != round(Decimal(amount), 2):
        return  # a float could hide the third digit
    # If it is known, it is the same decision to refund, after a run that did not finish.
    refund = known(reference) or {"requestKey": str(uuid.uuid4()), "sequence": 0}
    store(reference, refund)
    value = Amount(currency=AmountCurrency.USD, value=float(amount))
    request = RefundRequest(paymentId, value, refund["requestKey"], client_reference_id=reference)
    try:
        status = refund_once(AuthenticatedClient(base_url=url, token=token), request)
    except (httpx.TransportError, UnexpectedStatus, ValueError):
        return  # the outcome is unknown; it is run again with the stored key
    with LOCK:
        refund = known(reference)
        if refund["sequence"] == 0 and status:
            store(reference, {**refund, "status": status})


class System(BaseHTTPRequestHandler):
    def do_GET(self):
        [reference] = parse_qs(urlsplit(self.path).query)["reference"]
        self.respond(200, (known(reference) or {}).get("status", ""))

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        if self.path == "/webhooks":
            return self.respond(receive(self.headers, body))
        issue(**json.loads(body))
        self.respond(204)

    def respond(self, status, text=""):
        self.send_response(status)
        if status != 204:
            self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_):
        pass


os.makedirs("refunds", exist_ok=True)
server = ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), System)
server.socket.listen(128)
server.serve_forever()
