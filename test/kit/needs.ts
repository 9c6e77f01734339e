// Skips a test where the machine has not what it needs, and says for want of what.
import { networkInterfaces } from "node:os";
import { describe, it } from "vitest";

/**
 * Tests that need what not every machine has. Where it is missing they are skipped, and their titles say for want of
 * what: the reporter of a run (run-reporter.ts) counts them, and in CI they are an error. A skip without such a title
 * is an error everywhere.
 *
 *     itWith("age", hasAge)("is read by age -d", () => { … });
 */
export function itWith(what: string, isThere: unknown): ReturnType<typeof it.skipIf> {
  return titled(it.skipIf(!isThere), what);
}

/** A group of tests that need what not every machine has; see `itWith`. */
export function describeWith(what: string, isThere: unknown): ReturnType<typeof describe.skipIf> {
  return titled(describe.skipIf(!isThere), what);
}

/** The long forms of tests, by `npm run test:long`. */
export const LONG: [what: string, isThere: boolean] = [
  "HOOKPROOF_LONG=1",
  Boolean(process.env.HOOKPROOF_LONG),
];

/** What only root can do, such as to make a file another user's. */
export const ROOT: [what: string, isThere: boolean] = ["root", process.getuid?.() === 0];

/** What Windows has not: modes of files, manual pages. */
export const POSIX: [what: string, isThere: boolean] = ["POSIX", process.platform !== "win32"];

/** Loopback in IPv6, which containers often lack. */
export const IPV6: [what: string, isThere: boolean] = [
  "IPv6",
  Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === "::1")),
];

/** The same function, with what it needs at the end of each title. */
function titled<Named extends ReturnType<typeof it.skipIf> | ReturnType<typeof describe.skipIf>>(
  named: Named,
  what: string,
): Named {
  return new Proxy(named, {
    apply: (target, self, [title, ...rest]) =>
      Reflect.apply(target as unknown as (...all: unknown[]) => unknown, self, [
        `${title} [with ${what}]`,
        ...rest,
      ]),
    get(target, property, self) {
      if (property !== "each") return Reflect.get(target, property, self);
      return (...cases: Parameters<Named["each"]>) =>
        titled(Reflect.apply(target.each as () => Named, target, cases), what);
    },
  });
}
