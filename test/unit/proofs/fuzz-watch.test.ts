import { existsSync, readFileSync } from "node:fs";
import { expect, onTestFinished, test, vi } from "vitest";
import { watchProcess } from "../../proofs/fuzz/watch.ts";

const TICK_MS = 50;
const OWN = `/proc/${process.pid}/schedstat`;

test("what this process was late for is counted once, and nothing of the time in which it was not", () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  let nowMs = 1_000;
  const clock = vi.spyOn(performance, "now").mockImplementation(() => nowMs);
  // There is no process 0, which could have waited.
  const { idleMs, stop } = watchProcess(0);
  onTestFinished(() => {
    stop();
    clock.mockRestore();
    vi.useRealTimers();
  });
  const tick = (lateMs = 0) => {
    nowMs += TICK_MS + lateMs;
    vi.advanceTimersByTime(TICK_MS);
  };
  const aMinute = () => Array.from({ length: 60_000 / TICK_MS }, () => tick());

  aMinute();
  expect(idleMs()).toBe(0);
  tick(300);
  expect(idleMs()).toBe(300);
  aMinute();
  expect(idleMs()).toBe(300);
  tick(20);
  expect(idleMs()).toBe(320);
});

test.runIf(existsSync(OWN))("a process waited for a processor only while it did not run", () => {
  const ranMs = () => Number(readFileSync(OWN, "utf8").split(" ")[0]) / 1e6;
  const { idleMs, stop } = watchProcess(process.pid);
  onTestFinished(stop);
  const startMs = performance.now();
  const [ranBefore, idleBefore] = [ranMs(), idleMs()];

  // No timer can be late here, so that all that is counted is waiting.
  while (performance.now() < startMs + 400);

  const [idle, ran] = [idleMs() - idleBefore, ranMs() - ranBefore];
  expect(idle).toBeGreaterThanOrEqual(0);
  // The system may have counted something that ran just before only now.
  expect(idle + ran).toBeLessThan(performance.now() - startMs + 50);
});
