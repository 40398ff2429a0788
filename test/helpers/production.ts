import { type AdminRun, runCommand } from "./admin.ts";
import { createDeployment, type Deployment } from "./deployment.ts";
import { type Issuer, startIssuer } from "./issuer.ts";

/** A PostgreSQL database, an issuer, and servers in production mode that use them; a test closes them together. */
export type Production = Omit<Deployment, "remove"> & {
  readonly issuer: Issuer;
  /** Runs a command of `npm run admin` on the database, inside the test's process. */
  admin(args: readonly string[], stdin?: string): Promise<AdminRun>;
  end(): Promise<void>;
};

export async function startProduction(options: Parameters<typeof startIssuer>[0] = {}): Promise<Production> {
  const issuer = await startIssuer(options);
  const settings = { MODE: "production", RATE_LIMIT: "off", ...issuer.env };
  const { remove, ...deployment } = await createDeployment("postgres", settings);
  const end = async () => {
    await remove();
    await issuer[Symbol.asyncDispose]();
  };
  const admin: Production["admin"] = (args, stdin = "") =>
    runCommand(args, { env: { DATABASE_URL: deployment.url }, stdin });
  return { ...deployment, issuer, admin, end, [Symbol.asyncDispose]: end };
}
