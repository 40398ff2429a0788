/** `npm run packages`: builds all packages into dist/packages. */
import { join } from "node:path";
import { defineCommand } from "../shared/define-command.ts";
import { ROOT } from "../shared/root.ts";
import { packPackages } from "./pack.ts";
import { PACKAGE_NAMES } from "./package-list.ts";

defineCommand("packages", "Builds the packages, and packs each into a tarball in dist/packages.").parse();
for (const { name, file, bytes } of await packPackages(PACKAGE_NAMES, join(ROOT, "dist/packages")))
  process.stdout.write(`${name}: ${file}, ${Math.round(bytes / 1000)} kB\n`);
