import createClient from "openapi-fetch";
import { useEffect, useState } from "preact/hooks";
import type {
  components as SandboxComponents,
  paths as SandboxPaths,
} from "../../../../openapi/generated/sandbox-types.ts";
import type { components, paths } from "../../../../openapi/generated/types.ts";

export type SandboxSchemas = SandboxComponents["schemas"];
export type Problem = components["schemas"]["Problem"] & {
  violations?: { pointer: string; message: string }[];
  existing?: { paymentId: string };
};
export type Topic = "clock" | "payments" | "webhooks" | "requests" | "inbox";

/** The sandbox's own access tokens are public knowledge, so a tab may remember the one in use. */
const TOKEN_KEY = "console-token";
let accessToken = sessionStorage.getItem(TOKEN_KEY) ?? "sandbox_acme";

export const getToken = () => accessToken;

/** Redraws every part of the page with what the bearer of the token may see. */
export function setToken(token: string): void {
  accessToken = token;
  sessionStorage.setItem(TOKEN_KEY, token);
  connection?.abort();
  announce();
}

const options = {
  baseUrl: location.origin,
  fetch: (request: Request) => {
    request.headers.set("Authorization", `Bearer ${accessToken}`);
    return fetch(request);
  },
};
export const sandbox = createClient<SandboxPaths>({ ...options, headers: { Accept: "application/json" } });
export const published = createClient<paths>({ ...options, headers: { Accept: "application/json" } });

const listeners = new Map<() => void, readonly Topic[]>();

/** Calls a listener after each change of the topics; returns a function that removes it. */
export function listen(topics: readonly Topic[], listener: () => void): () => void {
  listeners.set(listener, topics);
  return () => listeners.delete(listener);
}

let online = true;

function announce(topics?: readonly Topic[]): void {
  for (const [listener, own] of listeners) {
    if (!topics || own.some((topic) => topics.includes(topic))) listener();
  }
}

const statusListeners = new Set<(online: boolean) => void>();

export function setOnline(value: boolean): void {
  if (online === value) return;
  online = value;
  for (const listener of statusListeners) listener(value);
  if (value) announce(); // Changes may have been missed while the stream was down.
}

export function useOnline(): boolean {
  const [value, setValue] = useState(online);
  useEffect(() => {
    statusListeners.add(setValue);
    return () => void statusListeners.delete(setValue);
  }, []);
  return value;
}

let connection: AbortController | undefined;
const RETRY_MS = 1_000;

/** Follows the stream of changes for as long as the page is open, and connects again when it ends. */
export async function followChanges(): Promise<never> {
  for (;;) {
    connection = new AbortController();
    await readChanges(connection.signal).catch(() => {});
    if (!connection.signal.aborted) {
      setOnline(false);
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }
}

async function readChanges(signal: AbortSignal): Promise<void> {
  const { data, error } = await sandbox.GET("/sandbox/changes", {
    headers: { Accept: "text/event-stream, application/json" },
    parseAs: "stream",
    signal,
  });
  if (error || !data) throw new Error("no stream");
  const reader = data.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    setOnline(true);
    const messages = (text + value).split("\n\n");
    text = messages.pop() ?? "";
    for (const message of messages) {
      const line = message.split("\n").find((part) => part.startsWith("data: "));
      if (line) announce((JSON.parse(line.slice("data: ".length)) as { topics: Topic[] }).topics);
    }
  }
}

export type Result<Data> = { data?: Data; error?: unknown };
export type Loaded<Data> = { data?: Data; problem?: Problem };

export type Page<Item> = { items: Item[]; nextCursor: string | null };

/** Loads when the view opens and again after each change of the topics; `key` names what is loaded. */
export function useLoaded<Data>(
  key: string,
  topics: readonly Topic[],
  load: () => Promise<Result<Data>>,
): Loaded<Data> {
  const [state, setState] = useState<{ key: string; data?: Data; problem?: Problem }>({ key });
  useEffect(() => {
    let open = true;
    let latest = 0;
    const run = async () => {
      const number = ++latest;
      try {
        const { data, error } = await load();
        if (!open || number !== latest) return;
        if (error) setState({ key, problem: error as Problem });
        else if (data !== undefined) setState({ key, data });
      } catch {
        setOnline(false);
      }
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
