import { execFile } from "node:child_process";
import { glob, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { ROOT } from "../../../scripts/shared/root.ts";
import { SECRET_SETTINGS } from "../../../server/config/environment.ts";
import { folderOfTest } from "../../helpers/suite.ts";

const RUN = join(ROOT, "server/operators/deployment");
const read = (name: string) => readFile(join(RUN, name), "utf8");

/** Refused when it is 0, and otherwise Node's own. */
const OF_NODE = ["NODE_TLS_REJECT_UNAUTHORIZED", "NODE_OPTIONS"];

describe("what runs the server", () => {
  test("has every setting that the server reads in its environment file", async () => {
    const found = new Set<string>();
    for await (const path of glob("server/config/*.ts", { cwd: ROOT })) {
      const text = await readFile(join(ROOT, path), "utf8");
      for (const [, one, other] of text.matchAll(/\benv\.([A-Z][A-Z_]+)|\(env, "([A-Z][A-Z_]+)"/g))
        found.add(one ?? other ?? "");
    }
    for (const name of OF_NODE) found.delete(name);
    for (const name of SECRET_SETTINGS) found.add(`${name}_FILE`);
    const named = [...(await read("settings.env")).matchAll(/^#?([A-Z][A-Z_]+)=/gm)].map(([, name]) => name);

    expect(named.toSorted()).toEqual([...found].sort());
  });

  test("takes each image by its digest", async () => {
    const texts = await Promise.all(["Containerfile", "compose.yaml"].map(read));
    // What names a registry; the compose file's other image is the one that is built.
    const images = texts.flatMap((text) => text.match(/\b[\w.-]+\.\w+\/[\w./-]+:\S+/g) ?? []);

    expect(images).toHaveLength(3);
    for (const image of images) expect(image).toMatch(/@sha256:[0-9a-f]{64}$/);
  });

  test("is started without npm, which would print a banner into the log, and stopped within its grace", async () => {
    const [unit, container, compose] = await Promise.all(
      ["refunds.service", "Containerfile", "compose.yaml"].map(read),
    );
    const program = "dist/server/cli.js";
    const { scripts } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8"));
    const { server, migrate } = parse(compose ?? "", { merge: true }).services;

    expect(unit).toMatch(
      new RegExp(`^ExecStart=/usr/bin/node --disable-sigusr1 /opt/refunds/${program}$`, "m"),
    );
    expect(container).toContain(`ENTRYPOINT ["/usr/local/bin/node", "--disable-sigusr1", "${program}"]`);
    expect(scripts["start:production"]).toMatch(/ node --disable-sigusr1 server\/cli.ts$/);
    expect(unit).toMatch(/^TimeoutStopSec=15$/m);
    expect(container).toMatch(/^USER 65532:65532$/m);
    expect(container).toMatch(/^STOPSIGNAL SIGTERM$/m);
    expect(container).toContain("/readyz");
    for (const service of [server, migrate])
      expect(service).toMatchObject({ read_only: true, cap_drop: ["ALL"] });
    expect(unit).toMatch(/^LimitCORE=0$/m);
    expect(server.volumes).toEqual([`marks:${dirname(server.environment.HIGH_WATER_MARK_FILE)}`]);
    expect(server).toMatchObject({ ulimits: { core: 0 }, stop_signal: "SIGTERM", stop_grace_period: "15s" });
  });

  test("passes systemd-analyze verify, and exposes little by systemd-analyze security, where there is one", async () => {
    const found = await promisify(execFile)("which", ["systemd-analyze"]).catch(() => undefined);
    if (!found) return;
    const folder = await folderOfTest();
    const file = join(folder, "refunds.service");
    // The unit names the Node of the machine that it is for.
    await writeFile(file, (await read("refunds.service")).replace("/usr/bin/node", process.execPath));
    const analyze = (...args: string[]) => promisify(execFile)("systemd-analyze", [...args, file]);
    const { stderr } = await analyze("verify");
    const { stdout } = await analyze("security", "--offline=true", "--no-pager");
    expect(stderr.split("\n").filter((line) => line.includes("refunds.service"))).toEqual([]);
    expect(Number(/exposure level for refunds\.service: ([\d.]+)/.exec(stdout)?.[1])).toBeLessThanOrEqual(2);
  });
});
