import { createRequire } from "node:module";

/** A package of `test/interop`, by somebody else; `undefined` where it is not installed. */
export function otherPeoples<Module>(name: string): Module | undefined {
  try {
    return createRequire(new URL("../interop/package.json", import.meta.url))(name) as Module;
  } catch {
    return undefined;
  }
}
