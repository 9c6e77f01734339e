import { execFileSync, spawn, spawnSync } from "node:child_process";
import { createHash, createHmac, createPublicKey, createSign, type JsonWebKey } from "node:crypto";
import { once } from "node:events";
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { newEventId } from "hookproof";
import { compactVerify, decodeJwt, importJWK } from "jose";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { itWith } from "../../test/kit/needs.js";
import { hasTool } from "../../test/kit/outside-tool.js";
import { temporaryFolder } from "../../test/kit/temporary-folder.js";
import { requireBuild } from "../../test/kit/transcript.js";
import { bytesOf, readVectors } from "../../test/vectors/vector-file.js";
import { SNIPPETS, snippetOf } from "../src/snippets.js";

interface Vectors {
  readonly hmac: readonly {
    name: string;
    secret: string;
    timestamp: string;
    eventId: string;
    bodyBase64: string;
    signature: string;
  }[];
  readonly keys: readonly { jwk: JsonWebKey & { kid: string; alg: string }; privatePkcs8Pem: string }[];
  readonly jwt: readonly {
    name: string;
    alg: string;
    now: number;
    eventId: string;
    bodyBase64: string;
    url: string;
    baseUrl: string;
    token: string;
    valid: boolean;
    failsOn: string | null;
  }[];
}

const vectors = readVectors<Vectors>("protocol.json");
const folder = join(import.meta.dirname, "../snippets");
const JACKSON = ["annotations", "core", "databind"].map((part) => `/usr/share/java/jackson-${part}.jar`);

/** A program that ends at once gains nothing from the optimizing compiler and the threads of a collector. */
const QUICK_JAVA = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"];

/** Debian's crates, beside Debian's own compiler, which they are made for. */
const CRATES = "/usr/share/cargo/registry";
const CARGO = "/usr/bin/cargo";

/** What is built, for all tests: compilers take longer than the programs. */
let work = "";
beforeAll(() => {
  work = mkdtempSync(join(tmpdir(), "hookproof-snippets-"));
});
afterAll(() => rmSync(work, { recursive: true, force: true }));

/** Builds a program into a folder and gives the command that runs it. */
type Prepare = (file: string, built: string) => readonly [string, ...string[]];

const interpreted =
  (...command: readonly [string, ...string[]]): Prepare =>
  (file) => [...command, join(folder, file)];

const RUNS: Readonly<Record<string, { tool: string; has: boolean; prepare: Prepare }>> = {
  // Debian's own, which has python3-jwt.
  python: {
    tool: "python3-jwt",
    has: hasTool("/usr/bin/python3", "-c", "import jwt, cryptography"),
    prepare: interpreted("/usr/bin/python3"),
  },
  php: { tool: "php", has: hasTool("php", "--version"), prepare: interpreted("php") },
  // Gems are most of Ruby's start, and the programs need none.
  ruby: { tool: "ruby", has: hasTool("ruby", "--version"), prepare: interpreted("ruby", "--disable-gems") },
  shell: { tool: "jq", has: hasTool("jq", "--version"), prepare: interpreted("bash") },
  go: {
    tool: "go",
    has: hasTool("go", "version"),
    prepare(file, built) {
      const program = join(built, "program");
      execFileSync("go", ["build", "-o", program, join(folder, file)]);
      return [program];
    },
  },
  java: {
    tool: "java and libjackson2-databind-java",
    has: hasTool("javac", "--version") && JACKSON.every((jar) => existsSync(jar)),
    // The compiler's start is most of its time: it is given all programs at once, and each is run with its own classes alone.
    prepare(file, built) {
      const all = join(work, "java");
      const sources = readdirSync(folder).filter((one) => one.endsWith(".java"));
      if (!existsSync(all))
        execFileSync("javac", ["-d", all, "-cp", JACKSON.join(":"), ...sources], { cwd: folder });
      const name = file.replace(".java", "");
      for (const one of readdirSync(all))
        if (/[^.$]+/.exec(one)?.[0] === name) copyFileSync(join(all, one), join(built, one));
      return ["java", ...QUICK_JAVA, "-cp", [built, ...JACKSON].join(":"), name];
    },
  },
  rust: {
    tool: "Debian's cargo and librust-base64ct-dev",
    has:
      hasTool(CARGO, "--version") &&
      existsSync(CRATES) &&
      ["base64ct-1", "hmac-0.12", "sha2-0.10"].every((crate) =>
        readdirSync(CRATES).some((name) => name.startsWith(`${crate}.`)),
      ),
    prepare(file, built) {
      const crates = join(work, "crates");
      const name = file.replace(".rs", "");
      const env = { ...process.env, PATH: "/usr/bin:/bin", CARGO_HOME: built, CARGO_TARGET_DIR: crates };
      const source = ['crates-io.replace-with="debian"', `debian.directory="${CRATES}"`];
      const cargo = (...words: string[]) =>
        execFileSync(
          CARGO,
          [...words, "--offline", "--quiet", ...source.flatMap((one) => ["--config", `source.${one}`])],
          { cwd: built, env },
        );
      cargo("init", "--vcs", "none", "--name", name);
      copyFileSync(join(folder, file), join(built, "src/main.rs"));
      // What its first lines say is typed as they say it.
      const [, added = ""] = /cargo (add .*)/.exec(readFileSync(join(folder, file), "utf8")) ?? [];
      cargo(...added.split(" "));
      cargo("build");
      return [join(crates, "debug", name)];
    },
  },
  csharp: {
    tool: "mono",
    has: hasTool("mcs", "--version"),
    prepare(file, built) {
      const program = join(built, "program.exe");
      execFileSync("mcs", [`-out:${program}`, join(folder, file)]);
      return ["mono", program];
    },
  },
};

