/** A line of a stream: its bytes, or undefined when there are more of them than a line may have. */
export interface Line {
  /** From 1. */
  number: number;
  bytes: Buffer | undefined;
}

const LF = 0x0a;

/**
 * The lines of a stream, one by one and only as fast as they are taken. Memory holds no more than one chunk and one line, however
 * long the stream, or a line in it, may be.
 */
export async function* readLines(chunks: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<Line> {
  let number = 1;
  let pieces: Buffer[] = [];
  let length = 0;

  const keep = (piece: Buffer) => {
    length += piece.length;
    if (length <= maxBytes) pieces.push(piece);
    else pieces = [];
  };
  const take = (): Line => {
    const line = { number, bytes: length <= maxBytes ? Buffer.concat(pieces) : undefined };
    number += 1;
    pieces = [];
    length = 0;
    return line;
  };

  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, start)) {
      keep(chunk.subarray(start, end));
      yield take();
      start = end + 1;
    }
    keep(chunk.subarray(start));
  }
  if (length > 0) yield take();
}
