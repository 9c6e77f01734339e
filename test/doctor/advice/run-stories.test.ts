// Who makes a mistake gets its code, and who does what the fix says as it is printed gets on.
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { newEventId } from "hookproof";
import { generateKey } from "hookproof/jwks";
import { importJWK, SignJWT } from "jose";
import { describe, expect, it, onTestFinished } from "vitest";
import { openStage, requireBuild, type Stage } from "../../kit/transcript.js";
import { allAdvice } from "./advice.js";
import { hostOf } from "./stage-host.js";
import { STORIES, storyOf } from "./stories.js";

requireBuild();

/** Captures of a right token, and of one with each claim of another value, with the key set. */
async function writeTokens(folder: string): Promise<void> {
  const { privateJwk, publicJwk } = await generateKey({ alg: "ES256", kid: "k1" });
  writeFileSync(join(folder, "keys.json"), JSON.stringify({ keys: [publicJwk] }));
  const [baseUrl, path, body] = ["https://tenant.example.com", "/api/v1/webhooks/incoming/lst_1", "{}"];
  const now = Math.floor(Date.now() / 1000);
  const [jti, key] = [newEventId(), await importJWK(privateJwk, "ES256")];
  const right = {
    ...{ sub: baseUrl, aud: `${baseUrl}${path}`, htm: "POST", jti, exp: now + 300 },
    htb_s256: createHash("sha256").update(body).digest("base64url"),
  };
  const wrong = {
    "wrong-SUB": { sub: "https://x.example" },
    "wrong-AUD": { aud: "x" },
    "wrong-HTM": { htm: "GET" },
  };
  for (const [name, claims] of Object.entries({ right: {}, ...wrong })) {
    const token = await new SignJWT({ ...right, ...claims })
      .setProtectedHeader({ alg: "ES256", kid: "k1" })
      .sign(key);
    const lines = [
      `POST ${path} HTTP/1.1`,
      "Content-Type: application/json",
      `Webhook-Timestamp: ${now}`,
      `Webhook-Event-Id: ${jti}`,
      `Authorization: Bearer ${token}`,
    ];
    writeFileSync(join(folder, `${name}.http`), [...lines, "", body].join("\r\n"));
  }
}

async function succeeds(stage: Stage, line: string): Promise<void> {
  const seen = await stage.run(line);
  expect(
    seen.filter((one) => one.startsWith("? ")),
    `${line}\n${seen.join("\n")}`,
  ).toEqual([]);
}

describe("what the fix of a code says is done as it is printed:", () => {
  it.each(STORIES.map((story) => [story.codes.join(), story] as const))("%s", async (_, story) => {
    const { codes, before = [], mistake, shows = /./, fix } = story;
    const advice = await allAdvice();
    for (const code of codes)
      expect(
        advice.some((one) => one.id === code && storyOf(code, one.fix) === story),
        code,
      ).toBe(true);
    const stage = await openStage();
    onTestFinished(() => stage.close());
    const folder = join(stage.folder, "work");
    const host = await hostOf(folder);
    await writeTokens(folder);
    const line = (text: string) => text.replaceAll("{host}", host);
    for (const one of before) await succeeds(stage, line(one));
    const refused = await stage.run(line(mistake));
    expect(refused.join("\n")).toContain(codes[0]);
    expect(refused.join("\n")).toMatch(shows);
    for (const one of fix) await succeeds(stage, line(one));
  });
});
