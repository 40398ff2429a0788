# A merchant's test with pytest, against the sandbox that `exec` starts.
import json, os, time, urllib.error, urllib.request, uuid

URL = os.environ["REFUNDS_SANDBOX_URL"]
WORKER = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0")[2:])
TOKEN = os.environ["REFUNDS_SANDBOX_TOKENS"].split(",")[WORKER]  # a merchant for each worker


def refund(body):
    """Your system: asks with the same key until a response decides."""
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json", "Accept": "application/json"}
    for attempt in range(4):
        wait = 0
        try:
            request = urllib.request.Request(f"{URL}/v1/refunds", json.dumps(body).encode(), headers)
            return json.load(urllib.request.urlopen(request, timeout=1))["paymentStatus"]
        except urllib.error.HTTPError as error:
            if error.code == 409:  # compare its three fields
                return json.load(error)["existing"]["paymentStatus"]
            wait = int(error.headers.get("Retry-After", 0))
        except (OSError, ValueError):
            pass  # no response: the refund may exist
        time.sleep(wait + 0.2 * 2**attempt)
    return "unknown"


def test_a_settled_payment_is_refunded():
    reference = f"order-{uuid.uuid4()}"  # stored before the first call
    amount = {"currency": "USD", "value": 19.99}
    body = {"paymentId": "pay_settled", "amount": amount, "clientReferenceId": reference, "requestKey": reference}

    assert refund(body) == "AUTHORIZED"
