/** One value of each type that JSON has, as JSON text. */
export const TYPE_SAMPLES: readonly (readonly [type: string, json: string])[] = [
  ["null", "null"],
  ["boolean", "true"],
  ["integer", "7"],
  ["number", "7.5"],
  ["string", '"x"'],
  ["array", "[]"],
  ["object", "{}"],
];

/** Characters that a pattern may forbid, one of each class. */
export const CHARACTER_SAMPLES: readonly (readonly [name: string, text: string])[] = [
  ["U+0000", "\u0000"],
  ["a control character", "\u001F"],
  ["a delete character", "\u007F"],
  ["a line feed", "\n"],
  ["a carriage return", "\r"],
  ["a tab", "\t"],
  ["a space", " "],
  ["a no-break space", "\u00A0"],
  ["a line separator", "\u2028"],
  ["a small letter", "z"],
  ["a capital letter", "Z"],
  ["a digit", "9"],
  ["the character before the digits", "/"],
  ["the character after the digits", ":"],
  ["the character before the capital letters", "@"],
  ["the character after the capital letters", "["],
  ["the character before the small letters", "`"],
  ["the character after the small letters", "{"],
  ["a hyphen", "-"],
  ["an underscore", "_"],
  ["a quotation mark", '"'],
  ["a backslash", "\\"],
  ["an accented letter", "é"],
  ["a combining accent", "e\u0301"],
  ["a letter that folds to ASCII", "\u017F"],
  ["a digit of another script", "\u0663"],
  ["a full-width letter", "\uFF21"],
  ["a byte order mark", "\uFEFF"],
  ["an astral character", "😀"],
];

/** The characters of long strings: one code unit, two code units, two bytes of UTF-8 in one unit. */
export const FILLERS = ["x", "😀", "é"] as const;

/** Strings that almost match a format, and strings that match it. */
export const FORMAT_SAMPLES: Readonly<
  Record<string, { readonly broken: readonly string[]; readonly kept: readonly string[] }>
> = {
  uri: {
    broken: [
      "merchant.example.com/webhooks",
      "//merchant.example.com/webhooks",
      "/webhooks",
      "https//merchant.example.com/",
      "https://merchant.example.com/a b",
      "https://merchant.example.com/%zz",
      "https://merchant.example.com/<a>",
      "https://merchant.example.com/é",
      "https://[::1/webhooks",
      " https://merchant.example.com/",
      "https://merchant.example.com/\n",
      "1https://merchant.example.com/",
    ],
    kept: [
      "https://merchant.example.com",
      "https://merchant.example.com:8443/webhooks",
      "https://merchant.example.com/a%20b/c;d=e,f/~g?h=i&j=%2F#k",
      "HTTPS://MERCHANT.EXAMPLE.COM/",
      "https://xn--bcher-kva.example/",
    ],
  },
  "date-time": {
    broken: [
      "2026-11-25",
      "14:30:00Z",
      "2026-11-25T14:30:00",
      "2026-13-25T14:30:00Z",
      "2026-02-30T14:30:00Z",
      "2026-11-25T25:30:00Z",
      "1764081000",
      "Wed, 25 Nov 2026 14:30:00 GMT",
    ],
    kept: ["2026-11-20T14:30:00Z", "2026-11-20T14:30:00.123Z", "2026-11-20T09:30:00-05:00"],
  },
  duration: {
    broken: ["30M", "P", "PT", "1 day", "P1.5D", "-P1D", "PT1H30", "P1D2W"],
    kept: ["PT30M", "P1D", "P1W", "PT1H30M"],
  },
};

/** Names that no object has, in addition to misspellings of those that it has. */
export const UNKNOWN_NAMES = ["unknown", "status", "merchantId", "a/b~c", "constructor", ""] as const;

/** Values of Content-Type other than JSON in UTF-8; `null` sends no header. */
export const MEDIA_TYPE_SAMPLES: readonly Readonly<Record<string, string | null>>[] = [
  { "Content-Type": null },
  { "Content-Type": "text/plain" },
  { "Content-Type": "text/json" },
  { "Content-Type": "application/xml" },
  { "Content-Type": "application/jsonl" },
  { "Content-Type": "application/problem+json" },
  { "Content-Type": "application/x-www-form-urlencoded" },
  { "Content-Type": "multipart/form-data; boundary=x" },
  { "Content-Type": "application/json; charset=utf-16" },
  { "Content-Type": "application/json; charset=iso-8859-1" },
  { "Content-Type": "application/json", "Content-Encoding": "gzip" },
  { "Content-Type": "application/json", "Content-Encoding": "identity" },
];

/** Values of Content-Type for JSON in UTF-8. */
export const KEPT_MEDIA_TYPES = [
  "application/json",
  "application/json; charset=utf-8",
  'application/json;charset="UTF-8"',
  "APPLICATION/JSON",
] as const;

/** Values of Accept that exclude JSON. */
export const ACCEPT_SAMPLES = [
  "text/xml",
  "text/*",
  "application/xml, text/html;q=0.9",
  "application/json;q=0",
] as const;

/** Values of Accept that include JSON. */
export const KEPT_ACCEPTS = [
  "application/json",
  "*/*",
  "application/*",
  "text/html, application/json;q=0.1",
  "application/json; charset=utf-8",
] as const;

/** Bodies that are no JSON value. */
export const MALFORMED_SAMPLES: readonly (readonly [name: string, body: string])[] = [
  ["empty", ""],
  ["blank", " "],
];
