// Runs a piece of a fix, as it is printed, and gives what it makes.
import { spawn, spawnSync } from "node:child_process";
import * as crypto from "node:crypto";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { hmacSigner, jwtSigner, newEventId, secretFingerprint, signHmac } from "hookproof";
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
    URL,
    secretFingerprint,
    crypto: { subtle: crypto.webcrypto.subtle, randomUUID: crypto.randomUUID, sign: crypto.sign },
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

/** Runs a command of curl, with the address behind it, and gives the body that arrives. */
export async function posted(command: string, body: Uint8Array): Promise<Buffer> {
  const folder = temporaryFolder("curl");
  writeFileSync(join(folder, "body.json"), body);
  const chunks: Buffer[] = [];
  const server = createServer((request, response) => {
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => response.end());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const child = spawn("sh", ["-c", `${command} -s http://127.0.0.1:${port}/`], { cwd: folder });
  const [status] = await once(child, "exit");
  server.close();
  if (status !== 0) throw new Error(`${command} ended with ${status}`);
  return Buffer.concat(chunks);
}

const PROGRAMS = {
  python3: (code: string) => [
    "/usr/bin/python3",
    "-c",
    [
      "import base64, hashlib, hmac, json, sys, time, uuid",
      "v = json.load(open('values.json', encoding='utf-8'))",
      "secret, timestamp, event_id, path = v['secret'], v['timestamp'], v['eventId'], 'secret'",
      "r = int(v.get('r', '0'))",
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
  ruby: (code: string) => [
    "ruby",
    "-rjson",
    "-e",
    `payload = JSON.parse(JSON.parse(File.read('values.json', encoding: 'utf-8'))['body']); print(${code})`,
  ],
  sh: (code: string) => ["sh", "-c", code],
} as const;
