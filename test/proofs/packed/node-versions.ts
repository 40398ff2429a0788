/** The versions of Node, from npm, on which the packed packages are tried. */
import { join } from "node:path";
import { installTools } from "../../helpers/process.ts";

/** A Node from npm. */
export type Node = {
  readonly version: string;
  /** Its program; installs it apart from everything else, unless it is there. */
  program(): Promise<string>;
};

const node = (version: string): Node => ({
  version,
  async program() {
    const name = `node-linux-${process.arch}`;
    return join(await installTools(`runtimes/node-${version}`, [`${name}@${version}`]), name, "bin/node");
  },
});

/** Those that the client supports; the other packages refuse the first one. */
export const NODES: readonly [Node, ...Node[]] = [node("20.20.2"), node("22.23.3"), node("24.21.0")];
/** The oldest Node that the packages other than the client support. */
export const OLDEST_NODE = node("22.13.1");
/** The last one that the other packages refuse. */
export const TOO_OLD = node("22.12.0");
