import { PGlite } from "@electric-sql/pglite";

/* A process of `embedded.ts`: creates the files of a store in the folder that is its argument, and ends. */
const pglite = await PGlite.create(process.argv[2] ?? "");
await pglite.close();
