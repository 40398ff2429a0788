import createFetchClient, { type Middleware } from "openapi-fetch";
import type { paths } from "../../openapi/generated/types.ts";
import { UnexpectedResponseError } from "./errors.ts";
import { isObject, parseJson } from "./json.ts";
import type { OperationId, PathOf, RequestBody, Result, SuccessOf } from "./types.ts";

export interface ClientOptions {
  /** Where the service is, such as `https://payments.example.com`. */
  baseUrl: string;
  /** Sent as `Authorization: Bearer …` with every call. */
  accessToken: string;
  /** Used instead of the runtime's own `fetch`: the place for timeouts, proxies and retries. */
  fetch?: (request: Request) => Promise<Response>;
}

/** One function for each operation of the contract. */
export type Client = { [Id in OperationId]: (body: RequestBody<Id>) => Promise<Result<Id>> };

const OPERATIONS = {
  issueRefund: { path: "/v1/refunds", success: 201 },
  subscribeToWebhooks: { path: "/v1/webhook/subscribe", success: 200 },
} as const satisfies { [Id in OperationId]: { path: PathOf<Id>; success: SuccessOf<Id> } };

/**
 * Makes a client of the service. Every answer of the service is a value, a problem as well.
 *
 * @throws UnexpectedResponseError for an answer that is not the service's, such as a page of a proxy or a redirect
 * @throws TypeError (of `fetch`) when there is no answer; whether the call was carried out is then unknown
 *
 * @example
 * const client = createClient({ baseUrl: "http://127.0.0.1:3000", accessToken: "sandbox_acme" });
 * const result = await client.issueRefund({
 *   paymentId: "pay_settled",
 *   amount: { currency: "USD", value: 19.99 },
 *   requestKey: "refund-1042-1",
 * });
 * if (result.status === 201) console.log(result.body.paymentStatus);
 */
export function createClient({ baseUrl, accessToken, fetch }: ClientOptions): Client {
  const api = createFetchClient<paths>({
    baseUrl,
    headers: { Authorization: `Bearer ${accessToken}`, Accept: "application/json" },
    // Followed, a 301 would turn the call into a GET, and a 308 would show the token to wherever it points.
    redirect: "manual",
    ...(fetch && { fetch }),
  });

  async function call<Id extends OperationId>(id: Id, body: RequestBody<Id>): Promise<Result<Id>> {
    const { path, success } = OPERATIONS[id];
    // The pairs of path and body are checked where OPERATIONS is declared; a union of them is too wide for this call.
    const { data, error, response } = await api.POST(path as "/v1/refunds", {
      body: body as RequestBody<"issueRefund">,
      middleware: [refuseForeign(success)],
    });
    // The server's answers are proven against the contract by its own tests; the client takes its word for the rest.
    return { status: response.status, body: data ?? error, response } as unknown as Result<Id>;
  }

  return {
    issueRefund: (body) => call("issueRefund", body),
    subscribeToWebhooks: (body) => call("subscribeToWebhooks", body),
  };
}

/** Looks at answers before openapi-fetch does, which gives no error at all for an empty one. */
function refuseForeign(success: number): Middleware {
  return {
    async onResponse({ response }) {
      const text = await response.clone().text();
      const body = isJson(response) ? parseJson(text) : undefined;
      const own = response.status === success ? isObject(body) : isProblem(body);
      if (!own) throw new UnexpectedResponseError(response, text);
    },
  };
}

function isJson(response: Response): boolean {
  return /^application\/(problem\+)?json\b/i.test(response.headers.get("content-type") ?? "");
}

/** Gateways answer with JSON of their own, which has no code to switch on. */
function isProblem(body: unknown): boolean {
  return isObject(body) && isObject(body.errorDetails) && typeof body.errorDetails.errorCode === "string";
}
