// Runs a piece of a fix, as it is printed, and gives what it makes.
import { spawn, spawnSync } from "node:child_process";
import * as crypto from "node:crypto";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import express from "express";
import { hmacSigner, jwtSigner, newEventId, secretFingerprint, signHmac } from "hookproof";
import { createKeySet, generateKey, jwksHandler } from "hookproof/jwks";
import { importJWK, SignJWT } from "jose";
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
  const before = code.startsWith(".") ? "mac" : code.startsWith("digest(") ? "mac." : "";
  const [, declared] = /^const \{ (\w+) \} = /.exec(code) ?? [];
  const alone = code.startsWith("if ") ? code : `return (${before}${code})`;
  const text = declared === undefined ? alone : `${code}; return ${declared}`;
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

/** What token libraries hand over: the parts of a token, and what signs claims. */
export function tokenValues(token: string, privateJwk: JsonWebKey): Values {
  const [header, claims, signature] = token.split(".").map((part) => Buffer.from(part, "base64url"));
  return {
    base64url: (part: Uint8Array) => Buffer.from(part).toString("base64url"),
    ...{ header, claims, signature },
    sign: async (given: unknown) =>
      new SignJWT(JSON.parse(String(given)))
        .setProtectedHeader({ alg: "ES256", kid: "k1" })
        .sign(await importJWK(privateJwk as never, "ES256")),
  };
}

/** A token of a signing input, with ES256. */
export function signedInput(input: string, privateJwk: JsonWebKey): string {
  const key = crypto.createPrivateKey({ key: privateJwk as never, format: "jwk" });
  const bytes = crypto.sign("sha256", Buffer.from(input), { key, dsaEncoding: "ieee-p1363" });
  return `${input}.${bytes.toString("base64url")}`;
}

/** What a route of Express answers where a piece gives a key set. */
export async function answeredKeySet(piece: Piece, publicJwk: unknown): Promise<object> {
  const app = express().get("/", (_request, res) => {
    void runInNode(piece, { res, keySet: { keys: [publicJwk] } }, () => 0);
  });
  const server = app.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const answer = await fetch(`http://127.0.0.1:${port}/`).then((one) => one.json() as Promise<object>);
  server.close();
  return answer;
}

/** The request that arrives where a piece of JavaScript sends it, or sets a header of it that is there already. */
export async function postedByNode(
  piece: Piece,
  headers: Readonly<Record<string, string>>,
  body: Uint8Array,
): Promise<{ method: string; headers: Record<string, string>; body: Buffer }> {
  let arrived: IncomingMessage | undefined;
  const chunks: Buffer[] = [];
  const server = createServer((request, response) => {
    arrived = request;
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => response.end());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const own = new Headers(headers);
  const [name, value] = ["Webhook-Signature", headers["Webhook-Signature"]];
  await runInNode(piece, { fetch, url, headers: own, body, name, value }, () => 0);
  if (!arrived) await fetch(url, { method: "POST", headers: own, body: Buffer.from(body) });
  server.close();
  const { method = "", headers: seen = {} } = arrived ?? {};
  return { method, headers: seen as Record<string, string>, body: Buffer.concat(chunks) };
}

/** Whether a signer takes a secret. */
export function canSign(secret: string): boolean {
  try {
    return Boolean(hmacSigner({ secret }));
  } catch {
    return false;
  }
}

/** Whether bytes are a text in UTF-8. */
export function isText(text: string, body: Uint8Array): boolean {
  return Buffer.from(text).equals(Buffer.from(body));
}

/** The value of a JSON text, or null. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
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

/** Statements that give a piece's value; arguments stand in the call that takes them. */
function madeInPython(code: string): string[] {
  if (code.startsWith("encoding="))
    return [
      "secret, path = v['body'], 'body'",
      `with open(path, 'w', ${code}) as file: file.write(v['body'])`,
      "made = open(path, 'rb').read()",
    ];
  if (code.startsWith("padding."))
    return [
      "key = serialization.load_pem_private_key(v['pem'].encode(), None)",
      `made = key.sign(v['input'].encode(), ${code}, hashes.SHA256())`,
    ];
  return [`made = ${code}`];
}

const PROGRAMS = {
  python3: (code: string) => [
    "/usr/bin/python3",
    "-c",
    [
      "import base64, hashlib, hmac, json, sys, time, uuid",
      ...(code.startsWith("padding.")
        ? [
            "from cryptography.hazmat.primitives import hashes, serialization",
            "from cryptography.hazmat.primitives.asymmetric import padding",
          ]
        : []),
      "v = json.load(open('values.json', encoding='utf-8'))",
      "secret, timestamp, event_id, path = v['secret'], v['timestamp'], v['eventId'], 'secret'",
      "r = int(v.get('r', '0'))",
      "payload, body = json.loads(v['body']), v['body'].encode()",
      "mac = hmac.new(secret.encode(), v['input'].encode(), 'sha256')",
      ...madeInPython(code),
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
