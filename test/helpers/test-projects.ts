/** The names of Vitest's projects, for tests of CONTRIBUTING and of the configuration. */
import config from "../../vitest.config.ts";

type Project = { readonly test: { readonly name: string; readonly include: readonly string[] } };
const projects = (config.test?.projects ?? []) as readonly Project[];

export const testProjects: readonly Project["test"][] = projects.map(({ test }) => test);
