/** A call that creates the record that another call uses. */
type Step = {
  method: string;
  path: string;
  body?: unknown;
  /** A value of the response that later calls use, and its location there. */
  take?: { name: string; from: (string | number)[] };
};

/** A call as its sample in the reference shows it. */
export type Call = {
  /** The part of the reference that shows it, such as `refunds/issuerefund`. */
  route: string;
  summary: string;
  method: string;
  /** With names in braces for values of the calls before it. */
  path: string;
  /** Bodies to choose from; none for a call without a body. */
  examples: { name: string; body: unknown }[];
  before: Step[];
  /** Whether the console lists requests of this kind, as it does those to the published contract. */
  isRecorded: boolean;
};

export type Received = {
  status: string;
  isSuccess: boolean;
  milliseconds: number;
  body: string;
  /** The page of the console about this request. */
  consoleUrl: string;
};

type Sent = { method: string; path: string; body?: string | undefined; token: string };

/** Makes the calls that create what this one needs, and then sends it. Rejects when the sandbox does not respond. */
export async function sendCall(call: Call, { method, path, body, token }: Sent): Promise<Received> {
  const filled = path.includes("{") ? fill(path, await takeValues(call.before, token)) : path;
  const startedAt = performance.now();
  const response = await request({ method, path: filled, body, token });
  const text = await response.text();
  return {
    status: `${response.status} ${response.statusText}`,
    isSuccess: response.ok,
    milliseconds: Math.round(performance.now() - startedAt),
    body: text,
    consoleUrl: call.isRecorded ? await findInConsole(text, token) : "/console",
  };
}

function request({ method, path, body, token }: Sent): Promise<Response> {
  const headers: Record<string, string> = { Authorization: `Bearer ${token}`, Accept: "application/json" };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  // A path alone, so that a token is never sent to another host.
  const url = new URL(location.origin);
  const [pathname = "", query = ""] = path.split("?");
  url.pathname = pathname;
  url.search = query;
  return fetch(url, { method, headers, ...(body !== undefined && { body }) });
}

async function takeValues(steps: readonly Step[], token: string): Promise<Map<string, string>> {
  const values = new Map<string, string>();
  for (const { method, path, body, take } of steps) {
    const sent = body === undefined ? undefined : JSON.stringify(body);
    const response = await request({ method, path, body: sent, token });
    const result: unknown = await response.json();
    if (take) values.set(take.name, String(valueAt(result, take.from)));
  }
  return values;
}

const fill = (path: string, values: ReadonlyMap<string, string>) =>
  path.replaceAll(/\{(\w+)\}/g, (whole, name: string) => values.get(name) ?? whole);

function valueAt(value: unknown, path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>(
    (part, name) => (part as Record<string | number, unknown> | undefined)?.[name],
    value,
  );
}

const RECENT = 20;
const TRIES = 10;
const PAUSE_MS = 50;

/**
 * Finds a request by its response, which no two requests share: a response names its refund, its subscription or its problem.
 * The sandbox records a request just after it has sent the response.
 */
async function findInConsole(responseBody: string, token: string): Promise<string> {
  for (let attempt = 0; attempt < TRIES; attempt += 1) {
    const response = await request({ method: "GET", path: `/sandbox/requests?limit=${RECENT}`, token });
    if (!response.ok) break;
    const { items } = (await response.json()) as { items: { requestId: string; responseBody: string }[] };
    const found = items.find((one) => one.responseBody === responseBody);
    if (found) return `/console#/requests/${encodeURIComponent(found.requestId)}`;
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  return "/console#/requests";
}
