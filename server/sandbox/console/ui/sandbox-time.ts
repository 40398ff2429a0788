import { useEffect, useState } from "preact/hooks";

/** By how many milliseconds the sandbox's clock is ahead of this computer's; undefined until it was read. */
let aheadMs: number | undefined;

/** Sets the sandbox's clock on this page to the time in a response. */
export function setNow(iso: string): void {
  aheadMs = Date.parse(iso) - Date.now();
}

/** The sandbox's time in milliseconds since 1970; undefined until it was read. */
export function readNow(): number | undefined {
  return aheadMs === undefined ? undefined : Date.now() + aheadMs;
}

/** The same time, drawn anew after each tick. */
export function useNow(tickMs: number): number | undefined {
  const [, draw] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => draw((ticks) => ticks + 1), tickMs);
    return () => clearInterval(timer);
  }, [tickMs]);
  return readNow();
}
