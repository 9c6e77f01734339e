import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./markdown.js";

/** A type of document in docs/json-output.md. */
export interface DocumentedType {
  readonly type: string;
  /** What prints it, in words. */
  readonly by: string;
  /** Its members besides `v` and `type`; `?` marks those that are not always there. */
  readonly members: readonly string[];
}

/** Every type that docs/json-output.md documents. */
export function documentedTypes(): DocumentedType[] {
  const page = readFileSync(join(ROOT, "docs/json-output.md"), "utf8");
  return [...page.matchAll(/^\| `([a-z-]+)` +\|([^|]*)\|(.*)\|$/gm)].map(
    ([, type = "", by = "", members = ""]) => ({
      type,
      by: by.trim(),
      members: [...members.matchAll(/`(\w+\??)`/g)].map(([, name = ""]) => name),
    }),
  );
}

const documented = new Map(documentedTypes().map(({ type, members }) => [type, members]));

/** Whether a document is of a documented type, with its members and no others. */
export function isAsDocumented({ v, type, ...members }: Readonly<Record<string, unknown>>): boolean {
  const known = documented.get(String(type));
  const names = Object.keys(members);
  return (
    v === 1 &&
    known !== undefined &&
    names.every((name) => known.includes(name) || known.includes(`${name}?`)) &&
    known.every((name) => name.endsWith("?") || names.includes(name))
  );
}
