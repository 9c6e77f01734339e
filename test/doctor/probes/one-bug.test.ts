import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { findListenerMistake, type ListenerVerdict, type ProbeTarget } from "hookproof/probes";
import { afterAll, describe, expect } from "vitest";
import { itWith } from "../../kit/needs.js";
import { hasTool } from "../../kit/outside-tool.js";
import { resultsOf, SECRET } from "../../kit/probes/listeners.js";

const folder = fileURLToPath(new URL("../../kit/one-bug/", import.meta.url));

/** How a listener in each language is started; it prints its port. */
const LANGUAGES = {
  python3: ["listener.py"],
  php: ["-S", "127.0.0.1:0", "listener.php"],
  ruby: ["listener.rb"],
  node: ["listener.mjs"],
  java: ["-XX:TieredStopAtLevel=1", "Listener.java"],
} as const;
type Language = keyof typeof LANGUAGES;

const AGAIN = "it parses the body and serialises it again before it verifies.";

/** Listeners with one bug each, what the verdict names, and a word of the fix in the listener's language. */
const LISTENERS: readonly [Language, bug: string, id: string, sentence: string, fix: string][] = [
  ["python3", "decoded", "secret-base64url-decoded", "it decodes the secret.", "secret.encode()"],
  ["python3", "newline", "secret-newline", "its secret ends with a line break.", ".strip()"],
  ["python3", "dumps", "body-spaced", AGAIN, "request.get_data()"],
  [
    "python3",
    "lower",
    "event-id-signed-in-other-case",
    "it changes the case of the event id",
    "f'{timestamp}",
  ],
  ["python3", "hex", "signature-hex", "it compares hex with base64url.", "urlsafe_b64encode"],
  ["python3", "base64", "signature-base64", "it compares standard base64", "urlsafe_b64encode"],
  ["php", "newline", "secret-newline", "its secret ends with a line break.", "trim("],
  ["php", "trim", "body-newline-removed", "it trims the body before it verifies.", "php://input"],
  ["php", "json_encode", "body-slashes-escaped", AGAIN, "php://input"],
  ["php", "body-only", "input-body-only", "it verifies the body alone.", '"$timestamp.$eventId.$body"'],
  ["php", "prefix", "signature-prefixed", "it expects a prefix, and it compares hex", "strtr("],
  ["ruby", "order", "input-id-first", "it puts the event id before the timestamp.", "#{timestamp}"],
  [
    "ruby",
    "separator",
    "input-other-separator",
    "it joins the parts with another separator.",
    "#{timestamp}",
  ],
  ["ruby", "upper", "event-id-signed-in-other-case", "it changes the case of the event id", "#{timestamp}"],
  [
    "ruby",
    "header",
    "header-misnamed",
    "it reads X-Webhook-Signature where Webhook-Signature belongs.",
    "Webhook-",
  ],
  ["node", "no-window", "timestamp-too-old", "it does not compare the timestamp with its clock.", "300"],
  [
    "node",
    "milliseconds",
    "timestamp-milliseconds",
    "it takes Webhook-Timestamp for milliseconds",
    "Date.now() / 1000",
  ],
  ["node", "stringify", "body-compact", AGAIN, "express.raw"],
  ["node", "object", "body-as-object", "it verifies the parsed body as text.", "express.raw"],
  ["node", "no-separator", "input-no-separator", "it joins the parts without a separator.", "createHmac"],
  ["node", "sha512", "signature-other-hash", "it uses another hash than SHA-256.", "'sha256'"],
  ["java", "quotes", "secret-quoted", "its secret has quotes around it.", ".strip()"],
  ["java", "padding", "signature-padded", "it compares base64url with padding.", "withoutPadding()"],
  ["java", "decoded", "secret-base64url-decoded", "it decodes the secret.", "new SecretKeySpec"],
];

const children: ChildProcess[] = [];
afterAll(() => {
  for (const child of children) child.kill("SIGKILL");
});

describe("a listener with one bug", () => {
  for (const [language, bug, id, sentence, fix] of LISTENERS)
    itWith(language, hasTool(language, language === "java" ? "-version" : "--version"))(
      `in ${language}: ${bug}`,
      async () => {
        const target = await start(language, bug);
        const harmless = await verdictOn(target, false);
        const complete = await verdictOn(target, true);
        for (const verdict of [harmless, complete]) {
          expect(verdict).toMatchObject({ id });
          expect(verdict?.sentence).toContain(sentence);
          expect(verdict?.fix).toContain(fix);
        }
      },
    );

  for (const language of Object.keys(LANGUAGES) as Language[])
    itWith(language, hasTool(language, language === "java" ? "-version" : "--version"))(
      `in ${language}: none`,
      async () => {
        const target = await start(language, "none");
        const { id = "", requests = 0 } = (await verdictOn(target, false)) ?? {};
        expect({ id, requests }).toEqual({ id, requests: 0 });
      },
    );
});

async function verdictOn(target: ProbeTarget, allowTrigger: boolean): Promise<ListenerVerdict | undefined> {
  const options = { allowTrigger, skip: ["body-1-mb", "*-deeply-nested"] };
  return findListenerMistake(target, await resultsOf(target, options), { allowTrigger });
}

async function start(language: Language, bug: string): Promise<ProbeTarget> {
  const child = spawn(language, LANGUAGES[language], {
    cwd: folder,
    env: { ...process.env, BUG: bug, SECRET },
    stdio: ["ignore", "pipe", "pipe"],
  });
  children.push(child);
  const port = await new Promise<string>((resolve, reject) => {
    child.once("exit", (code) => reject(new Error(`${language} ended with ${code}`)));
    for (const input of [child.stdout, child.stderr])
      createInterface({ input }).on("line", (line) => {
        const found = /^(\d+)$/.exec(line) ?? /127\.0\.0\.1:(\d+)\) started/.exec(line);
        if (found) resolve(found[1] ?? "");
      });
  });
  return {
    url: `http://127.0.0.1:${port}/api/v1/webhooks/incoming/lst_1`,
    auth: { method: "hmac", secret: SECRET },
  };
}
