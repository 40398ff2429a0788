// A merchant's test with Jest, against the sandbox that `exec` starts.
const { REFUNDS_SANDBOX_URL: url, REFUNDS_SANDBOX_TOKENS = "", JEST_WORKER_ID } = process.env;
const token = REFUNDS_SANDBOX_TOKENS.split(",")[Number(JEST_WORKER_ID) - 1]; // a merchant for each worker

/** Your system: asks with the same key until a response decides. */
async function refund(body, attempts = 4) {
  const headers = {
    Authorization: `Bearer ${token}`,
    "Content-Type": "application/json",
    Accept: "application/json",
  };
  for (let attempt = 0; attempt < attempts; attempt++) {
    const options = {
      method: "POST",
      headers,
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(1_000),
    };
    const response = await fetch(`${url}/v1/refunds`, options).catch(() => undefined);
    if (response?.status === 201) return (await response.json()).paymentStatus;
    if (response?.status === 409) return (await response.json()).existing.paymentStatus; // compare its three fields
    const seconds = Number(response?.headers.get("Retry-After") ?? 0);
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000 + 200 * 2 ** attempt));
  }
  return "unknown";
}

test("a settled payment is refunded", async () => {
  const reference = `order-${crypto.randomUUID()}`; // stored before the first call
  const amount = { currency: "USD", value: 19.99 };
  const order = { paymentId: "pay_settled", amount, clientReferenceId: reference, requestKey: reference };

  expect(await refund(order)).toBe("AUTHORIZED");
}, 20_000);
