import { defineCommand } from "../../scripts/command/command.ts";

/** What `npm run proof -- NAME` runs: the proofs that take minutes, and the commands that are needed rarely. */
export const PROOFS: readonly (readonly [name: string, file: string, description: string])[] = [
  [
    "audit",
    "../../scripts/supply-chain/audit.ts",
    "fails for known weaknesses of packages that nobody accepted",
  ],
  ["bench", "bench/bench.ts", "measures"],
  [
    "client",
    "packed/client-packed.ts",
    "installs the client's tarball into empty projects, and uses it on each Node",
  ],
  ["engines", "engines/engines.ts", "runs servers on a PostgreSQL that Citus spreads over machines"],
  [
    "faults",
    "faults/faults.ts",
    "kills processes, cuts connections, stops databases, and counts what is lost",
  ],
  ["fuzz", "fuzz/fuzz.ts", "sends random requests to a sandbox"],
  [
    "generators",
    "generators/generators.ts",
    "tries other people's generators on the contract, in each language",
  ],
  ["importers", "importers/importers.ts", "imports the contract in Postman, Bruno and Insomnia"],
  ["images", "../../scripts/supply-chain/images.ts", "pins the container images by their digests"],
  [
    "mutation",
    "mutation/mutate.ts",
    "changes the contract in every way that matters; a test must notice each",
  ],
  ["packed", "packed/packed.ts", "publishes two releases to a registry on this machine, and uses them"],
  ["planted", "planted/planted.ts", "plants faults in the source, and keeps which test files catch each"],
  ["samples", "samples/samples.ts", "runs the reference's samples in Go, Java, C#, PHP and Ruby"],
  ["sbom", "../../scripts/supply-chain/sbom.ts", "lists what runs in production, as CycloneDX"],
  ["screenshots", "screenshots/screenshots.ts", "takes the pictures of the console's guide"],
];

if (import.meta.main) {
  const command = defineCommand("proof", "Runs a long proof, or a command that is needed rarely.");
  for (const [name, executableFile, description] of PROOFS)
    command.command(name, description, { executableFile });
  command.parse();
}
