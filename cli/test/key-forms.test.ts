// Keys and texts at the command line's doors: each form is read as openssl means it, or named.
import { spawnSync } from "node:child_process";
import { createHmac, createPublicKey } from "node:crypto";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { importSPKI, jwtVerify } from "jose";
import { expect, it } from "vitest";
import { itWith } from "../../test/kit/needs.js";
import { opensslKey, PEM_FORMS } from "../../test/kit/outside-keys.js";
import { hasTool } from "../../test/kit/outside-tool.js";
import { temporaryFolder } from "../../test/kit/temporary-folder.js";
import { run } from "../src/main.js";

const OPENSSL = ["openssl 3", hasTool("openssl", "pkey", "-help")] as const;
const URL_OF_NOBODY = "https://tenant.example.com/api/v1/webhooks/incoming/lst_1";

interface Answer {
  readonly exit: number;
  readonly text: string;
  readonly json: Record<string, unknown>;
}

/** A command in a home of its own, with a file `input` that only its owner can read. */
async function answer(
  input: string | Uint8Array,
  argv: readonly string[],
  stdin: string | Uint8Array = "",
): Promise<Answer> {
  const folder = temporaryFolder("cli-forms");
  const file = join(folder, "input");
  writeFileSync(file, input);
  chmodSync(file, 0o600);
  writeFileSync(join(folder, "secret"), "a-secret-of-more-than-thirty-two-characters", { mode: 0o600 });
  const written: Buffer[] = [];
  const sink = () =>
    new Writable({
      write(chunk, _encoding, done) {
        written.push(Buffer.from(chunk));
        done();
      },
    });
  writeFileSync(join(folder, "token"), "eyJ0eXAiOiJzZWNldmVudCtqd3QifQ.e30.AAAA");
  const files = { INPUT: file, SECRET: join(folder, "secret"), TOKEN: join(folder, "token") };
  const words = argv.map((word) =>
    word.replace(/INPUT|SECRET|TOKEN/, (name) => files[name as keyof typeof files]),
  );
  const exit = await run([...words, "--json"], {
    stdin: Readable.from([Buffer.from(stdin)]),
    stdout: sink(),
    stderr: sink(),
    env: { HOOKPROOF_HOME: join(folder, "home"), NO_COLOR: "1" },
    stopSignal: new AbortController().signal,
  });
  const text = Buffer.concat(written).toString("utf8");
  const [first = "{}"] = text.split("\n").filter((line) => line.startsWith("{"));
  return { exit, text, json: JSON.parse(first) };
}

const SIGN = ["sign", URL_OF_NOBODY, "--key", "INPUT", "--kid", "billing-1", "--data", "{}"];

for (const alg of ["RS256", "ES256", "EdDSA"] as const)
  itWith(...OPENSSL)(
    `--key <file> --kid <id> signs with a PEM of ${alg} in every form, and keys import reads it`,
    async () => {
      const { pkcs8, publicPem } = opensslKey(alg);
      const key = await importSPKI(publicPem, alg);
      for (const [form, write] of Object.entries(PEM_FORMS)) {
        const signed = await answer(write(pkcs8), SIGN);
        expect(signed.exit, `${form}: ${signed.text}`).toBe(0);
        const { Authorization } = signed.json.headers as { Authorization: string };
        const { protectedHeader } = await jwtVerify(Authorization.replace("Bearer ", ""), key);
        expect(protectedHeader).toMatchObject({ alg, kid: "billing-1" });
        const imported = await answer(write(pkcs8), ["keys", "import", "INPUT", "--kid", "billing-1"]);
        expect(imported.json, form).toMatchObject({ ok: true, kid: "billing-1", alg });
      }
    },
  );

itWith(...OPENSSL)("--key <file> says what a PEM lacks: a kid, or its passphrase", async () => {
  const { pkcs8, encrypted } = opensslKey("ES256");
  const nameless = await answer(pkcs8, ["sign", URL_OF_NOBODY, "--key", "INPUT", "--data", "{}"]);
  expect(nameless.exit).toBe(3);
  expect(nameless.text).toMatch(/KEY_UNFIT.*has no id.*--kid <id>/s);
  const sealed = await answer(encrypted[0] ?? "", SIGN);
  expect(sealed.exit).toBe(3);
  expect(sealed.text).toMatch(
    /KEY_STORE_PASSPHRASE.*openssl pkey -in .*keys import .* --key-passphrase-file/s,
  );
});

