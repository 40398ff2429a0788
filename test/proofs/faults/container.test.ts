import { randomBytes } from "node:crypto";
import { cp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../../../scripts/command/root.ts";
import { packPackages } from "../../../scripts/packages/pack.ts";
import { linesOfPayment } from "../../helpers/admin.ts";
import { createTestDatabase } from "../../helpers/databases.ts";
import { refundOf } from "../../helpers/factories.ts";
import { startIssuer } from "../../helpers/issuer.ts";
import { findFreePort } from "../../helpers/network/local-server.ts";
import { post } from "../../helpers/server.ts";
import { startContainers, useLocalImages } from "./setup/containers.ts";
import { record, skipMissing } from "./setup/figures.ts";

const TITLE = "the server in a container";

/** Prints what the process with the id 1 may do, and what happens when it writes beside its volume. */
const PROBE = `
  const fs = require("node:fs");
  const lines = Object.fromEntries(fs.readFileSync("/proc/1/status", "utf8").split("\\n").map((line) => line.split(/:\\s+/)));
  const write = (path) => { try { fs.writeFileSync(path, ""); return "written"; } catch ({ code }) { return code; } };
  const { Name, Uid, Gid, CapEff, CapBnd, NoNewPrivs, Seccomp } = lines;
  console.log(JSON.stringify({ Uid, Gid, CapEff, CapBnd, NoNewPrivs, Seccomp,
    limits: /core file size +(\\S+)/.exec(fs.readFileSync("/proc/1/limits", "utf8"))[1],
    root: write("/opt/refunds/file"), tmp: write("/tmp/file"), marks: fs.readdirSync("/var/lib/refunds"),
    shells: ["/bin/sh", "/bin/bash", "/usr/bin/env", "/usr/local/bin/npm"].filter(fs.existsSync) }));`;

test("the image is built as the guide says, migrates, serves a refund on a read-only root, and stops with 0", async (context) => {
  await using containers =
    (await startContainers()) ?? skipMissing(context, TITLE, "podman, with runc or crun,");
  const { folder, podman, runScript } = containers;
  await using issuer = await startIssuer();
  await using database = await createTestDatabase("postgres", { empty: true });
  await packPackages(["server"], folder);
  await cp(join(ROOT, "server/operators/run/Containerfile"), join(folder, "Containerfile"));
  await useLocalImages(containers);
  await runScript("podman build --format docker --tag refunds .");
  const [port, probePort] = [await findFreePort(), await findFreePort()];
  const settings = { ...issuer.env, HOST: "127.0.0.1", PORT: port, PROBE_PORT: probePort };
  const files = {
    "settings.env": Object.entries(settings).map(([name, value]) => `${name}=${value}\n`),
    "payments.jsonl": linesOfPayment("merchant", "pay_1"),
    "database-url": [`${database.url}\n`],
    "encryption-key": [`${randomBytes(32).toString("base64")}\n`],
  };
  for (const [name, lines] of Object.entries(files)) await writeFile(join(folder, name), lines);

  await runScript(await readFile("docs/operators/container-start.sh", "utf8"));
  await runScript(
    "podman exec --interactive refunds /usr/local/bin/node dist/server/cli.js admin payments < payments.jsonl",
  );
  const refund = await post(`http://127.0.0.1:${port}`, "/v1/refunds", refundOf("pay_1"), {
    token: await issuer.token(),
  });
  const inside = JSON.parse(await podman("exec", "refunds", "/usr/local/bin/node", "-e", PROBE));
  const size = Number(await podman("image", "inspect", "--format", "{{.Size}}", "localhost/refunds"));
  const ended = await runScript("podman stop refunds && podman wait refunds");
  const logged = await podman("logs", "refunds");

  expect(refund).toMatchObject({ status: 201, body: { paymentStatus: "AUTHORIZED" } });
  expect(inside).toEqual({
    ...{ Uid: expect.stringMatching(/^65532\b/), Gid: expect.stringMatching(/^65532\b/) },
    ...{ CapEff: "0000000000000000", CapBnd: "0000000000000000", NoNewPrivs: "1", Seccomp: "2", limits: "0" },
    ...{ root: "EROFS", tmp: "EROFS", marks: ["high-water-mark.json"], shells: [] },
  });
  expect(ended).toBe("refunds\n0\n");
  const messages = logged
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line).msg);
  expect(messages).toEqual(["listening", "request", "stopping", "stopped"]);
  record(TITLE, { "refunds made": 1, "exit code": 0, "MB of the image": Math.round(size / 1e6) });
});
