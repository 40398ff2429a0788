import { execFileSync } from "node:child_process";
import { cp, mkdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { READER_ENV, runAsReader, runProgram } from "../../../helpers/process.ts";
import { makeTempDir } from "../../../helpers/temp-dir.ts";
import { findProgram } from "./programs.ts";

export type Containers = NonNullable<Awaited<ReturnType<typeof startContainers>>>;

/** What a container may have of a machine, which itself may be a container: less than Podman asks for by default. */
const CONFIG = `[containers]
netns = "host"
default_ulimits = ["nofile=16384:16384", "nproc=16384:16384"]
[engine]
cgroup_manager = "cgroupfs"
`;

/**
 * Podman with images and containers of its own, which go with it; undefined when this machine lacks it or what starts
 * containers for it.
 */
export async function startContainers() {
  const runtime = findProgram("runc") ?? findProgram("crun");
  if (!findProgram("podman") || !runtime) return undefined;
  const home = await makeTempDir();
  const folder = join(home, "context");
  const env = {
    CONTAINERS_CONF: join(home, "containers.conf"),
    CONTAINERS_STORAGE_CONF: join(home, "storage.conf"),
    BUILDAH_ISOLATION: "chroot",
    TMPDIR: home,
  };
  await mkdir(folder);
  await writeFile(env.CONTAINERS_CONF, `${CONFIG}runtime = "${runtime}"\n`);
  await writeFile(
    env.CONTAINERS_STORAGE_CONF,
    `[storage]\ndriver = "overlay"\ngraphroot = "${home}/images"\nrunroot = "${home}/run"\n`,
  );
  const podman = (...args: string[]) => runAsReader(["podman", ...args], folder, env);
  return {
    /** Where its commands run. */
    folder,
    /** Resolves with its output, and rejects with it when the command fails. */
    podman,
    /** Runs commands of a guide. */
    runScript: (text: string) => runAsReader(["sh", "-euc", text], folder, env),
    async [Symbol.asyncDispose]() {
      await podman("rm", "--all", "--force", "--volumes", "--time", "0");
      await podman("rmi", "--all", "--force");
      await runProgram(["umount", join(home, "images/overlay")], { env: READER_ENV });
      await rm(home, { recursive: true, force: true });
    },
  };
}

/**
 * Puts images of this machine's own programs in place of those of a Containerfile, which come from a registry: one with Node
 * and npm, and one with the libraries of Node and nothing else.
 */
export async function useLocalImages({ folder, podman }: Containers): Promise<void> {
  const root = join(dirname(folder), "local");
  const withNpm = join(root, "node");
  const bin = join(withNpm, "usr/local/bin");
  await mkdir(bin, { recursive: true });
  for (const part of ["bin", "usr/bin", "usr/local/lib/node_modules", "usr/local/etc", "tmp"])
    await mkdir(join(withNpm, part), { recursive: true });
  await cp(process.execPath, join(bin, "node"), { dereference: true });
  const npm = execFileSync("sh", ["-c", 'readlink -f "$(command -v npm)"'], { encoding: "utf8" });
  await cp(dirname(dirname(npm)), join(withNpm, "usr/local/lib/node_modules/npm"), { recursive: true });
  await symlink("../lib/node_modules/npm/bin/npm-cli.js", join(bin, "npm"));
  for (const name of ["sh", "rm", "mkdir", "env"])
    await cp(findProgram(name) ?? "", join(withNpm, "bin", name), { dereference: true });
  await symlink("/bin/env", join(withNpm, "usr/bin/env"));
  await copyLibraries(withNpm, [
    join(bin, "node"),
    ...["sh", "rm", "mkdir"].map((name) => join(withNpm, "bin", name)),
  ]);
  await copyLibraries(join(root, "base"), [process.execPath]);
  await mkdir(join(root, "base/tmp"));
  // The registry that npm uses here, and the authorities that this machine trusts.
  const registry = await runAsReader(["npm", "config", "get", "registry"], folder);
  const authorities = "/etc/ssl/certs/ca-certificates.crt";
  await cp(authorities, join(withNpm, authorities)).catch(() => {});
  await writeFile(
    join(withNpm, "usr/local/etc/npmrc"),
    `registry=${registry.trim()}\ncafile=${authorities}\n`,
  );

  for (const name of ["node", "base"]) {
    await runAsReader(["tar", "-C", join(root, name), "-cf", `${name}.tar`, "."], root);
    await podman("import", join(root, `${name}.tar`), `localhost/${name}`);
  }
  const file = join(folder, "Containerfile");
  const text = await readFile(file, "utf8");
  await writeFile(
    file,
    text
      .replace(/^(ARG NODE_IMAGE=).*$/m, "$1localhost/node")
      .replace(/^(ARG BASE_IMAGE=).*$/m, "$1localhost/base"),
  );
}

async function copyLibraries(root: string, programs: readonly string[]): Promise<void> {
  const list = execFileSync("ldd", [...programs], { encoding: "utf8" });
  const paths = list.match(/(?<==> |^\t)\/\S+/gm) ?? [];
  for (const path of new Set(paths)) await cp(path, join(root, path), { dereference: true });
}
