import { expect, test } from "vitest";
import { createDeadline } from "../../../../server/http/request-deadline.ts";
import type { HttpResponse } from "../../../../server/http/request-locals.ts";

test("a part of a request that has no time left is not begun", async () => {
  const deadline = createDeadline(100);
  const response = { locals: { waitedMs: 100 } } as unknown as HttpResponse;
  let begun = false;

  const waited = deadline(response, async () => {
    begun = true;
  });

  await expect(waited).rejects.toThrow();
  expect(begun).toBe(false);
});

test("work for a request is aborted at its deadline by its signal", async () => {
  const deadline = createDeadline(1);
  let signal: AbortSignal | undefined;

  const waited = deadline({ locals: {} } as HttpResponse, (context) => {
    signal = context.signal;
    return new Promise(() => {});
  });

  await expect(waited).rejects.toThrow();
  expect(signal?.aborted).toBe(true);
});
