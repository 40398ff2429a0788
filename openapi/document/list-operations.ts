import { find, members, type Node } from "./document-node.ts";
import { step } from "./pointer.ts";

/** Every operation of a document in its order; those of its paths come first. */
export function operationsOf(document: Node, kinds: readonly Kind[] = ["paths", "webhooks"]): OperationAt[] {
  return kinds.flatMap((kind) =>
    members(document[kind]).flatMap(([path]) => {
      const [here, item] = find(document, `/${kind}${step(path)}`) as [string, Node];
      return members(item)
        .filter(([name]) => METHODS.includes(name))
        .map(([method, operation]) => {
          return { kind, path, method, pointer: here + step(method), item, operation };
        });
    }),
  );
}

/** The members of a path item that are operations. */
export const METHODS = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];

/** `webhooks` hold the requests that the service sends. */
type Kind = "paths" | "webhooks";

/** An operation of a document, and where it is. */
export type OperationAt = {
  readonly kind: Kind;
  /** Such as `/v1/refunds`; of a webhook the name of its event. */
  readonly path: string;
  readonly method: string;
  readonly pointer: string;
  /** The object that holds it, whose parameters are those of all operations in it. */
  readonly item: Node;
  readonly operation: Node;
};
