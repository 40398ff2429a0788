import type { HandlersOf } from "../../contract/operation-types.ts";
import { unavailable } from "../../contract/problem.ts";

/**
 * Tells open consoles by server-sent events which of their lists have changed.
 * @param draining ends every stream; otherwise a server that stops would wait for them
 */
export function createChanges(draining: AbortSignal): Changes & { handlers: HandlersOf<"streamChanges"> } {
  const readers = new Set<Reader>();

  const flush = (reader: Reader) => {
    delete reader.timer;
    reader.send(JSON.stringify({ topics: [...reader.topics] }));
    reader.topics.clear();
  };
  const handlers: HandlersOf<"streamChanges"> = {
    async streamChanges({ merchant }) {
      if (readers.size >= MAX_STREAMS) throw unavailable();
      return {
        status: 200,
        stream(send, end) {
          const reader: Reader = { merchant, send, end, topics: new Set() };
          readers.add(reader);
          flush(reader); // An event without topics shows the reader that the stream works.
          return () => {
            clearTimeout(reader.timer);
            readers.delete(reader);
          };
        },
      };
    },
  };

  draining.addEventListener("abort", () => {
    for (const { end } of readers) end();
  });
  return {
    handlers,
    notify(topics, merchant) {
      for (const reader of readers) {
        if (merchant !== undefined && merchant !== reader.merchant) continue;
        for (const topic of topics) reader.topics.add(topic);
        reader.timer ??= setTimeout(flush, TOGETHER_MS, reader);
      }
    },
  };
}

/** The parts of the console whose records may have changed. */
export type Topic = "clock" | "payments" | "webhooks" | "requests" | "inbox" | "subscriptions";

/** Tells open pages which of the records that they show have changed, so that they read them again. */
export type Changes = {
  /** @param merchant whose records have changed; undefined: possibly everybody's */
  notify(topics: readonly Topic[], merchant?: string): void;
};

/** Sends the data of one event. */
type Send = (data: string) => void;

type Reader = { merchant: string; send: Send; end: () => void; topics: Set<Topic>; timer?: NodeJS.Timeout };

/** Milliseconds within which changes are sent together. */
const TOGETHER_MS = 100;

/** A browser keeps one stream for each open page; more than this means that some program leaks them. */
const MAX_STREAMS = 100;