const BIN = join(import.meta.dirname, "../bin/hookproof.cjs");
const SECRET = "QSBrZXkgZm9yIEhvb2twcm9vZiB0ZXN0cyBvbmx5ISE";

/** `hookproof listen` in a process of its own; gives the listener's URL. */
async function listening(proof: "hmac" | "jwt" = "hmac"): Promise<string> {
  const home = temporaryFolder("snippet-listener");
  const file = join(home, "proof");
  const keySet = { keys: vectors.keys.map(({ jwk }) => jwk) };
  writeFileSync(file, proof === "hmac" ? SECRET : JSON.stringify(keySet), { mode: 0o600 });
  const flag = proof === "hmac" ? "--secret-file" : "--jwks";
  const words = ["listen", "--port", "0", "--no-ui", flag, file, "--json"];
  const child = spawn(process.execPath, [BIN, ...words], {
    env: { ...process.env, HOME: home, HOOKPROOF_HOME: home },
    stdio: ["ignore", "pipe", "ignore"],
  });
  onTestFinished(async () => {
    const gone = once(child, "exit");
    child.kill();
    await gone;
  });
  const [line] = await once(child.stdout, "data");
  return JSON.parse(String(line).split("\n")[0] ?? "").url;
}

/** A server that sends everything elsewhere, and counts what arrives there. */
async function redirecting(): Promise<{ url: string; followed: () => number }> {
  let followed = 0;
  const server = createServer((request, response) => {
    if (request.url !== "/first") followed++;
    request.resume().on("end", () => response.writeHead(302, { Location: "/second" }).end());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/first`,
    followed: () => followed,
  };
}

beforeAll(requireBuild);

it("each program that sends goes to what listen runs, unless it is told where to", () => {
  for (const name of Object.keys(SNIPPETS))
    for (const method of ["hmac", "jwt"] as const)
      expect(snippetOf(name, method, "send")?.code, name).toContain(
        "http://127.0.0.1:4400/api/v1/webhooks/incoming/lst_local",
      );
});

describe.each(Object.keys(SNIPPETS).filter((name) => name in RUNS))("in %s", (name) => {
  const { tool, has, prepare: build } = RUNS[name] as (typeof RUNS)[string];
  const commands = new Map<string, ReturnType<Prepare>>();
  const prepare = (method: "hmac" | "jwt", action: "sign" | "verify" | "send") => {
    const { file } = snippetOf(name, method, action) ?? expect.fail(`no program ${method} ${action}`);
    const command = commands.get(file) ?? build(file, mkdtempSync(join(work, "built-")));
    commands.set(file, command);
    return command;
  };
  const isRun = (method: "hmac" | "jwt") => snippetOf(name, method, "sign")?.tested === true;
  const start = (method: "hmac" | "jwt", action: "sign" | "verify" | "send") => {
    const [program, ...first] = prepare(method, action);
    return (args: readonly string[], input: Uint8Array, env: Record<string, string | undefined>) => {
      const done = spawnSync(program, [...first, ...args], { input, env: { ...process.env, ...env } });
      return { printed: String(done.stdout).trim(), code: done.status, said: String(done.stderr) };
    };
  };

  itWith(tool, has)("signs and verifies by HMAC as the vectors say", () => {
    const [sign, verify] = [start("hmac", "sign"), start("hmac", "verify")];
    for (const { name, secret, timestamp, eventId, bodyBase64, signature } of vectors.hmac) {
      const [body, env] = [bytesOf(bodyBase64), { HOOKPROOF_SECRET: secret }];
      const at = (shift: number) => [timestamp, eventId, signature, String(Number(timestamp) + shift)];
      expect(sign([timestamp, eventId], body, env).printed, name).toBe(signature);
      expect(verify(at(300), body, env), name).toMatchObject({ printed: "genuine", code: 0 });
    }
    const [one] = vectors.hmac;
    if (!one) throw new Error("no vector");
    const { secret, timestamp, eventId, signature } = one;
    const body = bytesOf(one.bodyBase64);
    const other = `${signature[0] === "A" ? "B" : "A"}${signature.slice(1)}`;
    const tries: [string[], Uint8Array, string][] = [
      [[timestamp, eventId, signature, String(Number(timestamp) + 301)], body, secret],
      [[timestamp, eventId, signature, String(Number(timestamp) - 301)], body, secret],
      [[`${timestamp}x`, eventId, signature, timestamp], body, secret],
      [[timestamp, eventId, other, timestamp], body, secret],
      [[timestamp, eventId, `${signature}=`, timestamp], body, secret],
      [[timestamp, eventId, "", timestamp], body, secret],
      [[timestamp, eventId, signature, timestamp], Buffer.concat([body, Buffer.from("\n")]), secret],
      [[timestamp, eventId, signature, timestamp], body, `${secret}x`],
    ];
    for (const [args, bytes, key] of tries)
      expect(verify(args, bytes, { HOOKPROOF_SECRET: key }), String(args)).toMatchObject({
        printed: "refused",
        code: 1,
      });
  });

  for (const method of ["hmac", "jwt"] as const)
    for (const action of ["sign", "verify", "send"] as const) {
      if (!snippetOf(name, method, action)?.tested) continue;
      itWith(tool, has)(`says what ${method} ${action} has to be given`, () => {
        const run = start(method, action);
        const variable = method === "hmac" ? "HOOKPROOF_SECRET" : "HOOKPROOF_KEY";
        // Rightly signed with no secret, so that nothing but its absence can refuse it.
        const [time, id] = [String(Math.floor(Date.now() / 1000)), newEventId()];
        const signature = createHmac("sha256", "").update(`${time}.${id}.{}`).digest("base64url");
        const words = method === "hmac" ? [time, id, signature] : ["a", "b", "c", "d"];
        for (const [args, value] of [
          [words, undefined],
          [words, ""],
          ...(method === "jwt" ? [[words, join(work, "no-such-file")] as const] : []),
          ...(method === "hmac" && action === "send" ? [] : [[[], SECRET] as const]),
        ] as const) {
          const done = run(action === "send" ? args.slice(0, 1) : args, Buffer.from("{}"), {
            [variable]: value,
          });
          expect(done, `${args} ${value}`).toMatchObject({ printed: "", code: 2 });
          expect(done.said.trim(), `${args} ${value}`).toMatch(new RegExp(`^Set ${variable} to [^\n]+.$`));
        }
      });
    }

  const { tested: isSent } = snippetOf(name, "hmac", "send") ?? { tested: false };
  if (isSent)
    itWith(tool, has)("sends to hookproof listen, and says what it answers", async () => {
      const [program, ...first] = prepare("hmac", "send");
      const send = async (args: readonly string[], secret = SECRET) => {
        const child = spawn(program, [...first, ...args], {
          env: { ...process.env, HOOKPROOF_SECRET: secret },
        });
        child.stdin.end('{"name": "Jos\u00e9 \u2013 \\"x\\"" }\r\n');
        const [printed, said, [code]] = await Promise.all([
          text(child.stdout),
          text(child.stderr),
          once(child, "close"),
        ]);
        return { printed, said, code };
      };
      const [url, id] = [await listening(), newEventId()];
      expect(await send([url])).toMatchObject({ printed: expect.stringMatching(/^200 /), code: 0 });
      expect(await send([url, id])).toMatchObject({ printed: expect.stringMatching(/^200 /), code: 0 });
      expect(await send([url, id])).toMatchObject({ printed: expect.stringMatching(/^409 /), code: 0 });
      expect(await send([url], `${SECRET}x`)).toMatchObject({
        printed: expect.stringMatching(/^401 .*SIGNATURE_MISMATCH/s),
        code: 1,
      });
      const elsewhere = await redirecting();
      expect(await send([elsewhere.url])).toMatchObject({ printed: expect.stringMatching(/^302 /), code: 1 });
      expect(elsewhere.followed()).toBe(0);
      const nobody = await send(["http://127.0.0.1:9/api/v1/webhooks/incoming/lst_1"]);
      expect(nobody.printed).toBe("");
      expect(nobody.said).not.toMatch(/Traceback|\bat \w+\.|Fatal error/);
      expect(nobody.code).not.toBe(0);
    });

  if (snippetOf(name, "jwt", "send")?.tested)
    itWith(tool, has)("sends with a token to hookproof listen, and says what it answers", async () => {
      const rsa = vectors.keys.find(({ jwk }) => jwk.alg === "RS256");
      if (!rsa) throw new Error("no RSA key");
      const secretKey = join(temporaryFolder("snippet-keys"), "private.pem");
      writeFileSync(secretKey, rsa.privatePkcs8Pem, { mode: 0o600 });
      const [program, ...first] = prepare("jwt", "send");
      const send = async (...args: string[]) => {
        const child = spawn(program, [...first, ...args], {
          env: { ...process.env, HOOKPROOF_KEY: secretKey },
        });
        child.stdin.end('{"name": "Jos\u00e9 \u2013 \\"x\\"" }\r\n');
        const [printed, said, [code]] = await Promise.all([
          text(child.stdout),
          text(child.stderr),
          once(child, "close"),
        ]);
        return { printed, said, code };
      };
      const [url, id, { kid }] = [await listening("jwt"), newEventId(), rsa.jwk];
      expect(await send(kid, url)).toMatchObject({ printed: expect.stringMatching(/^200 /), code: 0 });
      expect(await send(kid, url, id)).toMatchObject({ printed: expect.stringMatching(/^200 /), code: 0 });
      expect(await send(kid, url, id)).toMatchObject({ printed: expect.stringMatching(/^409 /), code: 0 });
      expect(await send("another", url)).toMatchObject({
        printed: expect.stringMatching(/^401 .*KEY_NOT_FOUND/s),
        code: 1,
      });
      const elsewhere = await redirecting();
      expect(await send(kid, elsewhere.url)).toMatchObject({
        printed: expect.stringMatching(/^302 /),
        code: 1,
      });
      expect(elsewhere.followed()).toBe(0);
      const nobody = await send(kid, "http://127.0.0.1:9/api/v1/webhooks/incoming/lst_1");
      expect([nobody.printed, nobody.code]).not.toEqual(["", 0]);
      expect(nobody.said).not.toMatch(/Traceback|\bat \w+\.|Fatal error/);
    });

  itWith(tool, has)("takes by HMAC no id and no time but in the library's form", () => {
    const verify = start("hmac", "verify");
    const [secret, timestamp, id] = ["a secret of more than 32 characters", "1767225600", newEventId()];
    const shown = (eventId: string, body: string, change = (signature: string) => signature) => {
      // Rightly signed, so that nothing but the form can refuse it.
      const signature = createHmac("sha256", secret)
        .update(`${timestamp}.${eventId}.${body}`)
        .digest("base64url");
      const words = [timestamp, eventId, change(signature), timestamp];
      return verify(words, Buffer.from(body), { HOOKPROOF_SECRET: secret }).printed;
    };
    expect(shown(id, '"2.500000"')).toBe("genuine");
    expect(shown(id.toUpperCase(), "{}")).toBe("genuine");
    for (const eventId of [
      // What was signed as this id with the body 2.500000, and is shown with a part of the body moved into the id.
      `${id}.2`,
      `${id}."2`,
      `${id}.`,
      `${id}\n`,
      `\n${id}`,
      ` ${id}`,
      `{${id}}`,
      id.replaceAll("-", ""),
      `${id.slice(0, 14)}1${id.slice(15)}`,
      `${id.slice(0, 19)}7${id.slice(20)}`,
      `${id}${id}`,
      id.slice(0, -1),
      `${id.slice(0, -1)}\u0660`,
      "x",
      "",
    ])
      expect(shown(eventId, "500000"), JSON.stringify(eventId)).toBe("refused");
    for (const change of [
      (text: string) => `${text}\n`,
      (text: string) => ` ${text}`,
      (text: string) => `${text}=`,
      (text: string) => text.slice(0, -1),
      // The last two bits are nobody's: another text of the same bytes.
      (text: string) => `${text.slice(0, -1)}${String.fromCharCode(text.charCodeAt(42) + 1)}`,
    ])
      expect(shown(id, "{}", change), String(change)).toBe("refused");
  });

  if (!isRun("jwt")) return;
  itWith(tool, has)("takes no token but one in the library's form", () => {
    const verify = start("jwt", "verify");
    const rsa = vectors.keys.find(({ jwk }) => jwk.alg === "RS256");
    if (!rsa) throw new Error("no RSA key");
    const publicKey = join(temporaryFolder("snippet-keys"), "public.pem");
    writeFileSync(
      publicKey,
      createPublicKey({ key: rsa.jwk, format: "jwk" }).export({ type: "spki", format: "pem" }),
    );
    const [now, id, body] = [1_767_225_600, newEventId(), Buffer.from("{}")];
    const url = "https://t.example/api/v1/webhooks/incoming/lst_1";
    const own = {
      sub: "https://t.example",
      aud: url,
      jti: id,
      htm: "POST",
      exp: now + 300,
      htb_s256: createHash("sha256").update(body).digest("base64url"),
    };
    const claims = JSON.stringify(own);
    const header = JSON.stringify({ alg: "RS256", kid: rsa.jwk.kid });
    const token = (head = header, payload = claims) => {
      const signed = [head, payload].map((text) => Buffer.from(text).toString("base64url")).join(".");
      return `${signed}.${createSign("sha256").update(signed).sign(rsa.privatePkcs8Pem, "base64url")}`;
    };
    const shown = (given: string, eventId = id) =>
      verify([url, own.sub, eventId, given, String(now)], body, { HOOKPROOF_KEY: publicKey }).printed;
    const right = token();
    const [head = "", payload = "", signature = ""] = right.split(".");
    expect(shown(right)).toBe("genuine");
    expect(shown(right, id.toUpperCase())).toBe("genuine");
    expect(shown(token(header, claims.replace("{", '{"nbf":0.5,')))).toBe("genuine");
    const hostile = {
      "a newline behind it": `${right}\n`,
      "a newline inside": `${head}.${payload}.${signature.slice(0, 8)}\n${signature.slice(8)}`,
      "a newline before it": `\n${right}`,
      "a space behind it": `${right} `,
      padding: `${right}==`,
      "base64 of another alphabet": `${head}.${payload}.${signature.slice(0, -8)}+/+/+/+/`,
      "a sign that base64 reads over": `${right}!`,
      "another text of the same bytes": `${right.slice(0, -1)}${String.fromCharCode(right.charCodeAt(right.length - 1) + 1)}`,
      "a fourth part": `${right}.`,
      "nbf NaN": token(header, claims.replace("{", '{"nbf":NaN,')),
      "nbf nan": token(header, claims.replace("{", '{"nbf":nan,')),
      "nbf Infinity": token(header, claims.replace("{", '{"nbf":Infinity,')),
      "nbf a text": token(header, claims.replace("{", '{"nbf":"0",')),
      "nbf null": token(header, claims.replace("{", '{"nbf":null,')),
      "exp NaN": token(header, claims.replace(/"exp":\d+/, '"exp":NaN')),
      "two claims sets": token(header, `{"sub":"x"} ${claims}`),
      "two claims sets, the right one first": token(header, `${claims}{"sub":"x"}`),
      "two headers": token(`{"alg":"none"}${header}`),
      "two headers, the right one first": token(`${header} {"alg":"none"}`),
      "something behind the claims": token(header, `${claims} x`),
      "a list": token(header, `[${claims}]`),
    };
    for (const [name, given] of Object.entries(hostile)) expect(shown(given), name).toBe("refused");
    for (const eventId of [`${id}\n`, `${id}.2`, "x", ""]) {
      const other = token(header, JSON.stringify({ ...own, jti: eventId }));
      expect(shown(other, eventId), JSON.stringify(eventId)).toBe("refused");
    }
  });

  itWith(tool, has)("signs tokens, and verifies those of the vectors", async () => {
    if (!isRun("jwt")) return;
    const rsa = vectors.keys.find(({ jwk }) => jwk.alg === "RS256");
    if (!rsa) throw new Error("no RSA key");
    const keys = temporaryFolder("snippet-keys");
    const [secretKey, publicKey] = [join(keys, "private.pem"), join(keys, "public.pem")];
    writeFileSync(secretKey, rsa.privatePkcs8Pem);
    writeFileSync(
      publicKey,
      createPublicKey({ key: rsa.jwk, format: "jwk" }).export({ type: "spki", format: "pem" }),
    );
    const [sign, verify] = [start("jwt", "sign"), start("jwt", "verify")];
    // Which key a kid means is the caller's affair: the program is given the key.
    const cases = vectors.jwt.filter(({ alg, failsOn }) => alg === "RS256" && failsOn !== "kid");
    expect(cases.length).toBeGreaterThan(12);
    for (const { name, url, baseUrl, eventId, token, now, bodyBase64, valid } of cases)
      expect(
        verify([url, baseUrl, eventId, token, String(now)], bytesOf(bodyBase64), {
          HOOKPROOF_KEY: publicKey,
        }),
        name,
      ).toMatchObject({ printed: valid ? "genuine" : "refused", code: valid ? 0 : 1 });

    const [one] = cases;
    if (!one) throw new Error("no vector");
    const body = bytesOf(one.bodyBase64);
    const words = [rsa.jwk.kid, one.url, one.baseUrl, one.eventId];
    const { printed: token, said } = sign(words, body, { HOOKPROOF_KEY: secretKey });
    const { protectedHeader } = await compactVerify(token, await importJWK(rsa.jwk, "RS256")).catch(() => {
      throw new Error(`no token: ${token} ${said}`);
    });
    expect(protectedHeader).toMatchObject({ alg: "RS256", kid: rsa.jwk.kid });
    const { exp = 0, ...claims } = decodeJwt(token);
    expect(Math.abs(exp - Date.now() / 1000 - 300)).toBeLessThan(60);
    expect(claims).toEqual({
      sub: one.baseUrl,
      aud: one.url,
      jti: one.eventId,
      htm: "POST",
      htb_s256: createHash("sha256").update(body).digest("base64url"),
    });
    // An algorithm of the token's own choice, with the public key as a secret or with none.
    const [, payload = ""] = one.token.split(".");
    const deep = `{"alg":"RS256","x":${"[".repeat(5_000)}${"]".repeat(5_000)}}`;
    const headers = ["none", "HS256"].map((alg) => JSON.stringify({ alg, kid: rsa.jwk.kid }));
    for (const text of [...headers, deep]) {
      const header = Buffer.from(text).toString("base64url");
      const forged = [one.url, one.baseUrl, one.eventId, `${header}.${payload}.AAAA`, String(one.now)];
      expect(verify(forged, body, { HOOKPROOF_KEY: publicKey }).printed, text.slice(0, 60)).toBe("refused");
    }
  });
});
