import { describe, expect, test } from "vitest";
import { elementsOf } from "../../helpers/xml-elements.ts";
import { CheckFailure, createRedactor } from "../../reporting/exchange.ts";
import { describeFailure, type Report, type Result, toJunit } from "../../reporting/json-junit-html.ts";

/** Text that a hostile server could send: markup, terminal control characters, NUL, half a character, ends of CDATA. */
const HOSTILE = `</failure>&"<b>\u001b[2J\r\0\uD800]]>]]>]]>`;

function failed(text: string): Result {
  const received = { status: 200, headers: new Headers(), text, body: text, milliseconds: 1 };
  const failure = new CheckFailure(`something else than ${text}`, { received });
  const named = { id: "group.check", group: "Group & <more>", name: "does it", sources: [] };
  return { ...named, outcome: "failed", failure, missing: [], seconds: 0.001 };
}

const reportOf = (...results: readonly Result[]): Report => ({
  url: "http://127.0.0.1",
  startedAt: new Date(0),
  seconds: 0,
  results,
});

describe("a report of the kit and of the exam", () => {
  test("is well-formed XML for every response of a server", () => {
    const xml = toJunit(reportOf(failed(HOSTILE)), "certify");

    expect(elementsOf(xml)).toEqual(["testsuites", "testsuite", "testcase", "failure"]);
  });

  test("moves no cursor on a terminal", () => {
    const lines = describeFailure(failed(HOSTILE));

    expect(lines.length).toBeGreaterThan(2);
    for (const line of lines) expect(line).not.toMatch(/\p{Cc}/u);
  });
});

describe("secrets in a report", () => {
  test("are replaced by their names, also in JSON and when one begins with another", () => {
    const redactor = createRedactor();
    redactor.add("token", "abc");
    redactor.add("other token", "abcdef");
    redactor.add("secretKey", 'a"b');

    const shown = redactor.apply(`abc abcdef ${JSON.stringify({ secretKey: 'a"b' })}`);

    expect(shown).toBe('‹token› ‹other token› {"secretKey":"‹secretKey›"}');
  });
});
