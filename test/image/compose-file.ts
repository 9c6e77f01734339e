import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";

/** The repository. */
export const ROOT = join(import.meta.dirname, "../..");

/** A service of compose.yaml, as far as the stand-in knows what it says. */
export interface ComposeService {
  readonly image: string;
  readonly build?: string;
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly tmpfs?: readonly string[];
  readonly volumes?: readonly string[];
  readonly entrypoint?: readonly string[];
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly ports?: readonly string[];
  readonly network_mode?: string;
  readonly profiles?: readonly string[];
  readonly healthcheck?: unknown;
  readonly restart?: string;
  readonly stop_grace_period?: string;
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
}

const KNOWN: Record<keyof ComposeService, true> = {
  image: true,
  build: true,
  read_only: true,
  cap_drop: true,
  security_opt: true,
  tmpfs: true,
  volumes: true,
  entrypoint: true,
  command: true,
  environment: true,
  ports: true,
  network_mode: true,
  profiles: true,
  healthcheck: true,
  restart: true,
  stop_grace_period: true,
  depends_on: true,
};

/** The services of compose.yaml, in its order; refuses what the stand-in would silently leave out. */
export function composeServices(): ReadonlyMap<string, ComposeService> {
  const text = readFileSync(join(ROOT, "compose.yaml"), "utf8");
  const { services } = parse(text, { merge: true }) as { services: Record<string, ComposeService> };
  for (const [name, service] of Object.entries(services))
    for (const key of Object.keys(service))
      assert.ok(Object.hasOwn(KNOWN, key), `the stand-in does not know ${key} of ${name}`);
  return new Map(Object.entries(services));
}

/** What the last stage of the Dockerfile says about how the image runs. */
export interface ImageSettings {
  readonly env: Readonly<Record<string, string>>;
  readonly entrypoint: readonly string[];
  readonly healthCommand: readonly string[];
  readonly workdir: string;
  readonly uid: string;
}

export function imageSettings(): ImageSettings {
  const text = readFileSync(join(ROOT, "Dockerfile"), "utf8").replaceAll("\\\n", " ");
  const stage = text.slice(text.lastIndexOf("\nFROM "));
  const only = (pattern: RegExp) =>
    pattern.exec(stage)?.[1] ?? assert.fail(`the Dockerfile has no ${pattern}`);
  const env = only(/^ENV (.*)$/m)
    .split(" ")
    .map((pair) => pair.split("=") as [string, string]);
  return {
    env: Object.fromEntries(env),
    entrypoint: JSON.parse(only(/^ENTRYPOINT (.*)$/m)),
    healthCommand: JSON.parse(only(/^HEALTHCHECK .*? CMD (.*)$/m)),
    workdir: only(/^WORKDIR (.*)$/m),
    uid: only(/^USER ([0-9]+):/m),
  };
}
