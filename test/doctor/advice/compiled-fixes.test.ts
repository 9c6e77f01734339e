// The code of fixes in Java, Go, C#, Rust and C is compiled as it is printed, and what it makes is accepted.
import { execFileSync } from "node:child_process";
import { createHmac, createPublicKey, verify } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createReceiver } from "hookproof/receiver";
import { fixedClock } from "hookproof/testing";
import { describe, expect, it } from "vitest";
import { FIXES, SENT_BODY } from "../../../src/doctor/rows/language-fixes.js";
import { itWith } from "../../kit/needs.js";
import { hasTool } from "../../kit/outside-tool.js";
import { temporaryFolder } from "../../kit/temporary-folder.js";
import { allAdvice } from "./advice.js";
import { COMPILED, compiledIn } from "./compiled.js";
import { type Parts, PROGRAMS } from "./compiled-programs.js";

const NOW = 1_767_225_600;
const SECRET = "QSBrZXkgZm9yIEhvb2twcm9vZiB0ZXN0cyBvbmx5ISE";
const EVENT_ID = "0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10";
const BODY = '{"type":"user.offboarded","name":"Zoë"}';

/** The code in the fixes for senders and listeners, letter by letter, by its place in a program. */
const CODE: Readonly<Record<"java" | "go" | "csharp" | "rust", Parts>> = {
  java: {
    key: 'new SecretKeySpec(secret.getBytes(StandardCharsets.UTF_8), "HmacSHA256")',
    secret: "Files.readString(path).strip()",
    input: 'mac.update((timestamp + "." + eventId + ".").getBytes(UTF_8)); mac.doFinal(body)',
    form: "Base64.getUrlEncoder().withoutPadding().encodeToString(mac)",
    body: "getRequestBody().readAllBytes()",
    time: "Math.abs(Instant.now().getEpochSecond() - Long.parseLong(timestamp)) <= 300",
    sent: "byte[] body = mapper.writeValueAsBytes(payload)",
    sender: "BodyPublishers.ofByteArray(body)",
  },
  go: {
    key: "hmac.New(sha256.New, []byte(secret))",
    secret: "strings.TrimSpace(string(data))",
    read: "os.ReadFile(path)",
    input: 'mac.Write([]byte(timestamp + "." + eventID + ".")); mac.Write(body)',
    form: "base64.RawURLEncoding.EncodeToString(mac.Sum(nil))",
    body: "io.ReadAll(r.Body)",
    now: "time.Now().Unix()",
    number: "strconv.ParseInt(timestamp, 10, 64)",
    sent: "body, err := json.Marshal(payload)",
    sender: "bytes.NewReader(body)",
  },
  csharp: {
    key: "new HMACSHA256(Encoding.UTF8.GetBytes(secret))",
    secret: "File.ReadAllText(path).Trim()",
    input: 'hmac.ComputeHash(Encoding.UTF8.GetBytes($"{timestamp}.{eventId}.").Concat(body).ToArray())',
    form: "Convert.ToBase64String(hash).TrimEnd('=').Replace('+', '-').Replace('/', '_')",
    time: "Math.Abs(DateTimeOffset.UtcNow.ToUnixTimeSeconds() - long.Parse(timestamp)) <= 300",
    sent: "byte[] body = JsonSerializer.SerializeToUtf8Bytes(payload)",
    sender: "new ByteArrayContent(body)",
  },
  rust: {
    key: "Hmac::<Sha256>::new_from_slice(secret.as_bytes())",
    secret: "std::fs::read_to_string(path)?.trim().to_owned()",
    input: 'mac.update(format!("{timestamp}.{event_id}.").as_bytes()); mac.update(&body)',
    form: "Base64UrlUnpadded::encode(&mac.finalize().into_bytes(), &mut [0; 43]).unwrap().to_owned()",
    time: "now.abs_diff(timestamp.parse::<u64>()?) <= 300",
    sent: "let body = serde_json::to_vec(&payload)?",
    sender: ".body(body)",
  },
};

