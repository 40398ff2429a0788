import { expect, test } from "vitest";
import { isUnavailable } from "../../../../server/storage/database/unavailable.ts";

test.each(["EMFILE", "ENFILE", "28P01", "3D000", "55000"])(
  "a process without descriptors, or whose login the database refuses, is unavailable, and has no error (%s)",
  (code) => {
    expect(isUnavailable(Object.assign(new Error(`connect ${code}`), { code }))).toBe(true);
  },
);
