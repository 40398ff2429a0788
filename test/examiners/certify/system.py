"""A merchant's system in Python, with its standard library alone: a server that receives events, issues refunds and says their status."""

import base64
import hashlib
import hmac
import json
import os
import time
import urllib.parse
import urllib.error
import urllib.request
import uuid
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock

SECRET, FOLDER = os.environ.get("CERTIFY_SECRET", ""), os.environ["SYSTEM_FOLDER"]
STATUSES = ("PENDING", "AUTHORIZED", "TERMINAL_FAILED")
LOCK = Lock()


def path(reference):
    return os.path.join(FOLDER, hashlib.sha256(reference.encode()).hexdigest())


def read(reference):
    try:
        with open(path(reference), encoding="utf-8") as file:
            return json.load(file)
    except FileNotFoundError:
        return None


def write(reference, refund):
    with open(path(reference) + ".new", "w", encoding="utf-8") as file:
        json.dump(refund, file)
    os.replace(path(reference) + ".new", path(reference))


def is_genuine(headers, body):
    key = base64.b64decode(SECRET.removeprefix("whsec_"), validate=True)
    webhook_id, timestamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not timestamp.isdigit() or abs(time.time() - int(timestamp)) > 300:
        return False
    digest = hmac.digest(key, f"{webhook_id}.{timestamp}.".encode() + body, hashlib.sha256)
    expected = "v1," + base64.b64encode(digest).decode()
    return any(hmac.compare_digest(expected, one) for one in headers.get("webhook-signature", "").split(" "))


class System(BaseHTTPRequestHandler):
    def do_GET(self):
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query)
        self.respond(200, (read(query["reference"][0]) or {}).get("status", ""))

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        if self.path == "/refund":
            refund(**json.loads(body))
            return self.respond(200)
        genuine = is_genuine(self.headers, body)
        if genuine:
            store(json.loads(body))
        self.respond(200 if genuine else 400)

    def respond(self, status, text=""):
        self.send_response(status)
        self.send_header("content-length", len(text))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_):
        pass


def store(event):
    data = event["data"]
    if not event["type"].startswith("refund.") or data["paymentStatus"] not in STATUSES:
        return
    with LOCK:
        refund = read(data["clientReferenceId"]) or {"requestKey": data["requestKey"], "sequence": 0}
        if event["sequence"] > refund["sequence"]:
            refund.update(sequence=event["sequence"], status=data["paymentStatus"])
            write(data["clientReferenceId"], refund)


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


def call(url, token, request):
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json", "Accept": "application/json"}
    post = urllib.request.Request(f"{url}/v1/refunds", json.dumps(request).encode(), headers)
    try:
        with urllib.request.build_opener(NoRedirect).open(post, timeout=10) as response:
            return response.status, response.headers, json.loads(response.read())
    except urllib.error.HTTPError as error:
        text = error.read()
        return error.code, error.headers, json.loads(text) if "json" in error.headers.get("content-type", "") else {}
    except Exception:  # lost, cut off or too slow: the outcome is unknown
        return None, {}, {}


def refund(url, token, paymentId, amount, reference):
    if -Decimal(amount).as_tuple().exponent > 2:
        return  # an amount has at most two digits after the point
    stored = read(reference) or {"requestKey": str(uuid.uuid4()), "sequence": 0}
    write(reference, stored)
    value = {"currency": "USD", "value": float(amount)}
    request = {"paymentId": paymentId, "amount": value, "clientReferenceId": reference, "requestKey": stored["requestKey"]}
    for attempt in range(4):
        status, headers, body = call(url, token, request)
        existing = body.get("existing", {})
        if status == 201 or (status == 409 and existing.get("originalPaymentId") == paymentId and existing.get("amount") == value):
            stored["status"] = (body if status == 201 else existing)["paymentStatus"]
            write(reference, stored)
            return
        if status is not None and status != 429 and status < 500:
            return
        time.sleep(max(int(headers.get("retry-after") or 0), 0.06 * 2**attempt))


server = ThreadingHTTPServer(("127.0.0.1", 0), System)
server.socket.listen(128)
print(f"http://127.0.0.1:{server.server_address[1]}", flush=True)
server.serve_forever()
