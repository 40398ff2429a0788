import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import helmet, { type HelmetOptions } from "helmet";

/**
 * The headers that keep a browser from misusing a response, as helmet sets them on one that is never sent. They never change, so they
 * are made once.
 */
export function readSecurityHeaders(): Map<string, string> {
  const headers = new Map<string, string>();
  const request = new IncomingMessage(new Socket());
  const response = new ServerResponse(request);
  response.setHeader = (name, value) => {
    headers.set(name, String(value));
    return response;
  };
  helmet(OPTIONS)(request, response, (error) => {
    if (error) throw error;
  });
  return headers;
}

/** For responses that no browser shows; the docs pages have a policy of their own. */
const OPTIONS: HelmetOptions = {
  contentSecurityPolicy: {
    useDefaults: false,
    directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
  },
  crossOriginOpenerPolicy: false,
  originAgentCluster: false,
  xDnsPrefetchControl: false,
  xDownloadOptions: false,
  xPermittedCrossDomainPolicies: false,
  xXssProtection: false,
};
