import { closed, open, text } from "./message.ts";
import { type Row, refused, row, rowsAt, rowsWithin } from "./row.ts";
import { LONE_SURROGATES, MISSING, NOT_AN_OBJECT, NUL_CHARACTERS, ODD_CHARACTERS } from "./values.ts";

/** The base of every row for subscriptions. */
export const BASE_SUBSCRIPTION = {
  url: "https://merchant.example.com/webhooks",
  secretKey: "9f2c1b7ae04d5386c1f7a2b9d0e43c58",
  subscriptionDetails: { type: "ALL" },
};

const OP = "subscribeToWebhooks";
const SUBSCRIBED = { expected: { status: 200 } };
const HOLDER = "/subscriptionDetails";
const DETAILS = `${HOLDER}/details`;

const EVENTS = [
  "refund.pending",
  "refund.authorized",
  "refund.terminal_failed",
  "payment.settled",
  "payment.failed",
  "payment.covered",
  "account.linked",
  "account.unlinked",
  "customer.created",
];
const CATEGORIES = ["ACCOUNT", "CUSTOMER", "PAYMENT"];

const ofType = (type: string, details?: unknown) => ({ type, ...(details !== undefined && { details }) });
const known = (names: readonly string[]) => ({
  expected: {
    status: 400,
    members: { "/violations/0/message": `must be one of: ${names.join(", ")}` },
    mentions: names.map((name) => new RegExp(`\\b${name}\\b`)),
  },
  check: "subscription.unknown-name",
});
const FORBIDDEN_TARGET = "subscription.forbidden-target";

const addressOf = (length: number) => `https://merchant.example.com/${"x".repeat(length - 29)}`;

const members: Row[] = [
  ...rowsAt(
    OP,
    "/url",
    {
      "has a port and a query": "https://merchant.example.com:8443/a%20b?c=d&e=%2F",
      "is as short as can be": "https://a.b",
      "is in capitals": "HTTPS://MERCHANT.EXAMPLE.COM/",
      "has a query right after its host": "https://merchant.example.com?c=d",
      "has 2048 characters": addressOf(2048),
    },
    SUBSCRIBED,
  ),
  ...refused(
    OP,
    "/url",
    {
      ...{ ...MISSING, ...NUL_CHARACTERS, ...LONE_SURROGATES },
      ...{ "is empty": "", "is null": null, "is a number": 7, "is a list": ["https://a.example.com"] },
      "has 2049 characters": addressOf(2049),
      "has no scheme": "merchant.example.com/webhooks",
      "is a path": "/webhooks",
      "has a space": "https://merchant.example.com/a b",
      "has half an escape": "https://merchant.example.com/%z",
      "has a fragment": "https://merchant.example.com/webhooks#part",
      "has an empty fragment": "https://merchant.example.com/webhooks#",
      "is not of the web": "ftp://merchant.example.com/",
      "has a longer scheme": "xhttps://merchant.example.com/",
      "has a query for a host": "https://?a=b",
      "has a fragment for a host": "https://#part",
      "is a script": "javascript:alert(1)",
      "is a file": "file:///etc/passwd",
      "is mail": "mailto:a@merchant.example.com",
      "carries a password": "https://me:secret@merchant.example.com/",
      "has an empty user name": "https://@merchant.example.com/",
      "has no host": "https:///webhooks",
      "has no slashes before its host": "https:merchant.example.com/webhooks",
    },
    { check: FORBIDDEN_TARGET },
  ),
  ...refused(
    OP,
    "/url",
    {
      "has an empty part in its host": "https://merchant..example.com/",
      "has two dots after its host": "https://localhost../",
      "has port 0": "https://merchant.example.com:0/",
      "is the metadata of a cloud": "http://169.254.169.254/",
      "is of the link": "https://[fe80::1]/",
      "is this host": "https://0.0.0.0/",
      "is for many": "https://224.0.0.1/",
    },
    { mock: "looks at no address", check: FORBIDDEN_TARGET },
  ),
  // A sandbox may deliver to these addresses.
  ...refused(OP, "/url", { "is a private address": "https://10.0.0.7/" }, { mock: "looks at no address" }),
  ...rowsWithin(OP, { body: BASE_SUBSCRIPTION, limits: open({ secretKey: text(256) }) }, /^\/secretKey/, {
    accepted: () => SUBSCRIBED,
  }),
  ...rowsAt(OP, "/secretKey", { "is odd": ODD_CHARACTERS }, SUBSCRIBED),
  ...refused(OP, "/secretKey", { ...MISSING, ...NUL_CHARACTERS }),
  ...refused(OP, "/secretKey", LONE_SURROGATES, { mock: "looks for no surrogates" }),
];