itWith(...OPENSSL)("a file of bytes is read as the key it is, or told how to open", async () => {
  for (const alg of ["RS256", "ES256", "EdDSA"] as const) {
    const der = Buffer.from(opensslKey(alg).pkcs8.split("\n").slice(1, -2).join(""), "base64");
    const imported = await answer(der, ["keys", "import", "INPUT", "--kid", "billing-1"]);
    expect(imported.json, alg).toMatchObject({ ok: true, alg });
  }
});

itWith(...OPENSSL)("what is said of a PKCS#12 file takes its key out, and the key is imported", async () => {
  const folder = temporaryFolder("pkcs12");
  const passphrase = "a passphrase of its own";
  /** Without a terminal, as openssl would ask there rather than at its standard input. */
  const run = (command: string, ...words: string[]) => {
    const options = { cwd: folder, input: `${passphrase}\n`, detached: true };
    const done = spawnSync("sh", ["-c", command, "sh", ...words], options);
    expect(done.status, `${command}: ${done.stderr}`).toBe(0);
  };
  for (const [alg, kind] of Object.entries({
    RS256: "rsa:2048",
    ES256: "ec -pkeyopt ec_paramgen_curve:P-256",
    EdDSA: "ed25519",
  })) {
    run(`openssl req -x509 -newkey ${kind} -nodes -keyout own.pem -out certificate.pem -subj /CN=billing`);
    run(
      'openssl pkcs12 -export -inkey own.pem -in certificate.pem -out key.p12 -passout "pass:$1"',
      passphrase,
    );
    const p12 = readFileSync(join(folder, "key.p12"));
    const refused = await answer(p12, ["keys", "import", "INPUT", "--kid", "billing-1"]);
    expect([refused.exit, refused.text]).toEqual([3, expect.stringContaining("KEY_UNFIT")]);
    const [, advice = ""] = /PKCS#12 file; take it out: (openssl pkcs12 .*?) \(/.exec(refused.text) ?? [];
    run(advice);
    const taken = readFileSync(join(folder, "key.pem"));
    const imported = await answer(taken, ["keys", "import", "INPUT", "--kid", "billing-1"]);
    expect([imported.exit, imported.json], imported.text).toEqual([
      0,
      expect.objectContaining({ ok: true, kid: "billing-1", alg }),
    ]);
    const shown = await answer(taken, SIGN);
    const { Authorization } = shown.json.headers as { Authorization: string };
    const key = createPublicKey(readFileSync(join(folder, "own.pem")));
    await jwtVerify(Authorization.replace("Bearer ", ""), key);
  }
});

it("--kid without a key file is refused, as it would do nothing", async () => {
  for (const more of [[], ["--key", "of-the-store"]]) {
    const refused = await answer("", ["sign", URL_OF_NOBODY, "--kid", "one", "--data", "{}", ...more]);
    expect(refused.exit).toBe(2);
    expect(refused.text).toContain("--kid names the key of a file");
  }
});

const utf16 = (text: string, littleEndian: boolean, mark = "\uFEFF") => {
  const bytes = Buffer.from(`${mark}${text}`, "utf16le");
  return littleEndian ? bytes : bytes.swap16();
};

const SECRET = "a-secret-of-more-than-thirty-two-characters";
const TEXT = "--timestamp 1767225600 --event-id 0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10".split(" ");

const PEM = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n";
const SEND = ["send", URL_OF_NOBODY, "--secret-file", "SECRET", "--data", "{}", "--retries", "0", ...TEXT];

