import { type Row, refused, row, rowsAt } from "./row.ts";
import {
  LONE_SURROGATES,
  MISSING,
  NOT_A_LIST,
  NOT_A_TEXT,
  NOT_AN_OBJECT,
  NUL_CHARACTERS,
  ODD_CHARACTERS,
  ofLength,
} from "./values.ts";

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
      "has 2048 characters": addressOf(2048),
    },
    SUBSCRIBED,
  ),
  ...refused(
    OP,
    "/url",
    {
      ...MISSING,
      ...NOT_A_TEXT,
      ...NUL_CHARACTERS,
      ...LONE_SURROGATES,
      "is empty": "",
      "has 2049 characters": addressOf(2049),
      "has no scheme": "merchant.example.com/webhooks",
      "is a path": "/webhooks",
      "has a space": "https://merchant.example.com/a b",
      "has half an escape": "https://merchant.example.com/%z",
      "has a fragment": "https://merchant.example.com/webhooks#part",
      "has an empty fragment": "https://merchant.example.com/webhooks#",
    },
    { check: FORBIDDEN_TARGET },
  ),
  ...refused(
    OP,
    "/url",
    {
      "is not of the web": "ftp://merchant.example.com/",
      "is a script": "javascript:alert(1)",
      "is a file": "file:///etc/passwd",
      "is mail": "mailto:a@merchant.example.com",
      "carries a password": "https://me:secret@merchant.example.com/",
      "has an empty user name": "https://@merchant.example.com/",
      "has no host": "https:///webhooks",
      "has no slashes before its host": "https:merchant.example.com/webhooks",
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
  ...rowsAt(
    OP,
    "/secretKey",
    { "has one letter": "x", ...ofLength(256), "is odd": ODD_CHARACTERS },
    SUBSCRIBED,
  ),
  ...refused(OP, "/secretKey", {
    ...MISSING,
    "is empty": "",
    ...ofLength(257),
    ...NOT_A_TEXT,
    ...NUL_CHARACTERS,
  }),
  ...refused(OP, "/secretKey", LONE_SURROGATES, { mock: "looks for no surrogates" }),
];

const chosen: Row[] = [
  ...rowsAt(
    OP,
    HOLDER,
    {
      "is EVENT with every event": ofType("EVENT", EVENTS),
      "is EVENT with one event": ofType("EVENT", ["refund.pending"]),
      "is EVENT with one event 64 times": ofType("EVENT", Array(64).fill("payment.failed")),
      "is CATEGORY with every category": ofType("CATEGORY", CATEGORIES),
      "is CATEGORY with one category": ofType("CATEGORY", ["PAYMENT"]),
      "is CATEGORY with one category 64 times": ofType("CATEGORY", Array(64).fill("ACCOUNT")),
      "is ALL": ofType("ALL"),
      "is ALL with no details": ofType("ALL", []),
      "is ALL with 64 times any text": ofType("ALL", Array(64).fill("anything")),
      "is ALL with an empty text": ofType("ALL", [""]),
      "is ALL with texts of 255": ofType("ALL", Object.values(ofLength(255))),
      "is ALL with an odd text": ofType("ALL", [ODD_CHARACTERS]),
    },
    SUBSCRIBED,
  ),
  ...refused(OP, HOLDER, { ...MISSING, ...NOT_AN_OBJECT }),
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
  ...["EVENT", "CATEGORY", "ALL"].flatMap((type) => {
    const edits = { [HOLDER]: ofType(type, type === "EVENT" ? ["refund.pending"] : ["PAYMENT"]) };
    return [
      ...refused(
        OP,
        `${HOLDER}/filter`,
        { [`is unknown to ${type}`]: "x" },
        { edits, check: "body.unknown-field" },
      ),
      ...refused(OP, DETAILS, { [`of ${type} are null`]: null }, { edits }),
    ];
  }),
];

const lists: Row[] = [
  ...Object.entries({ EVENT: "refund.pending", CATEGORY: "PAYMENT" }).flatMap(([type, name]) => {
    const values = {
      "are missing": ofType(type),
      "are empty": ofType(type, []),
      "are 65": ofType(type, Array(65).fill(name)),
      ...Object.fromEntries(
        Object.entries(NOT_A_LIST).map(([label, value]) => [label, { type, details: value }]),
      ),
    };
    return refused(OP, HOLDER, named(`as ${type}: details`, values), {
      violationAt: DETAILS,
      check: "subscription.details-required",
    });
  }),
  ...Object.entries({ EVENT: "refund.pending", CATEGORY: "PAYMENT", ALL: "PAYMENT" }).flatMap(
    ([type, name]) =>
      refused(
        OP,
        HOLDER,
        { [`as ${type}: details are the text alone`]: ofType(type, name) },
        {
          violationAt: DETAILS,
          expected: { status: 400, mentions: [/list|array/i] },
          check: "subscription.bare-string",
        },
      ),
  ),
  ...refused(
    OP,
    HOLDER,
    named("as ALL: details", {
      "are 65": ofType("ALL", Array(65).fill("x")),
      ...Object.fromEntries(
        Object.entries(NOT_A_LIST).map(([label, details]) => [label, { type: "ALL", details }]),
      ),
    }),
    { violationAt: DETAILS },
  ),
];

const items: Row[] = [
  ...refused(
    OP,
    HOLDER,
    named("as EVENT: the second event", {
      "is of none": ofType("EVENT", ["refund.pending", "refund.done"]),
      "is OTHER": ofType("EVENT", ["refund.pending", "OTHER"]),
      "is spelt FAILED": ofType("EVENT", ["refund.pending", "refund.failed"]),
      "is in capitals": ofType("EVENT", ["refund.pending", "REFUND.PENDING"]),
      "is a category": ofType("EVENT", ["refund.pending", "PAYMENT"]),
    }),
    { violationAt: `${DETAILS}/1`, ...known(EVENTS) },
  ),
  ...refused(
    OP,
    HOLDER,
    named("as CATEGORY: the second category", {
      "is of none": ofType("CATEGORY", ["PAYMENT", "REFUND"]),
      "is OTHER": ofType("CATEGORY", ["PAYMENT", "OTHER"]),
      "is in small letters": ofType("CATEGORY", ["PAYMENT", "account"]),
      "is an event": ofType("CATEGORY", ["PAYMENT", "refund.pending"]),
    }),
    { violationAt: `${DETAILS}/1`, ...known(CATEGORIES) },
  ),
  ...["EVENT", "CATEGORY", "ALL"].flatMap((type) => {
    const values = Object.fromEntries(
      Object.entries(NOT_A_TEXT).map(([label, value]) => [label, ofType(type, [value])]),
    );
    return refused(OP, HOLDER, named(`as ${type}: the first text`, values), { violationAt: `${DETAILS}/0` });
  }),
  ...refused(
    OP,
    HOLDER,
    named(
      "as ALL: the first text",
      Object.fromEntries(
        Object.entries({ ...ofLength(256), ...NUL_CHARACTERS }).map(([label, text]) => [
          label,
          ofType("ALL", [text]),
        ]),
      ),
    ),
    { violationAt: `${DETAILS}/0` },
  ),
  ...refused(
    OP,
    HOLDER,
    named(
      "as ALL: the first text",
      Object.fromEntries(
        Object.entries(LONE_SURROGATES).map(([label, text]) => [label, ofType("ALL", [text])]),
      ),
    ),
    { violationAt: `${DETAILS}/0`, mock: "looks for no surrogates" },
  ),
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

function named(prefix: string, values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).map(([label, value]) => [`${prefix} ${label}`, value]));
}

export const subscriptionRows: readonly Row[] = [...members, ...chosen, ...lists, ...items, ...objects];
