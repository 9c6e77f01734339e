import { readFileSync } from "node:fs";

// biome-ignore lint/suspicious/noExplicitAny: the document, walked freely
export type Node = any;

/** The OpenAPI document. */
export const document: Node = JSON.parse(
  readFileSync(new URL("../../service/openapi.json", import.meta.url), "utf8"),
);

/** An operation of the OpenAPI document. */
export interface Operation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  /** Of the path and of the operation. */
  readonly parameters: readonly Node[];
  readonly node: Node;
}

/** What a reference within the document leads to, and anything else as it is. */
export const resolved = (node: Node): Node =>
  node?.$ref
    ? resolved(
        node.$ref
          .slice(2)
          .split("/")
          .reduce((place: Node, step: string) => place[step], document),
      )
    : node;

/** The operations of the OpenAPI document. */
export const OPERATIONS: readonly Operation[] = Object.entries<Node>(document.paths).flatMap(
  ([path, { parameters = [], ...methods }]) =>
    Object.entries<Node>(methods).map(([method, node]) => ({
      id: node.operationId,
      method: method.toUpperCase(),
      path,
      parameters: [...parameters, ...(node.parameters ?? [])].map(resolved),
      node,
    })),
);

/** The id of the operation a request was for. */
export function operationAt(method: string, pathname: string): string {
  const found = OPERATIONS.find(
    (one) => one.method === method && new RegExp(`^${one.path.replace(/\{\w+\}/g, "[^/]+")}$`).test(pathname),
  );
  return found?.id ?? `${method} ${pathname}`;
}
