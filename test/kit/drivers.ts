import { createRequire } from "node:module";
import * as undici7 from "undici";
import type { describe } from "vitest";
import { describeWith } from "./needs.js";

/** A driver of `test/drivers`, outside the workspaces; `undefined` where it is not installed, or needs another Node. */
export function driver<Module>(name: string): Module | undefined {
  try {
    return createRequire(new URL("../drivers/package.json", import.meta.url))(name) as Module;
  } catch {
    return undefined;
  }
}

/** What a test does over each client: its name, what makes a group of tests, and the client. */
export type Clients<Client> = readonly (readonly [
  name: string,
  group: ReturnType<typeof describe.skipIf>,
  client: Client,
])[];

/** A client made of each major of undici, for tests that do the same over others. */
export function undiciClients<Client>(client: (undici: typeof undici7) => Client): Clients<Client> {
  return UNDICIS.map(([name, needs, found]) => [
    name,
    describeWith(needs, found),
    client(found as typeof undici7), // a group that is skipped makes none
  ]);
}

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);

/** Both majors of undici; the newer one needs Node 22.19. */
export const UNDICIS: readonly (readonly [
  name: string,
  needs: string,
  undici: typeof undici7 | undefined,
])[] = [
  ["undici 7", "undici", undici7],
  [
    "undici 8",
    major > 22 || (major === 22 && minor >= 19) ? "test/drivers" : "Node 22.19",
    driver<typeof undici7>("undici-8"),
  ],
];
