// Runs a piece of a fix, as it is printed, and gives what it makes.
import { spawnSync } from "node:child_process";
import * as crypto from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { hmacSigner, jwtSigner, newEventId, signHmac } from "hookproof";
import { createKeySet, generateKey, jwksHandler } from "hookproof/jwks";
import { temporaryFolder } from "../../kit/temporary-folder.js";
import type { Piece } from "./pieces.js";

/** Right values by the names that fixes use. */
export type Values = Readonly<Record<string, unknown>>;

/** Runs a piece of JavaScript among the values, and what libraries give. */
export async function runInNode({ code }: Piece, values: Values, now: () => number): Promise<unknown> {
  const subtle = { ...values };
  const names: Values = {
    createHmac: crypto.createHmac,
    createPublicKey: crypto.createPublicKey,
    sign: crypto.sign,
    crypto: { subtle: crypto.webcrypto.subtle, randomUUID: crypto.randomUUID },
    readFileSync,
    hmacSigner,
    jwtSigner,
    newEventId,
    signHmac,
    createKeySet,
    generateKey,
    jwksHandler,
    Date: { now },
    ...subtle,
  };
  const before = code.startsWith(".") ? "mac" : "";
  const text = code.startsWith("if ") ? code : `return (${before}${code})`;
  const body = `return (async () => { ${text} })()`;
  return new Function(...Object.keys(names), body)(...Object.values(names)) as Promise<unknown>;
}

/** What a program of another language prints: the piece's value as bytes. */
export function runElsewhere({ code, language }: Piece, values: Values): Buffer {
  const folder = temporaryFolder("piece");
  writeFileSync(join(folder, "secret"), `\uFEFF${values.secret}`);
  writeFileSync(join(folder, "values.json"), JSON.stringify(values));
  const program = PROGRAMS[language as keyof typeof PROGRAMS](code);
  const [name = "", ...words] = program;
  const done = spawnSync(name, words, {
    cwd: folder,
    input: String(values.input ?? ""),
    env: {
      ...process.env,
      SECRET: String(
        language === "sh" && code.startsWith("echo")
          ? Buffer.from(String(values.secret)).toString("base64")
          : values.secret,
      ),
      body: String(values.body),
    },
  });
  if (done.status !== 0) throw new Error(`${code}: ${done.stderr}`);
  return done.stdout;
}

const PROGRAMS = {
  python3: (code: string) => [
    "/usr/bin/python3",
    "-c",
    [
      "import base64, hashlib, hmac, json, sys, time, uuid",
      "v = json.load(open('values.json', encoding='utf-8'))",
      "secret, timestamp, event_id, path = v['secret'], v['timestamp'], v['eventId'], 'secret'",
      "payload, body = json.loads(v['body']), v['body'].encode()",
      "mac = hmac.new(secret.encode(), v['input'].encode(), 'sha256')",
      `made = ${code}`,
      "made = made.read() if hasattr(made, 'read') else made",
      "sys.stdout.buffer.write(made if isinstance(made, bytes) else str(made).encode())",
    ].join("\n"),
  ],
  php: (code: string) => [
    "php",
    "-r",
    [
      "$v = json_decode(file_get_contents('values.json'), true);",
      "$secret = $v['secret']; $input = $v['input']; $payload = json_decode($v['body']);",
      `echo ${code};`,
    ].join(" "),
  ],
  sh: (code: string) => ["sh", "-c", code],
} as const;
