/** A merchant's system with one of the mistakes in mistakes.ts: it issues refunds and receives webhooks. */
import { createHmac, randomUUID } from "node:crypto";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import { type LocalServer, serveLocally } from "../../helpers/network/local-server.ts";
import { createCaller, FORGOTTEN, type Order } from "./faulty-caller.ts";
import type { Mistake } from "./mistakes.ts";

/** What the merchant has stored about a refund. */
type Stored = {
  requestKey: string;
  status?: string | undefined;
  sequence: number;
  timestamp?: string;
  /** How many events were worked on. */
  handled: number;
};

type WebhookEvent = { type: string; timestamp: string; sequence: number; data: Record<string, unknown> };

export const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

const TOLERANCE_S = 300;
const SLOW_MS = 40;
/** How long after the response an event is booked that is booked later. */
const BOOKING_MS = 200;

/** Receivers that book whatever comes again, unless they remember its id. */
const REPEATING: readonly Mistake[] = [
  "receiver: processes each repeat",
  "receiver: reads, waits and writes",
  "receiver: keeps ids in memory",
];

/** Callers that respond before they call the service. */
const QUEUES: readonly Mistake[] = [
  "caller: issues refunds from a queue",
  "caller: makes a new requestKey after a timeout, in a queue",
  "caller: repeats for ever, from a queue",
];

