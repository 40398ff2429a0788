import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";

type Linear = readonly [red: number, green: number, blue: number];
type Scheme = "light" | "dark";

/**
 * How colours look with a colour vision deficiency: the matrices of Machado, Oliveira and Fernandes (2009) for full severity,
 * on linear RGB.
 */
const EYES = {
  "full colour vision": [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritanopia: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
} as const;

const theme = readFileSync("docs/shared.css", "utf8");

function colourOf(name: string, scheme: Scheme): Linear {
  const [, light, dark] = new RegExp(`--${name}: light-dark\\((#\\w{6}), (#\\w{6})\\)`).exec(theme) ?? [];
  const hex = (scheme === "light" ? light : dark) ?? "";
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) =>
    toLinear(Number.parseInt(hex.slice(at, at + 2), 16)),
  );
  return [red, green, blue];
}

function toLinear(byte: number): number {
  const value = byte / 255;
  return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
}

function seenBy(eyes: keyof typeof EYES, colour: Linear): Linear {
  const [red = 0, green = 0, blue = 0] = EYES[eyes].map((row) => {
    const value = row[0] * colour[0] + row[1] * colour[1] + row[2] * colour[2];
    return Math.min(1, Math.max(0, value));
  });
  return [red, green, blue];
}

function toLab([red, green, blue]: Linear): Linear {
  const f = (t: number) => (t > 0.008856 ? Math.cbrt(t) : 7.787 * t + 16 / 116);
  const x = f((0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.95047);
  const y = f(luminance([red, green, blue]));
  const z = f((0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.08883);
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

/** CIE 1976: a difference of 2 is just visible side by side, and one of 20 is obvious. */
function distance(a: Linear, b: Linear): number {
  const [one, other] = [toLab(a), toLab(b)];
  return Math.hypot(one[0] - other[0], one[1] - other[1], one[2] - other[2]);
}

function luminance([red, green, blue]: Linear): number {
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

const STATES = ["pending", "authorized", "failed"] as const;

describe.each(["light", "dark"] as const)("the colours of the three states in %s", (scheme) => {
  test.each(Object.keys(EYES) as (keyof typeof EYES)[])("differ for %s", (eyes) => {
    const [pending, authorized, failed] = STATES.map((state) => seenBy(eyes, colourOf(state, scheme)));
    if (!pending || !authorized || !failed) throw new Error("there are three states");

    const distances = [
      distance(pending, authorized),
      distance(pending, failed),
      distance(authorized, failed),
    ];

    expect(Math.min(...distances)).toBeGreaterThan(30);
  });
});
