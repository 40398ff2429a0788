/** Joins the chunks of a body, and throws as soon as they have more bytes than `MAX_BODY_BYTES`. */
export function collectBody(): BodyCollector {
  const chunks: Uint8Array[] = [];
  let length = 0;
  return {
    add(chunk) {
      const bytes = typeof chunk === "string" ? new TextEncoder().encode(chunk) : chunk;
      length += bytes.byteLength;
      if (length > MAX_BODY_BYTES) throw new BodyTooLargeError();
      chunks.push(bytes);
    },
    toBytes() {
      const bytes = new Uint8Array(length);
      let offset = 0;
      for (const chunk of chunks) {
        bytes.set(chunk, offset);
        offset += chunk.byteLength;
      }
      return bytes;
    },
  };
}

/** The most bytes of a body that are read; the service sends less than a third of that. */
export const MAX_BODY_BYTES = 64 * 1024;

export class BodyTooLargeError extends Error {
  override readonly name = "BodyTooLargeError";

  constructor() {
    super(`The body has more than ${MAX_BODY_BYTES} bytes, so it does not come from the service.`);
  }
}

export type BodyCollector = {
  /**
   * Chunks are strings where the application has set an encoding on the request.
   * @throws BodyTooLargeError at the first chunk that exceeds the limit; the chunk is not kept
   */
  add(chunk: Uint8Array | string): void;
  toBytes(): Uint8Array;
};
