/** What `npm run proof -- NAME` runs: the proofs that take minutes, and the commands that are needed rarely. */
export const PROOFS = {
  bench: { file: "test/proofs/bench/bench.ts", description: "Runs the benchmarks." },
  certify: {
    file: "test/certify/cli.ts",
    description: "Examines a merchant's system, as `npx --no-install @refund-contract/certify` does.",
  },
  citus: {
    file: "test/proofs/citus/citus.ts",
    description:
      "Runs servers on a PostgreSQL whose tables are spread over machines with Citus: the tests, conformance, faults, moving rows to a new machine, and which machines a refund needs. Is not run where Citus is not installed for the PostgreSQL of PG_CONFIG, pg_config or /usr/lib/postgresql.",
  },
  faults: {
    file: "test/proofs/faults/faults.ts",
    description:
      "Kills real processes at random moments, breaks their database and network, and compares the responses that callers got with what is stored afterwards.",
  },
  generators: {
    file: "test/proofs/generators/generators.ts",
    description:
      "Generates a client of the contract in each of nine languages, compiles the guide's sample against it, and runs that against a sandbox. Skips languages whose toolchain is not installed.",
  },
  mutation: {
    file: "test/proofs/mutation/mutate.ts",
    description:
      "Changes the contract in every small way that matters, and fails when the tests would let one change pass. With --code, Stryker changes the code: see test/proofs/mutation/stryker.json.",
  },
  packed: {
    file: "test/proofs/packed/packed.ts",
    description:
      "Installs the packages from their tarballs into empty folders, as a reader would: compiles, bundles and runs the client there, on each Node, starts the sandbox, and runs the guide's tests.",
  },
  screenshots: {
    file: "test/proofs/screenshots.ts",
    description: "Takes the pictures of the console that its guide shows, into docs/console.",
  },
} as const;
