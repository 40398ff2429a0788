import { readContract } from "../../../scripts/lib/contract.ts";
import { createMock } from "../../../scripts/lib/prism.ts";

/* A process of the benchmarks: the Prism mock of the contract. */
const { url } = await createMock(readContract("openapi").document);
console.log(url);
