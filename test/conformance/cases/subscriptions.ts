/** Requests for subscriptions, each with the response that is promised. */
import {
  casesAt,
  defineCase,
  LONE_SURROGATES,
  ODD_CHARACTERS,
  type RequestCase,
  refused,
} from "./request-case.ts";

const OP = "subscribeToWebhooks";
const HOLDER = "/subscriptionDetails";
const DETAILS = `${HOLDER}/details`;
const FORBIDDEN_TARGET = { check: "subscription.forbidden-target" };

const targets: RequestCase[] = [
  ...casesAt(OP, "/url", {
    "has a port and a query": "https://merchant.example.com:8443/a%20b?c=d&e=%2F",
    "is as short as can be": "https://a.b",
    "is in capitals": "HTTPS://MERCHANT.EXAMPLE.COM/",
    "has a query right after its host": "https://merchant.example.com?c=d",
  }),
  ...refused(
    OP,
    "/url",
    {
      "has a fragment": "https://merchant.example.com/webhooks#part",
      "has an empty fragment": "https://merchant.example.com/webhooks#",
      "is not of the web": "ftp://merchant.example.com/",
      "has a longer scheme": "xhttps://merchant.example.com/",
      "has a query for a host": "https://?a=b",
      "has a fragment for a host": "https://#part",
      "is a script": "javascript:alert(1)",
      "is a file": "file:///etc/passwd",
      "is mail": "mailto:a@merchant.example.com",
      "has a password": "https://me:secret@merchant.example.com/",
      "has an empty user name": "https://@merchant.example.com/",
      "has no host": "https:///webhooks",
      "has no slashes before its host": "https:merchant.example.com/webhooks",
      "has an empty part in its host": "https://merchant..example.com/",
      "has two dots after its host": "https://localhost../",
      "has port 0": "https://merchant.example.com:0/",
      "is the metadata of a cloud": "http://169.254.169.254/",
      "is a link-local address": "https://[fe80::1]/",
      "is this host": "https://0.0.0.0/",
      "is a multicast address": "https://224.0.0.1/",
    },
    FORBIDDEN_TARGET,
  ),
  // A sandbox may deliver to these addresses.
  ...refused(OP, "/url", { "is a private address": "https://10.0.0.7/" }),
  ...refused(OP, "/url", LONE_SURROGATES),
];

const ofType = (type: string, details: unknown) => ({ type, details });

/** A violation of an unknown name lists the known ones, which D03 promises and no schema can. */
const unknownName = (type: string, known: string, mentions: RegExp): RequestCase[] =>
  ["OTHER", known.toLowerCase(), known.toUpperCase(), "refund.done"].flatMap((name) =>
    name === known
      ? []
      : refused(
          OP,
          HOLDER,
          { [`is ${type} with the second name ${name}`]: ofType(type, [known, name]) },
          {
            violationAt: `${DETAILS}/1`,
            expected: { status: 400, mentions },
            check: "subscription.unknown-name",
          },
        ),
  );

const details: RequestCase[] = [
  ...unknownName(
    "EVENT",
    "refund.pending",
    /\brefund\.pending\b.*\bpayment\.covered\b.*\bcustomer\.created\b/,
  ),
  ...unknownName("CATEGORY", "PAYMENT", /\bACCOUNT\b.*\bCUSTOMER\b.*\bPAYMENT\b/),
  ...Object.entries({ EVENT: "refund.pending", CATEGORY: "PAYMENT", ALL: "x" }).flatMap(([type, name]) =>
    refused(
      OP,
      HOLDER,
      { [`is ${type} with a text for the list`]: ofType(type, name) },
      {
        violationAt: DETAILS,
        expected: { status: 400, mentions: /list|array/i },
        check: "subscription.bare-string",
      },
    ),
  ),
  ...casesAt(OP, HOLDER, { "is ALL with an odd text": ofType("ALL", [ODD_CHARACTERS]) }),
  ...refused(OP, `${DETAILS}/0`, LONE_SURROGATES, { edits: { [HOLDER]: ofType("ALL", ["x"]) } }),
];

export const subscriptionCases: readonly RequestCase[] = [
  ...targets,
  ...details,
  ...casesAt(OP, "/secretKey", { "is odd": ODD_CHARACTERS }),
  ...refused(OP, "/secretKey", LONE_SURROGATES),
  defineCase(OP, "a merchant with 100 subscriptions makes no other", {
    token: "full",
    expected: { status: 409, code: "SUBSCRIPTION_LIMIT" },
  }),
];
