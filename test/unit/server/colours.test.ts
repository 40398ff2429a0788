import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";

type Linear = readonly [red: number, green: number, blue: number];

/**
 * How colours look with a colour vision deficiency: the matrices of Machado, Oliveira and Fernandes (2009) for full severity,
 * on linear RGB.
 */
const EYES: Readonly<Record<string, readonly [red: Linear, green: Linear, blue: Linear]>> = {
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
};

/** From sRGB, which the matrices do not take, to CIE XYZ. */
const XYZ: readonly [x: Linear, y: Linear, z: Linear] = [
  [0.4124, 0.3576, 0.1805],
  [0.2126, 0.7152, 0.0722],
  [0.0193, 0.1192, 0.9505],
];

const theme = readFileSync("docs/shared.css", "utf8");

function colourOf(name: string, scheme: "light" | "dark"): Linear {
  const [, light, dark] = new RegExp(`--${name}: light-dark\\(#(\\w{6}), #(\\w{6})\\)`).exec(theme) ?? [];
  const bytes = Buffer.from((scheme === "light" ? light : dark) ?? "", "hex");
  return [toLinear(bytes.readUInt8(0)), toLinear(bytes.readUInt8(1)), toLinear(bytes.readUInt8(2))];
}

function toLinear(byte: number): number {
  const value = byte / 255;
  return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
}

function multiply([first, second, third]: readonly [Linear, Linear, Linear], colour: Linear): Linear {
  const sum = (row: Linear) => row[0] * colour[0] + row[1] * colour[1] + row[2] * colour[2];
  return [sum(first), sum(second), sum(third)];
}

function toCielab(colour: Linear): Linear {
  const visible = colour.map((value) => Math.min(1, Math.max(0, value))) as unknown as Linear;
  const f = (t: number) => (t > 0.008856 ? Math.cbrt(t) : 7.787 * t + 16 / 116);
  const [x, y, z] = multiply(XYZ, visible);
  return [116 * f(y) - 16, 500 * (f(x / 0.95047) - f(y)), 200 * (f(y) - f(z / 1.08883))];
}

/** CIE 1976: a difference of 2 is just visible side by side, and one of 20 is obvious. */
const distance = (one: Linear, other: Linear) =>
  Math.hypot(one[0] - other[0], one[1] - other[1], one[2] - other[2]);

describe.each(["light", "dark"] as const)("the colours of the three states in %s", (scheme) => {
  test.each(Object.entries(EYES))("differ for %s", (_, matrix) => {
    const seen = (state: string) => toCielab(multiply(matrix, colourOf(state, scheme)));
    const [pending, authorized, failed] = [seen("pending"), seen("authorized"), seen("failed")];

    expect(distance(pending, authorized)).toBeGreaterThan(30);
    expect(distance(pending, failed)).toBeGreaterThan(30);
    expect(distance(authorized, failed)).toBeGreaterThan(30);
  });
});