/** Each door by which a text comes in: the plain text, and the command that reads it. */
const DOORS: readonly (readonly [door: string, plain: string, argv: readonly string[]])[] = [
  ["a secret file", SECRET, ["sign", "--secret-file", "INPUT", "--data", "{}", ...TEXT]],
  ["a data file", '{"a":1}', ["sign", "--secret-file", "SECRET", "--data", "@INPUT", ...TEXT]],
  [
    "a batch",
    '{"a":1}\n',
    [
      "send",
      "http://127.0.0.1:9/api/v1/webhooks/incoming/x",
      "--secret-file",
      "SECRET",
      "--batch",
      "--data",
      "@INPUT",
      "--retries",
      "0",
    ],
  ],
  ["a configuration", '{"target":":4400"}', ["profile", "show", "--config", "INPUT"]],
  ["a token", "e30.e30.AAAA", ["inspect", "INPUT"]],
  ["a key set", '{"keys":[]}', ["inspect", "TOKEN", "--jwks", "INPUT"]],
  [
    "a capture",
    "POST /api/v1/webhooks/incoming/x HTTP/1.1\r\nHost: a\r\n\r\n{}",
    ["verify", "INPUT", "--secret-file", "SECRET", "--at", "1767225600"],
  ],
  ["an exported event", "{}", ["replay", "INPUT", "--to-recorded-url"]],
  ["--ca", PEM, [...SEND, "--ca", "INPUT"]],
  ["--cert", PEM, [...SEND, "--cert", "INPUT"]],
  ["--key-file", PEM, [...SEND, "--cert", "SECRET", "--key-file", "INPUT"]],
  ["--header", "X-Own: 1\n", [...SEND, "--header", "@INPUT", "--dry-run"]],
  ["the value of --header", "1\n", [...SEND, "--header", "X-Own: @INPUT", "--dry-run"]],
  [
    "--headers",
    "Host: a\n",
    ["verify", "--headers", "@INPUT", "--body", "@SECRET", "--secret-file", "SECRET"],
  ],
  ["--key", PEM, ["sign", URL_OF_NOBODY, "--key", "INPUT", "--kid", "k", "--data", "{}", ...TEXT]],
  ["keys import", PEM, ["keys", "import", "INPUT", "--kid", "k"]],
  ["--expect", "{}", ["test", URL_OF_NOBODY, "--secret-file", "SECRET", "--expect", "INPUT"]],
  [
    "a token to check keys with",
    "e30.e30.AAAA",
    ["jwks", "check", "http://127.0.0.1:9/", "--token", "INPUT"],
  ],
  ["--control-token-file", "token", ["service", "clock", "--control-token-file", "INPUT"]],
];

/** A capture in UTF-16 is read: what shells of Windows print goes into a file as that. */
it.each(DOORS.filter(([name]) => name !== "a capture"))(
  "%s in UTF-16 is named in the same words, whichever way it is written",
  async (_, plain, argv) => {
    for (const bytes of [
      utf16(plain, true),
      utf16(plain, false),
      utf16(plain, true, ""),
      utf16(plain, false, ""),
    ]) {
      const { exit, text } = await answer(bytes, argv);
      expect(text).toMatch(/TEXT_ENCODING/);
      expect(text).toMatch(/is UTF-16, and not UTF-8\./);
      expect(exit).not.toBe(0);
    }
  },
);

it.each(DOORS.filter(([name]) => name !== "a capture"))(
  "%s that is no text for another reason is not called UTF-16",
  async (_, plain, argv) => {
    const utf32 = `\uFEFF${plain}`.replace(/./gsu, "$&\0");
    for (const bytes of [Buffer.from(utf32, "utf16le"), `${plain.slice(0, 1)}\0${plain.slice(1)}`]) {
      const { text } = await answer(bytes, argv);
      expect(text).not.toMatch(/is UTF-16, and not UTF-8\./);
    }
  },
);

/** What a command said, without what differs from run to run. */
const comparable = ({ exit, text }: Answer) => [
  exit,
  text
    .replaceAll(/hookproof-cli-forms-\w+/g, "folder")
    .replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "id")
    .replaceAll(/"(?:eventId|durationMs|at)":[^,}]+/g, ""),
];

it.each(DOORS)("%s with a byte order mark is what it is without one", async (_, plain, argv) => {
  const marked = comparable(await answer(`\uFEFF${plain}`, argv));
  expect(marked).toEqual(comparable(await answer(plain, argv)));
  expect(marked[1]).not.toMatch(/byte order|white space/);
});

/** A text of several lines, which ends with one. */
const inLines = (plain: string, end: string) => {
  const text = plain.startsWith("{") ? plain.replace("{", "{\n").replace(/\}$/, "\n}") : plain;
  return `${text.trimEnd()}\n`.replaceAll(/\r?\n/g, end);
};

/** The bytes of data and of a captured body are what is signed, so there a line's end stays what it is. */
it.each(DOORS.filter(([name]) => name !== "a data file" && name !== "a capture"))(
  "%s with line ends of Windows is what it is with those of Unix",
  async (_, plain, argv) => {
    const seen = comparable(await answer(inLines(plain, "\r\n"), argv));
    expect(seen).toEqual(comparable(await answer(inLines(plain, "\n"), argv)));
  },
);

