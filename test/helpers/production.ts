import { createDeployment, type Deployment } from "./deployment.ts";
import { type Issuer, startIssuer } from "./issuer.ts";

/** A PostgreSQL database, an issuer, and servers in production mode that use them; a test closes them together. */
export type Production = Omit<Deployment, "remove"> & { readonly issuer: Issuer; end(): Promise<void> };

export async function startProduction(options: Parameters<typeof startIssuer>[0] = {}): Promise<Production> {
  const issuer = await startIssuer(options);
  const settings = { MODE: "production", RATE_LIMIT: "off", ...issuer.env };
  const { remove, ...deployment } = await createDeployment("postgres", settings);
  const end = async () => {
    await remove();
    await issuer[Symbol.asyncDispose]();
  };
  return { ...deployment, issuer, end, [Symbol.asyncDispose]: end };
}
