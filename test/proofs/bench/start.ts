import { rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { createPackedProject } from "../../helpers/packages.ts";
import { makeTempDir } from "../../helpers/temp-dir.ts";
import { compare, repeat, report } from "./compare.ts";
import { atEnd, bench, start, startPrism } from "./frame.ts";

/*
 * The time from the start of the process to the line that says it is ready, compared with the Prism mock of the same document until
 * it has responded for the first time. What Node has compiled is kept for both.
 */
const TWICE = `
  const { startSandbox } = await import("@refund-contract/sandbox");
  const timed = async () => { const from = performance.now(); await startSandbox(); return performance.now() - from; };
  const first = await timed();
  console.log((await timed()) / first);
  process.exit();`;

await bench(async () => {
  const folder = await makeTempDir();
  atEnd(() => rm(folder, { recursive: true, force: true }));
  const env = { NODE_COMPILE_CACHE: join(folder, "compiled"), PORT: "0", DATA_DIR: join(folder, "data") };
  const prism = async () => {
    const from = performance.now();
    const program = await startPrism(env);
    await fetch(`${program.url}/v1/refunds`, { method: "POST" });
    const seconds = (performance.now() - from) / 1000;
    await program.stop();
    return seconds;
  };
  const clone = [process.execPath, "scripts/start/start.ts"];
  const again = async (command = clone) => {
    const program = await start({ command, env });
    await program.stop();
    return program.startedInMs / 1000;
  };
  const first = async () => {
    await rm(env.DATA_DIR, { recursive: true, force: true });
    return again();
  };
  const [theirs, against] = [prism, "the Prism mock until its first response"];
  await compare("`npm start`, the first time", "s", { ours: first, theirs, against, atMost: 1.2 });
  await compare("`npm start`, again", "s", { ours: () => again(), theirs, against, atMost: 0.8 });
  await using project = await createPackedProject(["sandbox"]);
  const packed = [...(await project.command("sandbox")), "--port", "0", "--data-dir", env.DATA_DIR];
  await compare("the package, again", "s", { ours: () => again(packed), theirs, against, atMost: 0.6 });
  const ratios = await repeat(async () =>
    Number(await project.run("node", "--input-type=module", "--eval", TWICE)),
  );
  report("a second sandbox in one process, compared with the first", "times", ratios, { atMost: 0.1 });
  const resting = await start({ command: clone, env });
  await setTimeout(10_000); // the compiler of WebAssembly needs memory until then
  report("resident memory of the sandbox at rest", "MB", [resting.memoryMb()], { atMost: 150 });
});