it("a data file keeps its line ends, and a capture is read with either", async () => {
  const argv = ["sign", URL_OF_NOBODY, "--secret-file", "SECRET", "--data", "@INPUT", "--json", ...TEXT];
  const signatureOf = (body: string) =>
    createHmac("sha256", SECRET).update(`1767225600.${TEXT[3]}.${body}`).digest("base64url");
  for (const end of ["\r\n", "\n"]) {
    const body = inLines('{"a":1}', end);
    const { exit, text } = await answer(body, argv);
    expect([exit, text]).toEqual([0, expect.stringContaining(signatureOf(body))]);
    const head = [
      "POST /api/v1/webhooks/incoming/x HTTP/1.1",
      "Host: a",
      "Content-Type: application/json",
      "Webhook-Timestamp: 1767225600",
      `Webhook-Event-Id: ${TEXT[3]}`,
      `Webhook-Signature: ${signatureOf(body)}`,
      "",
      "",
    ];
    for (const headEnd of ["\r\n", "\n"]) {
      const verify = ["verify", "INPUT", "--secret-file", "SECRET", "--at", "1767225600"];
      const seen = await answer(head.join(headEnd) + body, verify);
      expect([JSON.stringify([end, headEnd]), seen.exit, seen.text]).toEqual([
        JSON.stringify([end, headEnd]),
        0,
        expect.any(String),
      ]);
    }
  }
});

/** In Latin-1 one byte is a letter. A PEM may have such letters around it, and a captured request too. */
it.each(DOORS.filter(([name, plain]) => plain !== PEM && !["a capture", "--headers"].includes(name)))(
  "%s in Latin-1 is refused, and never read as U+FFFD",
  async (_, plain, argv) => {
    for (const text of [`\u00e9${plain}`, plain.replace(/\n?$/, (end) => `\u00e9${end}`)]) {
      const seen = await answer(Buffer.from(text, "latin1"), argv);
      expect([seen.exit, seen.text]).toEqual([3, expect.stringMatching(/TEXT_ENCODING.* is not UTF-8\./)]);
    }
  },
);

it("a batch with a line in Latin-1 sends none of its lines, from a file and from standard input", async () => {
  const argv = ["send", URL_OF_NOBODY, "--secret-file", "SECRET", "--batch", "--retries", "0", "--data"];
  const lines = Buffer.from(`{"a":1}\n{"a":"M\u00fcller"}\n`, "latin1");
  const refused = [3, expect.stringMatching(/TEXT_ENCODING/), expect.not.stringContaining('"line"')];
  for (const [input, words, stdin] of [
    [lines, [...argv, "@INPUT"], ""],
    ["", [...argv, "-"], lines],
  ] as const) {
    const { exit, text } = await answer(input, words, stdin);
    expect([exit, text, text]).toEqual(refused);
  }
  // As Node shows bytes of a command line that it could not read.
  const { exit, text } = await answer("", [...argv, '{"a":"M\uFFFDller"}']);
  expect([exit, text, text]).toEqual(refused);
  const right = await answer(`{"a":"Müller"}\n{"a":"🤨"}`, [...argv, "@INPUT"]);
  expect(right.text.match(/"line":\d/g)).toEqual(['"line":1', '"line":2']);
});

it.each([
  "2026-02-30T00:00:00Z",
  "2026-01-01T00:00:00",
  "Jan 5",
  "2026-1-1",
  "2026-01-01T24:00:00Z",
  "1e9",
  "-5",
  " 5",
])("%j is no time: --timestamp and --at say so in the same words", async (time) => {
  const sign = await answer("", ["sign", "--secret-file", "SECRET", "--data", "{}", `--timestamp=${time}`]);
  const verify = await answer("POST /x HTTP/1.1\r\n\r\n{}", [
    "verify",
    "INPUT",
    "--secret-file",
    "SECRET",
    "--url",
    URL_OF_NOBODY,
    `--at=${time}`,
  ]);
  for (const { text } of [sign, verify])
    expect(text).toMatch(
      /must be (?:Unix seconds or a date such as 2026-01-01T00:00:00Z|a duration such as)/,
    );
});

it("a time with an offset is the same one as in UTC", async () => {
  const times = ["1767225600", "2026-01-01", "2026-01-01T00:00:00Z", "2026-01-01T01:00+01:00"];
  for (const time of times) {
    const { json } = await answer("", [
      "sign",
      "--secret-file",
      "SECRET",
      "--data",
      "{}",
      "--timestamp",
      time,
    ]);
    expect(json.timestamp).toBe(1_767_225_600);
  }
});
