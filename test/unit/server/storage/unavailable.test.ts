import { expect, test } from "vitest";
import { isUnavailable } from "../../../../server/storage/database/unavailable.ts";

test.each(["EMFILE", "ENFILE"])(
  "a process without descriptors is unavailable, and has no error (%s)",
  (code) => {
    expect(isUnavailable(Object.assign(new Error(`connect ${code}`), { code }))).toBe(true);
  },
);