const chosen: Row[] = [
  ...rowsAt(
    OP,
    HOLDER,
    {
      "is EVENT with every event": ofType("EVENT", EVENTS),
      "is CATEGORY with every category": ofType("CATEGORY", CATEGORIES),
      "is ALL": ofType("ALL"),
      "is ALL with an odd text": ofType("ALL", [ODD_CHARACTERS]),
    },
    SUBSCRIBED,
  ),
  ...refused(OP, HOLDER, MISSING),
  ...refused(OP, HOLDER, { "is null": null, "is a text": "x", "is a number": 7, "is a list": [] }),
  ...refused(
    OP,
    HOLDER,
    {
      "has categories and no type": { details: ["PAYMENT"] },
      "has events and no type": { details: ["refund.pending"] },
      "has an unknown type": ofType("OTHER", ["PAYMENT"]),
      "has a type in small letters": ofType("event", ["refund.pending"]),
      "has a type of null": { type: null },
      "has a type that is a number": { type: 7 },
      "has a type that is a list": { type: ["ALL"] },
    },
    { violationAt: `${HOLDER}/type`, check: "subscription.unknown-type" },
  ),
];

/** Each kind of subscription: two strings of its list, the limits of these, and whether the list is required. */
const KINDS = [
  {
    type: "EVENT",
    details: EVENTS.slice(0, 2),
    items: { type: "string", enum: EVENTS.slice(0, 2) },
    least: 1,
  },
  {
    ...{ type: "CATEGORY", details: CATEGORIES.slice(0, 2), least: 1 },
    items: { type: "string", enum: CATEGORIES.slice(0, 2) },
  },
  { type: "ALL", details: ["x", "y"], items: text(255, 0), least: 0 },
];

const lists = KINDS.flatMap(({ type, details, items, least }): Row[] => {
  const edits = { [HOLDER]: ofType(type, details) };
  const limits = { type: "array", minItems: least, maxItems: 64, items };
  const whole = {
    name: `as ${type}`,
    body: { subscriptionDetails: edits[HOLDER] },
    limits: closed({ subscriptionDetails: closed({ type: { type: "string" }, details: limits }) }),
  };
  const accepted = () => ({ ...SUBSCRIBED, edits });
  const ofRequired = least > 0 && { check: "subscription.details-required" };
  return [
    ...rowsWithin(OP, whole, /\/details$/, { accepted, refused: { edits, ...ofRequired } }),
    ...rowsWithin(OP, whole, /\/details\/0$/, { accepted, refused: { edits } }),
    ...(least > 0
      ? refused(
          OP,
          HOLDER,
          { [`is ${type} without details`]: ofType(type) },
          { violationAt: DETAILS, ...ofRequired },
        )
      : []),
    ...refused(
      OP,
      DETAILS,
      { [`of ${type} are the text alone`]: details[0] },
      {
        edits,
        expected: { status: 400, mentions: [/list|array/i] },
        check: "subscription.bare-string",
      },
    ),
    ...refused(
      OP,
      `${HOLDER}/filter`,
      { [`is unknown to ${type}`]: "x" },
      { edits, check: "body.unknown-field" },
    ),
  ];
});

const second = (type: string, values: readonly string[], names: readonly string[]) =>
  values.flatMap((value) =>
    refused(
      OP,
      HOLDER,
      { [`is ${type} with the second name ${value}`]: ofType(type, [names[0], value]) },
      { violationAt: `${DETAILS}/1`, ...known(names) },
    ),
  );

const items: Row[] = [
  ...second("EVENT", ["refund.done", "OTHER", "refund.failed", "REFUND.PENDING", "PAYMENT"], EVENTS),
  ...second("CATEGORY", ["REFUND", "OTHER", "account", "refund.pending"], CATEGORIES),
  ...refused(OP, `${DETAILS}/0`, NUL_CHARACTERS, { edits: { [HOLDER]: ofType("ALL", ["x"]) } }),
  ...refused(OP, `${DETAILS}/0`, LONE_SURROGATES, {
    edits: { [HOLDER]: ofType("ALL", ["x"]) },
    mock: "looks for no surrogates",
  }),
];

const objects: Row[] = [
  ...refused(OP, "", NOT_AN_OBJECT, { check: "body.not-an-object" }),
  ...refused(OP, "/events", { "is unknown": ["refund.pending"] }, { check: "body.unknown-field" }),
  row(OP, "an empty object gets a violation for each missing field", {
    edits: { "": {} },
    expected: { status: 400, code: "INVALID_REQUEST", pointers: ["/url", "/secretKey", HOLDER] },
  }),
  row(OP, "a merchant with 100 subscriptions makes no other", {
    token: "full",
    expected: { status: 409, code: "SUBSCRIPTION_LIMIT" },
    mock: "counts no subscriptions",
  }),
];

export const subscriptionRows: readonly Row[] = [...members, ...chosen, ...lists, ...items, ...objects];