const OF_MISTAKES: Readonly<Record<string, Parts>> = {
  java: { encoder: "Base64.getUrlEncoder().withoutPadding()" },
  csharp: {
    id: 'id.ToString("D")',
    encoding: "new UTF8Encoding(false)",
    padding: "RSASignaturePadding.Pkcs1",
  },
  c: { hex: 'printf("%02x", byte)' },
};

const JACKSON = ["annotations", "core", "databind"].map((part) => `/usr/share/java/jackson-${part}.jar`);
const CRATES = "/usr/share/cargo/registry";
const CARGO = "/usr/bin/cargo";

/** What compiles a program in a folder, and the command that runs it. */
const COMPILERS = {
  java(folder: string, source: string) {
    writeFileSync(join(folder, "Fixes.java"), source);
    execFileSync("javac", ["-cp", JACKSON.join(":"), "-d", folder, join(folder, "Fixes.java")]);
    return ["java", "-cp", [folder, ...JACKSON].join(":"), "Fixes"];
  },
  go(folder: string, source: string) {
    writeFileSync(join(folder, "fixes.go"), source);
    execFileSync("go", ["build", "-o", join(folder, "fixes"), join(folder, "fixes.go")], { cwd: folder });
    return [join(folder, "fixes")];
  },
  csharp(folder: string, source: string) {
    writeFileSync(join(folder, "fixes.cs"), source);
    const program = join(folder, "fixes.exe");
    execFileSync("mcs", [`-out:${program}`, join(folder, "fixes.cs")]);
    return ["mono", program];
  },
  rust(folder: string, source: string) {
    const env = { ...process.env, PATH: "/usr/bin:/bin", CARGO_HOME: folder, CARGO_TARGET_DIR: folder };
    const from = ['crates-io.replace-with="debian"', `debian.directory="${CRATES}"`];
    const cargo = (...words: string[]) =>
      execFileSync(
        CARGO,
        [...words, "--offline", "--quiet", ...from.flatMap((one) => ["--config", `source.${one}`])],
        { cwd: folder, env },
      );
    cargo("init", "--vcs", "none", "--name", "fixes");
    writeFileSync(join(folder, "src/main.rs"), source);
    cargo("add", "hmac@0.12", "sha2@0.10", "base64ct@1");
    cargo("build");
    return [join(folder, "debug", "fixes")];
  },
  c(folder: string, source: string) {
    writeFileSync(join(folder, "fixes.c"), source);
    execFileSync("cc", ["-Wall", "-Werror", "-o", join(folder, "fixes"), join(folder, "fixes.c")]);
    return [join(folder, "fixes")];
  },
};
type Name = keyof typeof COMPILERS;

const HAS: Readonly<Record<Name, readonly [tool: string, has: boolean]>> = {
  java: [
    "java and libjackson2-databind-java",
    hasTool("javac", "--version") && JACKSON.every((jar) => existsSync(jar)),
  ],
  go: ["go", hasTool("go", "version")],
  csharp: ["mono", hasTool("mcs", "--version")],
  rust: [
    "Debian's cargo and librust-base64ct-dev",
    hasTool(CARGO, "--version") &&
      existsSync(CRATES) &&
      ["base64ct-1", "hmac-0.12", "sha2-0.10"].every((crate) =>
        readdirSync(CRATES).some((one) => one.startsWith(`${crate}.`)),
      ),
  ],
  c: ["cc", hasTool("cc", "--version")],
};

