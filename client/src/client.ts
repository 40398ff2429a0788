import createFetchClient from "openapi-fetch";
import type { paths } from "../../openapi/generated/types.ts";
import { UnexpectedResponseError } from "./errors.ts";
import type { OperationId, PathOf, RequestBody, Result } from "./types.ts";

export interface ClientOptions {
  /** Where the service is, such as `https://payments.example.com`. */
  baseUrl: string;
  /** Sent as `Authorization: Bearer …` with every call. */
  accessToken: string;
  /** Used instead of the runtime's own `fetch`. */
  fetch?: (request: Request) => Promise<Response>;
}

/** One function for each operation of the contract. */
export type Client = { [Id in OperationId]: (body: RequestBody<Id>) => Promise<Result<Id>> };

const PATHS = {
  issueRefund: "/v1/refunds",
  subscribeToWebhooks: "/v1/webhook/subscribe",
} as const satisfies { [Id in OperationId]: PathOf<Id> };

/**
 * Makes a client of the service. Every answer that the contract declares is a value, a problem as well.
 *
 * @throws UnexpectedResponseError for an answer that the contract does not declare, such as a page of a proxy
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
    ...(fetch && { fetch }),
  });

  async function call<Id extends OperationId>(id: Id, body: RequestBody<Id>): Promise<Result<Id>> {
    // The pairs of path and body are checked where PATHS is declared; a union of them is too wide for this call.
    const { data, error, response } = await api.POST(PATHS[id] as "/v1/refunds", {
      body: body as RequestBody<"issueRefund">,
      parseAs: "text",
    });
    return toResult<Id>(response, response.ok ? data : error);
  }

  return {
    issueRefund: (body) => call("issueRefund", body),
    subscribeToWebhooks: (body) => call("subscribeToWebhooks", body),
  };
}

/** `content` is the text of a success, and of a failure what could be made of its text. */
function toResult<Id extends OperationId>(response: Response, content: unknown): Result<Id> {
  const body = typeof content === "string" ? parseJson(content) : content;
  if (!isJson(response) || typeof body !== "object" || body === null) {
    throw new UnexpectedResponseError(response, String(content ?? ""));
  }
  // The server's answers are proven against the contract by its own tests; the client takes its word for the shape.
  return { status: response.status, body, response } as Result<Id>;
}

function isJson(response: Response): boolean {
  return /^application\/(problem\+)?json\b/i.test(response.headers.get("content-type") ?? "");
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
