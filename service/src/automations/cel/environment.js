// What expressions are planned with, and what a tree gives.
import { celEnv, celMap, plan } from "@bufbuild/cel";
import { strings as upstreamStrings } from "@bufbuild/cel/ext";
import { noting } from "./follow.js";
import { functions } from "./functions.js";
import { lookUpFunctions } from "./look-ups.js";
import { strings } from "./strings.js";
import { times } from "./times.js";

/** The look-ups that the service has, as it started this process with them. */
const signatures = JSON.parse(process.argv[3] ?? "[]");

/** What expressions are planned with: the library's own functions, and in their place ours where theirs are wrong. */
export const environment = celEnv({
  funcs: [...upstreamStrings, ...strings, ...functions, ...times, ...lookUpFunctions(signatures), noting],
});

// The library's maps say of a member that is null that it is not there: `has()`, `in`.
const { constructor: NativeMap } = celMap(new Map());
NativeMap.prototype.has = function (key) {
  return this.get(key) !== undefined;
};

/**
 * What a tree gives: a value, or a CelError.
 *
 * @param names values by name
 */
export function evaluatedTree(tree, names) {
  return plan(environment, tree)(Object.assign(Object.create(null), names));
}
