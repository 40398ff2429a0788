/** Orval writes addresses without a host unless it is told where calls go, and only a configuration file can tell it. */
module.exports = {
  payments: {
    input: "openapi.yaml",
    output: { target: "payments.ts", client: "fetch", baseUrl: { runtime: "process.env.PAYMENTS_URL" } },
  },
};
