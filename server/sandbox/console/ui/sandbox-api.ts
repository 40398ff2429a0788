import createClient from "openapi-fetch";
import { useEffect, useState } from "preact/hooks";
import type {
  components as SandboxComponents,
  paths as SandboxPaths,
} from "../../../../openapi/generated/sandbox-types.ts";
import type { paths } from "../../../../openapi/generated/types.ts";

/* How the console calls the sandbox: the clients, the stream of changes, and hooks that load and call. */

export type SandboxSchemas = SandboxComponents["schemas"];
export type Problem = Omit<SandboxSchemas["Problem"], "status"> & {
  /** Undefined when there was no response. */
  status?: number;
  violations?: { pointer: string; message: string }[];
  existing?: { paymentId: string };
};
export type Topic = "clock" | "payments" | "webhooks" | "requests" | "inbox";

/** The merchants of every sandbox, by their access tokens. */
export const MERCHANTS: Readonly<Record<string, string>> = { sandbox_acme: "acme", sandbox_globex: "globex" };

/** The sandbox's own access tokens are public knowledge, so a tab may remember the one in use. */
const TOKEN_KEY = "console-token";
let accessToken = sessionStorage.getItem(TOKEN_KEY) ?? Object.keys(MERCHANTS)[0] ?? "";

export const getToken = () => accessToken;

/** Redraws every part of the page with what the bearer of the token may see. */
export function setToken(token: string): void {
  accessToken = token;
  sessionStorage.setItem(TOKEN_KEY, token);
  setConnection("online"); // until the stream says otherwise
  stream?.abort();
  notifyListeners();
}

const NO_RESPONSE = {
  title: "No response",
  detail: "The sandbox did not respond, so it is unknown whether this was done. You can try again.",
};

/** Resolves also when the connection fails, so that a view shows this like any other problem. */
async function send(request: Request): Promise<Response> {
  request.headers.set("Authorization", `Bearer ${accessToken}`);
  try {
    const response = await fetch(request);
    if (response.headers.get("Content-Type") === "text/event-stream") return response;
    const body = await response.blob(); // here, because a connection can also fail in the middle of a body
    return new Response(response.status === 204 ? null : body, response);
  } catch {
    return Response.json(NO_RESPONSE, { status: 503 });
  }
}

const options = { baseUrl: location.origin, fetch: send, headers: { Accept: "application/json" } };
export const sandbox = createClient<SandboxPaths>(options);
export const published = createClient<paths>(options);

const listeners = new Map<() => void, readonly Topic[]>();

/** Calls a listener after each change of the topics; returns a function that removes it. */
export function listen(topics: readonly Topic[], listener: () => void): () => void {
  listeners.set(listener, topics);
  return () => listeners.delete(listener);
}

function notifyListeners(topics?: readonly Topic[]): void {
  for (const [listener, wanted] of listeners) {
    if (!topics || wanted.some((topic) => topics.includes(topic))) listener();
  }
}

/** Whether the page follows the sandbox's changes, or why not. */
export type Connection = "online" | "offline" | Problem;

let connection: Connection = "online";
const connectionListeners = new Set<(connection: Connection) => void>();

function setConnection(value: Connection): void {
  connection = value;
  for (const listener of connectionListeners) listener(value);
}

export function useConnection(): Connection {
  const [value, setValue] = useState(connection);
  useEffect(() => {
    connectionListeners.add(setValue);
    return () => void connectionListeners.delete(setValue);
  }, []);
  return value;
}

let stream: AbortController | undefined;
const RETRY_MS = 1_000;

/** Follows the stream of changes for as long as the page is open, and connects again when it ends. */
export async function followChanges(): Promise<never> {
  for (let isFirst = true; ; isFirst = false) {
    stream = new AbortController();
    const { signal } = stream;
    const onOpen = () => {
      setConnection("online");
      if (!isFirst) notifyListeners(); // changes may have been missed
    };
    const problem = await readChanges(onOpen, signal).catch(() => undefined);
    if (signal.aborted) continue;
    setConnection(problem?.status ? problem : "offline");
    await Promise.race([
      once(signal, "abort"),
      // A token that was refused would be refused again.
      ...(problem?.status === 401 ? [] : [new Promise((resolve) => setTimeout(resolve, RETRY_MS))]),
    ]);
  }
}

const once = (target: EventTarget, type: string) =>
  new Promise((resolve) => target.addEventListener(type, resolve, { once: true }));

/** @returns the problem if there is no stream, and undefined when the stream has ended */
async function readChanges(onOpen: () => void, signal: AbortSignal): Promise<Problem | undefined> {
  const { data, error } = await sandbox.GET("/sandbox/changes", {
    headers: { Accept: "text/event-stream, application/json" },
    parseAs: "stream",
    signal,
  });
  if (!data) return error as Problem | undefined;
  const reader = data.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  onOpen();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return undefined;
    const messages = (text + value).split("\n\n");
    text = messages.pop() ?? "";
    for (const message of messages) {
      const line = message.split("\n").find((part) => part.startsWith("data: "));
      if (line) notifyListeners((JSON.parse(line.slice("data: ".length)) as { topics: Topic[] }).topics);
    }
  }
}

export type Result<Data> = { data?: Data; error?: unknown };
export type Loaded<Data> = { data?: Data; problem?: Problem };

export type Page<Item> = { items: Item[]; nextCursor: string | null };

/**
 * Loads when the view opens and again after each change of the topics; `key` names what is loaded. What was loaded before a
 * problem stays, and with it what is typed into its forms, unless it no longer exists.
 */
export function useLoaded<Data>(
  key: string,
  topics: readonly Topic[],
  load: () => Promise<Result<Data>>,
): Loaded<Data> {
  const [state, setState] = useState<Loaded<Data> & { key: string }>({ key });
  useEffect(() => {
    let open = true;
    let latest = 0;
    const run = async () => {
      const number = ++latest;
      const { data, error } = await load();
      if (!open || number !== latest) return;
      const problem = error as Problem | undefined;
      setState((before) => {
        const former = before.key === key && problem?.status !== 404 ? before.data : undefined;
        const shown = data ?? former;
        return { key, ...(shown !== undefined && { data: shown }), ...(problem && { problem }) };
      });
    };
    const end = listen(topics, run);
    run();
    return () => {
      open = false;
      end();
    };
  }, [key]);
  return state.key === key ? state : {};
}

/** Makes a call, and keeps its problem until the next one. */
export function useCall() {
  const [problem, setProblem] = useState<Problem>();
  const [busy, setBusy] = useState(false);
  const run = async <Outcome extends Result<unknown>>(call: () => Promise<Outcome>): Promise<Outcome> => {
    setBusy(true);
    const outcome = await call();
    setBusy(false);
    setProblem(outcome.error as Problem | undefined);
    return outcome;
  };
  return { problem, busy, run };
}
