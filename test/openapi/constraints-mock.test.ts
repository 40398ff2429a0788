import { describe, expect, test } from "vitest";
import { findConstraints } from "../../openapi/document/constraints.ts";
import { readContract } from "../../openapi/document/contract.ts";
import type { BreakingRequest } from "../conformance/constraints/requests.ts";
import { acceptedRequests, breakingRequests } from "../conformance/constraints/requests.ts";
import { sendCall } from "../conformance/constraints/send.ts";
import { createMock } from "../helpers/prism.ts";
import { forSuite } from "../helpers/suite.ts";
import { byConstraint } from "./by-constraint.ts";

const { document } = readContract("openapi");
const constraints = findConstraints(document);
const breaking = breakingRequests(document, constraints, { requestKeyPrefix: "breaking-" });
const accepted = acceptedRequests(document, constraints, { requestKeyPrefix: "accepted-" });

const TOKENS = { valid: "sandbox_acme", unknown: "nobodys-token", unscoped: "token-without-scopes" };

const mock = forSuite(
  () => createMock(document),
  (opened) => opened.close(),
);

/** The differences between the mock and the document: for which requests, with which outcome, and why. */
type Exception = {
  readonly reason: string;
  readonly isAbout: (request: BreakingRequest) => boolean;
  readonly outcome: "success" | 400;
};

const hasType = (...types: (string | undefined)[]) => {
  return ({ constraint: { keyword }, call: { headers }, expected: { status } }: BreakingRequest) =>
    keyword === "content" && status === 415 && types.includes(headers["Content-Type"]);
};

const EXCEPTIONS: readonly Exception[] = [
  {
    reason: "it knows no tokens, only whether there is one",
    isAbout: ({ call }) => call.token === "unknown",
    outcome: "success",
  },
  {
    reason: "it knows no scopes of tokens",
    isAbout: ({ call }) => call.token === "unscoped",
    outcome: "success",
  },
  {
    reason: "it knows no extension, and so does not count the digits of an amount",
    isAbout: ({ constraint }) => constraint.keyword === "x-fraction-digits",
    outcome: "success",
  },
  {
    reason: "it takes a body without a media type for none",
    isAbout: hasType(undefined),
    outcome: 400,
  },
  {
    reason: "it reads every media type that ends in +json as JSON",
    isAbout: hasType("application/problem+json"),
    outcome: "success",
  },
  {
    reason: "it reads every charset as UTF-8",
    isAbout: hasType("application/json; charset=iso-8859-1"),
    outcome: "success",
  },
  {
    reason: "it refuses UTF-16 as text that is no JSON",
    isAbout: hasType("application/json; charset=utf-16"),
    outcome: 400,
  },
  {
    reason: "it does not look at Content-Encoding",
    isAbout: ({ call }) => call.headers["Content-Encoding"] !== undefined,
    outcome: "success",
  },
];

async function statusesOf(requests: readonly BreakingRequest[]) {
  const send = async ({ name, call }: BreakingRequest) => {
    return { name, status: (await sendCall(mock.url, call, TOKENS)).status };
  };
  return Promise.all(requests.map(send));
}

describe("the mock refuses what breaks a constraint, with the documented status", () => {
  const isException = (request: BreakingRequest) => EXCEPTIONS.some(({ isAbout }) => isAbout(request));
  const expected = breaking.filter((request) => !isException(request));

  test.each(byConstraint(expected))("%s", async (_id, requests) => {
    const promised = requests.map(({ name, expected: { status } }) => ({ name, status }));

    expect(await statusesOf(requests)).toEqual(promised);
  });

  test.each(EXCEPTIONS)("except that $reason", async ({ isAbout, outcome }) => {
    const requests = breaking.filter(isAbout);

    const statuses = await statusesOf(requests);

    expect(requests).not.toEqual([]);
    const seen = new Set(statuses.map(({ status }) => (status < 300 ? "success" : status)));
    expect([...seen]).toEqual([outcome]);
  });
});

describe("the mock takes what goes as far as a constraint allows", () => {
  test.each(byConstraint(accepted))("%s", async (_id, requests) => {
    for (const { name, call } of requests) {
      const { status, body } = await sendCall(mock.url, call, TOKENS);

      expect(status, `${name}: ${JSON.stringify(body)}`).toBeLessThan(300);
    }
  });
});
