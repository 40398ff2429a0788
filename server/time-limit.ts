/**
 * Resolves as the work does, or rejects when it takes longer. The work itself goes on then, and what becomes of it is
 * dropped: whatever it holds must have a limit of its own.
 */
export async function inTime<Result>(
  work: Promise<Result>,
  limitMs: number,
  toError: () => Error,
): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(toError()), limitMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
