import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createService, type ServiceOptions } from "hookproof-service";
import { afterAll, describe, expect, it } from "vitest";

const folder = mkdtempSync(join(tmpdir(), "hookproof-options-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Every option: one that is new does not compile before it is here, and is swept then as the others. */
const OPTIONS: Readonly<Record<keyof ServiceOptions, RegExp>> = {
  allowInsecure: /^allowInsecure /,
  attemptLimits: /^attemptLimits/,
  baseUrl: /^baseUrl /,
  behaviour: /^behaviour|profile/,
  celFunctions: /^celFunctions/,
  celNamespace: /^celNamespace /,
  client: /^client/,
  clock: /^clock/,
  controlToken: /^controlToken /,
  cors: /^cors/,
  db: /^db |cannot be opened as/,
  faults: /^faults/,
  fixture: /^fixture/,
  host: /^host /,
  inspector: /^inspector /,
  latencyMs: /^latencyMs /,
  limits: /^limits/,
  log: /^log /,
  onProgress: /^onProgress /,
  onRefused: /^onRefused /,
  onRun: /^onRun /,
  port: /^port /,
  s3: /^s3/,
  seed: /^seed|fixture/,
  tls: /^tls/,
  tokenLifetimeSeconds: /^tokenLifetimeSeconds /,
  tracer: /^tracer /,
  trustedProxies: /^trustedProxies |CIDR/,
  unknownFields: /^unknownFields /,
  users: /^users|fixture/,
  validateAnswers: /^validateAnswers /,
  wireNames: /^wireNames/,
};

const BAD: readonly unknown[] = [
  ...[null, "", "x", "a\0b", "http://[bad", "/missing/folder/x", folder, Symbol("x"), true],
  ...[-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 1e300, 5],
  ...[[], [5], ["x"], {}, { x: 1 }, { cert: "x", key: "x" }, { id: 5, secret: 5 }, { headersMs: "x" }],
  () => {
    throw new Error("of the caller");
  },
];

const RAW =
  /\bE[A-Z]{3,}: |ERR_|Invalid URL|is not a function|is not iterable|Cannot (?:read|convert|destructure)|argument|\bundefined\b/;

it.each<[options: object, words: string]>([
  [{ trustedProxies: ["x"] }, 'trustedProxies cannot be used. Not an address range: "x"'],
  [
    { attemptLimits: { failures: -1 } },
    "attemptLimits.failures must be a whole number from 1 on, or Infinity",
  ],
  [
    { attemptLimits: { failures: 0 } },
    "attemptLimits.failures must be a whole number from 1 on, or Infinity",
  ],
  [{ faults: { getAuthConfig: 5 } }, "faults.getAuthConfig: fault must be object"],
  [{ faults: { getAuthConfig: { sequence: [], status: 500 } } }, "faults.getAuthConfig: sequence"],
])("%j is refused by the name of the member", async (options, words) => {
  await expect(createService(options as ServiceOptions)).rejects.toThrow(words);
});

describe("createService takes a bad option, or refuses it by its name", () => {
  it.each(Object.entries(OPTIONS))("%s", async (option, words) => {
    const failures: string[] = [];
    for (const value of BAD) {
      const isPlace = option === "db" && typeof value === "string" && !value.startsWith("/");
      const given = isPlace ? join(folder, value) : value;
      const options = /^(?:fixture|seed|users)$/.test(option)
        ? { [option]: given }
        : { fixture: {}, [option]: given };
      try {
        const service = await createService(options as ServiceOptions);
        await service.stop();
      } catch (error) {
        const { message } = error as Error;
        if (!words.test(message) || RAW.test(message)) failures.push(`${String(value)}: ${message}`);
      }
    }
    expect(failures).toEqual([]);
  });
});
