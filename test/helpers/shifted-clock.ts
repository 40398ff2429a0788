/*
 * Loaded first by a program (`--import`), it moves the clock of that process by CLOCK_SHIFT_MS milliseconds, and on SIGUSR2 to
 * CLOCK_CORRECTED_MS, as a correction of the machine's clock would.
 */
let shiftMs = Number(process.env.CLOCK_SHIFT_MS);
process.on("SIGUSR2", () => {
  shiftMs = Number(process.env.CLOCK_CORRECTED_MS);
});

globalThis.Date = new Proxy(Date, {
  construct: (date, args, newTarget) =>
    Reflect.construct(date, args.length > 0 ? args : [date.now() + shiftMs], newTarget),
  get: (date, name, receiver) =>
    name === "now" ? () => date.now() + shiftMs : Reflect.get(date, name, receiver),
});