/** Compiles and runs the program of a language, and gives what it prints by name. */
function ran(name: Name, ...words: string[]): Readonly<Record<string, string>> {
  const folder = temporaryFolder(`fixes-${name}`);
  mkdirSync(folder, { recursive: true });
  const code = { ...CODE[name as keyof typeof CODE], ...OF_MISTAKES[name] };
  const [program = "", ...before] = COMPILERS[name](folder, PROGRAMS[name](code));
  const printed = execFileSync(program, [...before, ...words], { encoding: "utf8" });
  return Object.fromEntries(
    printed
      .trim()
      .split("\n")
      .map((line) => [line.slice(0, line.indexOf(" ")), line.slice(line.indexOf(" ") + 1).trim()]),
  );
}

async function isAccepted(body: Uint8Array, signature: string): Promise<boolean> {
  const auth = { method: "hmac", secret: SECRET } as const;
  const listener = { id: "lst_1", baseUrl: "https://tenant.example.com", auth };
  const headers = {
    "Content-Type": "application/json",
    "Webhook-Timestamp": String(NOW),
    "Webhook-Event-Id": EVENT_ID,
    "Webhook-Signature": signature,
  };
  const url = "/api/v1/webhooks/incoming/lst_1";
  const receiver = createReceiver({ listener, clock: fixedClock(NOW * 1000), allowDocumentedSecret: true });
  return (await receiver.verify({ method: "POST", url, headers, body })).ok;
}

describe.each(Object.entries(CODE))("the code of fixes in %s", (name, parts) => {
  const language = name as keyof typeof CODE;
  const texts = [...Object.values(FIXES).map((one) => one[language] ?? ""), SENT_BODY[language]];

  it("is all that the fixes have", () => {
    for (const code of Object.values(parts)) expect(texts.join("\n")).toContain(code);
    const codes = Object.values(parts).sort((a, b) => b.length - a.length);
    const rest = texts.map((text) => codes.reduce((left, code) => left.replaceAll(code, " "), text));
    expect(rest.filter((text) => /\w\(|[={}]/.test(text))).toEqual([]);
  });

  itWith(...HAS[language])("compiles, and a listener accepts what it makes", async () => {
    const folder = temporaryFolder("fixes-given");
    const secret = join(folder, "secret");
    writeFileSync(secret, `${SECRET}\n`);
    const made = ran(language, secret, String(NOW), EVENT_ID, BODY, join(folder, "written"));
    const body = Buffer.from(made.body ?? "", "base64");
    expect(JSON.parse(body.toString())).toEqual(JSON.parse(BODY));
    expect(await isAccepted(body, made.signature ?? "")).toBe(true);
    expect(made.received).toBe(made.body);
    expect(made.fresh).toBe("true false");
    if (language === "java")
      expect([made.encoder, made.length]).toEqual([made.signature, String(body.length)]);
    if (language !== "csharp") return;
    expect(made.id).toBe(EVENT_ID);
    expect(Buffer.from(made.written ?? "", "base64").toString()).toBe(BODY);
    const [n, e, signed = ""] = (made.rsa ?? "").split(" ");
    const key = createPublicKey({ key: { kty: "RSA", n, e } as never, format: "jwk" });
    expect(verify("sha256", Buffer.from("header.claims"), key, Buffer.from(signed, "base64url"))).toBe(true);
  });
});

describe("the code of compiled languages in fixes of mistakes", () => {
  it("is in the programs, and in fixes", async () => {
    const advice = await allAdvice();
    for (const one of COMPILED) {
      expect(advice.filter(({ fix }) => compiledIn(fix).includes(one)).length, one.code).toBeGreaterThan(0);
      const programs = [
        ...Object.values(CODE[one.language as keyof typeof CODE] ?? {}),
        ...Object.values(OF_MISTAKES[one.language] ?? {}),
      ];
      expect(programs).toContain(one.code);
    }
  });

  itWith(...HAS.c)("prints two digits for each byte in C", () => {
    const digest = createHmac("sha256", SECRET).update("with zeros").digest("hex");
    expect(ran("c", `\t\n${digest}`).hex).toBe(Buffer.from(`\t\n${digest}`).toString("hex"));
  });
});