/** Starts the system with one mistake, or without any. It uses no client of ours: the guide of the exam has a system that does. */
export async function startMerchant(mistake?: Mistake): Promise<LocalServer> {
  const has = (asked: Mistake) => asked === mistake;
  /** What outlives a restart: by the reference of the refund, and by its requestKey. */
  const disk = new Map<string, Stored>();
  let unsaved: (() => void)[] = [];
  let stopped = false;
  let token = "";
  let turn: Promise<unknown> = Promise.resolve();
  const seen = new Set<string>();
  const call = createCaller(has);

  const find = (reference: unknown) => disk.get(String(reference));

  /** A refund without a reference is found by its requestKey. */
  function referenceOf({ clientReferenceId, requestKey }: WebhookEvent["data"]): string {
    const [known] = [...disk].find(([, stored]) => stored.requestKey === requestKey) ?? [];
    return String(clientReferenceId ?? known);
  }

  function handle({ type, timestamp, sequence, data }: WebhookEvent): void {
    const reference = referenceOf(data);
    const stored = find(reference) ?? { requestKey: String(data.requestKey), sequence: 0, handled: 0 };
    const isLater = has("receiver: orders events by their timestamps")
      ? timestamp > (stored.timestamp ?? "")
      : sequence > stored.sequence;
    const isTaken =
      has("receiver: takes the last event for the truth") ||
      (type === "refund.authorized" &&
        has("receiver: takes refund.authorized for the truth whenever it comes"));
    const isOld = !isLater && !isTaken;
    const isRepeat = sequence === stored.sequence;
    if (has("receiver: responds 204 and stores nothing")) return;
    if (isOld && !(isRepeat && REPEATING.some(has))) return;
    const isFinal = stored.status === "AUTHORIZED" && has("receiver: ignores that a refund fails later");
    if (isFinal) return;
    const status = toStatus(data.paymentStatus);
    if (status === undefined) return;
    if (status === "TERMINAL_FAILED" && has("caller: ignores that a refund fails later")) return;
    const { handled } = stored;
    const booked = { ...stored, status, sequence, timestamp, handled: handled + 1 };
    if (!has("receiver: books later than it responds")) return void disk.set(reference, booked);
    disk.set(reference, { ...booked, handled });
    setTimeout(
      () => disk.set(reference, { ...booked, ...find(reference), handled: handled + 1 }),
      BOOKING_MS,
    );
  }

  function toStatus(paymentStatus: unknown): string | undefined {
    if (paymentStatus === "PENDING")
      return has("receiver: takes a waiting refund for a success") ? "AUTHORIZED" : "PENDING";
    if (paymentStatus === "AUTHORIZED" || paymentStatus === "TERMINAL_FAILED") return paymentStatus;
    if (has("receiver: takes an unknown status for a failure")) return "TERMINAL_FAILED";
    return has("receiver: takes an unknown status for a success") ? "AUTHORIZED" : undefined;
  }

  function isGenuine(headers: IncomingHttpHeaders, body: string): boolean {
    const [id, at, list] = ["id", "timestamp", "signature"].map(
      (name) => headers[`webhook-${name}`],
    ) as string[];
    if (list === undefined) return has("receiver: verifies only what is signed");
    const sentAt = has("receiver: takes seconds for milliseconds") ? Number(at) / 1000 : Number(at);
    const tolerance = has("receiver: allows clocks to differ by a minute") ? 60 : TOLERANCE_S;
    const isRecent = Math.abs(Date.now() / 1000 - sentAt) <= tolerance;
    if (!isRecent && !has("receiver: ignores timestamps")) return false;
    if (has("receiver: accepts any signature")) return true;
    const written =
      has("receiver: verifies the parsed JSON") || has("receiver: verifies JSON that Python has written");
    const spaces = has("receiver: verifies JSON that Python has written") ? "$1 " : "$1";
    const signed = written
      ? JSON.stringify(JSON.parse(body)).replaceAll(/([:,])(?=["{\d])(?!\d\d[:.])/g, spaces)
      : Buffer.from(body).toString(has("receiver: reads letters of one byte only") ? "latin1" : "utf8");
    const isText = has("receiver: uses the secret as text");
    const keys = [isText ? Buffer.from(SECRET) : Buffer.from(SECRET.slice("whsec_".length), "base64")];
    if (has("receiver: verifies with an empty secret, too")) keys.push(Buffer.alloc(0));
    const signatures = list.split(" ");
    if (signatures.length > 1 && has("receiver: accepts any list of signatures")) return true;
    if (has("receiver: reads the first signature only")) signatures.length = 1;
    return keys.some((key) => {
      const signature = createHmac("sha256", key).update(`${id}.${at}.${signed}`).digest("base64");
      if (has("receiver: compares the beginning of a signature"))
        return signatures.some((one) => one.slice(0, 20) === `v1,${signature}`.slice(0, 20));
      if (has("receiver: compares the end of a signature"))
        return signatures.some((one) => one.endsWith(signature.slice(-20)));
      if (has("receiver: compares signatures without case"))
        return signatures.some((one) => one.toLowerCase() === `v1,${signature}`.toLowerCase());
      return signatures.includes(`v1,${signature}`);
    });
  }

  async function receive(request: IncomingMessage, response: ServerResponse): Promise<number> {
    const body = await text(request);
    if (has("receiver: has another path")) return 404;
    if (has("receiver: takes most of the time")) await pause(600);
    if (has("receiver: redirects") && request.url === "/webhooks") {
      response.setHeader("Location", "/webhooks/");
      return 308;
    }
    const event = toNotice(body);
    if (event && has("receiver: handles before it verifies")) handle(event);
    if (!isGenuine(request.headers, body) || !event) return 400;
    const isUsual = request.rawHeaders.includes("webhook-id");
    if (!isUsual && has("receiver: reads header names in one spelling only")) return 400;
    const isUnnamed = event.data.clientReferenceId === null;
    if (isUnnamed && has("receiver: dies of a refund without a reference")) return 500;
    const isRefund = /^refund\.(pending|authorized|terminal_failed)/.test(event.type);
    const isKnown = isRefund || /^(payment|account|customer)\./.test(event.type);
    if (!isKnown && has("receiver: responds 500 to unknown events")) return 500;
    if (isKnown && !isRefund && has("receiver: refuses events that are not of refunds")) return 400;
    if (event.data.paymentStatus === "CERTIFIED" && has("receiver: responds 500 to an unknown status"))
      return 500;
    const code = (event.data.errorDetails as { errorCode?: string } | undefined)?.errorCode;
    if (code === "AMOUNT_EXCEEDS_REFUNDABLE" && has("receiver: dies of an errorCode")) return 500;
    if (code === "CERTIFIED" && has("receiver: dies of an unknown errorCode")) return 500;
    if (!isKnown && has("receiver: ends at unknown events, and is started again")) {
      stopped = true;
      setTimeout(() => {
        stopped = false;
      }, 300);
      request.socket.destroy();
      return 0;
    }
    const members = Object.keys(event).length + (isKnown ? 0 : -1);
    if (members > 4 && has("receiver: allows no unknown members")) return 400;
    const age = Date.now() - Date.parse(event.timestamp);
    if (age > 24 * 3_600_000 && has("receiver: refuses events of yesterday")) return 400;
    const id = String(request.headers["webhook-id"]);
    if (seen.has(id) && has("receiver: responds 409 to a repeat")) return 409;
    if (seen.has(id) && !has("receiver: processes each repeat")) return 204;
    if (has("receiver: handles one event at a time, slowly")) {
      turn = turn.then(() => pause(SLOW_MS));
      await turn;
    }
    if (has("receiver: reads, waits and writes")) await pause(SLOW_MS);
    if (has("receiver: loses one of two events at a moment")) {
      const before = find(referenceOf(event.data));
      await pause(SLOW_MS);
      if (before) disk.set(referenceOf(event.data), before);
      else disk.delete(referenceOf(event.data));
    }
    if (has("receiver: responds before it stores")) unsaved.push(() => handle(event));
    else handle(event);
    seen.add(id);
    return 204;
  }

  async function issue(order: Order): Promise<void> {
    const { reference } = order;
    const before = find(reference);
    if (before?.status === "TERMINAL_FAILED") return;
    if (has("caller: reads whether there is a key, and writes it later")) await pause(SLOW_MS);
    if (has("caller: prints its access token")) token = order.token;
    const isNewKey = before === undefined || has("caller: makes a new requestKey for each run");
    const newKey = has("caller: makes its requestKey of the payment") ? order.paymentId : randomUUID();
    const stored: Stored = isNewKey ? { requestKey: newKey, sequence: 0, handled: 0 } : before;
    disk.set(reference, stored);
    const status = await call(order, stored.requestKey);
    if (status === FORGOTTEN) return void disk.delete(reference);
    // An event may have said more meanwhile.
    const now = find(reference) ?? stored;
    if ((now.sequence === 0 || has("caller: takes a late response for the truth")) && status !== undefined)
      disk.set(reference, { ...now, status });
  }

  async function restart(): Promise<void> {
    stopped = true;
    unsaved = [];
    if (!has("receiver: reads, waits and writes")) seen.clear();
    if (has("receiver: books all events again when it starts"))
      for (const stored of disk.values()) stored.handled += 1;
    await pause(100);
    stopped = false;
  }

  return serveLocally(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "", "http://merchant");
    if (pathname.startsWith("/webhooks")) {
      if (stopped) return void request.socket.destroy();
      const status = await receive(request, response);
      if (status > 0) response.writeHead(status).end();
      return;
    }
    // What was acknowledged is stored before the merchant looks at it, unless a restart came first.
    if (pathname === "/state") {
      for (const save of unsaved.splice(0)) save();
      const { status = "", handled = 0 } = find(searchParams.get("reference")) ?? {};
      if (status === "" && has("caller: responds 404 for the state of a refund that it does not have"))
        response.statusCode = 404;
      const secret = has("receiver: prints its secret") ? SECRET : "";
      response.end(status === "" ? "" : `${status} after ${handled} events ${secret}${token}`);
      return;
    }
    const body = JSON.parse((await text(request)) || "{}");
    if (pathname === "/restart") await restart();
    else if (pathname === "/refund" && QUEUES.some(has)) void issue(body);
    else if (pathname === "/refund") await issue(body);
    else response.statusCode = 404;
    response.end();
  });
}

function toNotice(body: string): WebhookEvent | undefined {
  try {
    const event = JSON.parse(body);
    return event.data ? event : undefined;
  } catch {
    return undefined;
  }
}
