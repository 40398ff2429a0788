import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { chmod, readFile, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { onTestFinished, vi } from "vitest";
import { findFreePort } from "../../../helpers/network/local-server.ts";
import { openConnection } from "../../../helpers/network/raw-http.ts";
import { chooseUser } from "../../../helpers/postgres.ts";
import { folderOfTest } from "../../../helpers/suite.ts";
import { type Skipping, skipMissing } from "./figures.ts";

/** Debian's folder for administrators' programs, which may not be in the path. */
const MORE_FOLDERS = ["/usr/sbin", "/usr/local/sbin"];

/** The path of a program; undefined when this machine does not have it. */
export function findProgram(name: string): string | undefined {
  const folders = [...(process.env.PATH ?? "").split(delimiter), ...MORE_FOLDERS];
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
}

/** The path of a program that a fault takes; where it is missing, the test is skipped. */
export function findOrSkip(context: Skipping, fault: string, name: string, debianPackage = name): string {
  return findProgram(name) ?? skipMissing(context, fault, debianPackage);
}

/** A program that runs until the end of the test, such as one between the server and PostgreSQL. */
type Proxy = { readonly port: number };

/** Writes a configuration, and runs a program on it as a user that is not root. */
async function start(
  fileName: string,
  toConfig: (port: number) => string,
  toCommand: (file: string, port: number) => readonly string[],
): Promise<Proxy> {
  const folder = await folderOfTest();
  await chmod(folder, 0o755);
  const file = join(folder, fileName);
  const port = await findFreePort();
  await writeFile(file, toConfig(port));
  const [program = "", ...args] = toCommand(file, port);
  const child = spawn(program, args, { ...chooseUser(), cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
  let output = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  onTestFinished(() => killProgram(child));
  await vi
    .waitFor(() => tryConnect({ host: "127.0.0.1", port }), { timeout: 20_000 })
    .catch((cause: unknown) => {
      throw new Error(`${program} does not listen: ${output}`, { cause });
    });
  return { port };
}

/** Rejects while nothing listens there. */
export async function tryConnect({ host, port }: { host: string; port: number }): Promise<void> {
  using _ = await openConnection(`http://${host}:${port}`);
}

export async function killProgram(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const closed = once(child, "close");
  child.kill("SIGKILL");
  await closed;
}

/**
 * HAProxy, configured as in the guide to replicas.
 * @param example `haproxy.cfg`, which stands in front of PostgreSQL servers, or `balancer.cfg`, in front of ours
 * @param ports where the servers listen, in the order of the example, which may have more of them
 */
export async function startHaProxy(
  program: string,
  example: "haproxy.cfg" | "balancer.cfg",
  ports: readonly number[],
): Promise<Proxy> {
  const template = await readFile(`docs/operators/${example}`, "utf8");
  let index = 0;
  return start(
    example,
    (port) =>
      template
        .replace(/bind \S+/, `bind 127.0.0.1:${port}`)
        .replace(/^( {2}server \S+) \S+ check.*/gm, (_, server) => {
          const port = ports[index];
          index += 1;
          return port === undefined ? "" : `${server} 127.0.0.1:${port} check`;
        }),
    (file) => [program, "-db", "-f", file],
  );
}
