/** A message of PostgreSQL's protocol; its letter is empty where the protocol has none, at the start of a connection. */
export type Frame = { readonly letter: string; readonly bytes: Buffer };

/**
 * Splits a stream into messages: a letter, a length that includes itself, and the rest. The caller's first message has no
 * letter. Connections here use no encryption, so PostgreSQL never responds in another form.
 */
export function createFrames(
  { startup }: { readonly startup: boolean },
  onFrame: (frame: Frame) => void,
): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  let unnamed = startup;

  return (chunk) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    for (;;) {
      const headLength = unnamed ? 0 : 1;
      if (rest.length < headLength + 4) return;
      const length = headLength + rest.readInt32BE(headLength);
      if (rest.length < length) return;
      const bytes = rest.subarray(0, length);
      rest = rest.subarray(length);
      const letter = unnamed ? "" : String.fromCharCode(bytes[0] ?? 0);
      unnamed = false;
      onFrame({ letter, bytes });
    }
  };
}
