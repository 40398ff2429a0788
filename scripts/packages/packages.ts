import { join, resolve } from "node:path";
import { Argument } from "@commander-js/extra-typings";
import { defineCommand } from "../command/command.ts";
import { ROOT } from "../command/root.ts";
import { packPackages } from "./pack.ts";
import { PACKAGE_NAMES } from "./sources.ts";

const command = defineCommand(
  "packages",
  "Builds the packages, and packs each into a tarball, as it is published.",
)
  .option("--out <folder>", "where to write them", join(ROOT, "dist/packages"))
  .addArgument(new Argument("[name...]", "some of all packages").choices(PACKAGE_NAMES))
  .parse();
const [names] = command.processedArgs;
const tarballs = await packPackages(names.length === 0 ? PACKAGE_NAMES : names, resolve(command.opts().out));
for (const { name, file, bytes } of tarballs)
  process.stdout.write(`${name}: ${file}, ${Math.round(bytes / 1000)} kB\n`);
