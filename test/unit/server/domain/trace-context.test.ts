import { expect, test } from "vitest";
import { readRequestId, readTraceContext, traceIdOf } from "../../../../server/domain/trace-context.ts";

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const OWN = `00-${TRACE}-00f067aa0ba902b7-01`;
const LATER = OWN.replace("00-4", "cc-4");
const LONGEST = `a=${"x".repeat(254)},b=${"x".repeat(253)}`;
const members = (count: number) => Array.from({ length: count }, (_, index) => `m${index}=1`).join(",");

test.each([
  ["version 00", OWN, OWN],
  ["all flags of version 00", OWN.replace(/01$/, "ff"), OWN.replace(/01$/, "ff")],
  ["a later version, of which only the flag for sampling is known", LATER.replace(/01$/, "03"), OWN],
  ["a later version with more fields", `${LATER}-what-more`, OWN],
  ["nothing", undefined, undefined],
  ["version 00 with more fields", `${OWN}-what-more`, undefined],
  ["version ff", OWN.replace("00-4", "ff-4"), undefined],
  ["upper case", OWN.toUpperCase(), undefined],
  ["no trace id", OWN.replace(TRACE, "0".repeat(32)), undefined],
  ["no parent id", OWN.replace("00f067aa0ba902b7", "0".repeat(16)), undefined],
  ["no flags", OWN.slice(0, -3), undefined],
  ["two headers", `${OWN}, ${OWN}`, undefined],
  ["two headers of a later version", `${LATER}-x, ${OWN}`, undefined],
  ["a line feed", `${OWN}\n`, undefined],
])("a traceparent with %s", (_, traceparent, expected) => {
  expect(readTraceContext({ traceparent })).toEqual(expected && { traceparent: expected });
});

test.each([
  ["one member", "vendor=00f067aa0ba902b7", "vendor=00f067aa0ba902b7"],
  ["several, with spaces and gaps", "a=1, b@v/x=2 3 ,,c*=(4)", "a=1,b@v/x=2 3,c*=(4)"],
  ["32 members", members(32), members(32)],
  ["33 members", members(33), undefined],
  ["512 characters", LONGEST, LONGEST],
  ["513 characters", `${LONGEST}x`, undefined],
  ["no value", "a", undefined],
  ["one member that is wrong among others", "a=1,b", undefined],
  ["another equals sign", "a=b=c", undefined],
  ["upper case in a key", "A=1", undefined],
  ["a character that is not ASCII", "a=é", undefined],
  ["a tab in a value", "a=b\tc", undefined],
  ["nothing", " , ", undefined],
])("a tracestate with %s", (_, tracestate, expected) => {
  expect(readTraceContext({ traceparent: OWN, tracestate })?.tracestate).toBe(expected);
  expect(readTraceContext({ tracestate })).toBeUndefined();
});

test("the id of a trace is what all its spans share", () => {
  expect([traceIdOf({ traceparent: OWN }), traceIdOf(null)]).toEqual([TRACE, undefined]);
});

test.each([
  ["checkout-7f3a/42", "checkout-7f3a/42"],
  ["x".repeat(128), "x".repeat(128)],
  ["x".repeat(129), undefined],
  ["two words", undefined],
  ["caf\u00e9", undefined],
  ["", undefined],
  [undefined, undefined],
])("a request id of %j", (header, expected) => {
  expect(readRequestId(header)).toBe(expected);
});
