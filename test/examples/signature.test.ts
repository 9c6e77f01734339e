import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { itWith } from "../kit/needs.js";
import { hasTool, hasTools } from "../kit/outside-tool.js";
import { bytesOf, type ProtocolVectors, readVectors } from "../vectors/vector-file.js";

const folder = fileURLToPath(new URL("../../examples/signature/", import.meta.url));
const built = mkdtempSync(join(tmpdir(), "hookproof-signature-"));
afterAll(() => rmSync(built, { recursive: true }));

/** A program, and how it is built where it must be. */
interface Language {
  readonly run: readonly [string, ...string[]];
  /** The programs that it takes, if not just the one of its name. */
  readonly needed?: string;
  readonly build?: readonly [string, ...string[]];
}

/** Languages whose tools the project's machines have. */
const required: Record<string, Language> = {
  bash: { run: ["bash", "sign.sh"], needed: "bash and openssl" },
  python3: { run: ["python3", "sign.py"] },
  perl: { run: ["perl", "sign.pl"] },
};

/** Languages that are tried where their tools happen to be. */
const optional: Record<string, Language> = {
  java: { run: ["java", "-cp", built, "Sign"], build: ["javac", "-d", built, "Sign.java"] },
  go: { run: [join(built, "sign")], build: ["go", "build", "-o", join(built, "sign"), "sign.go"] },
  ruby: { run: ["ruby", "sign.rb"] },
  php: { run: ["php", "sign.php"] },
};

it("programs for other languages are ASCII, as some compilers read nothing else without a locale", () => {
  for (const programs of [folder, fileURLToPath(new URL("../../cli/snippets/", import.meta.url))]) {
    const names = readdirSync(programs);
    expect(names.length).toBeGreaterThan(5);
    for (const name of names)
      expect(readFileSync(join(programs, name), "utf8"), name).toMatch(/^[\0-\x7f]+$/);
  }
});

const { hmac: cases } = readVectors<ProtocolVectors>("protocol.json");

describe.each(Object.entries(required))("examples/signature in %s", (name, language) => {
  const { needed = name } = language;
  itWith(needed, hasTools(needed))("makes the signatures of the vectors", () => check(language));
});

describe.each(Object.entries(optional))("examples/signature in %s", (name, language) => {
  const [tool] = language.build ?? language.run;
  itWith(name, hasTool(tool, name === "go" ? "version" : "--version"))(
    "makes the signatures of the vectors",
    () => check(language),
  );
});

function check({ run: [command, ...args], build }: Language): void {
  if (build) execFileSync(build[0], build.slice(1), { cwd: folder });
  for (const { name, secret, timestamp, eventId, bodyBase64, signature } of cases) {
    const printed = execFileSync(command, [...args, timestamp, eventId], {
      cwd: folder,
      input: bytesOf(bodyBase64),
      env: { ...process.env, HOOKPROOF_SECRET: secret },
      encoding: "utf8",
    });
    expect(printed, name).toBe(`${signature}\n`);
  }
}
