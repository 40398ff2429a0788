import fc from "fast-check";

/**
 * What random cases begin with where a test names no seed: the same for every run, so that a run that fails is no chance.
 * `SEED=2 npx vitest run test/unit/server/domain` tries others.
 */
fc.configureGlobal({ seed: Number(process.env.SEED ?? 20_260_101) });
