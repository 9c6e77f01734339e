// A request as a file for `node --test`.
import type { ListenerInfo, RequestDetail } from "../../src/inspector/contract.js";
import { fromBase64 } from "../text/bytes.js";
import { hasHidden } from "../text/visible.js";
import { pasteable } from "./as-curl.js";
import { verdictStatus } from "./expected-status.js";

/** What depends on the listener's memory or its automation, and not on the request. */
const NOT_OF_THE_REQUEST = new Set(["trigger", "run"]);

/**
 * A file for `node --test` that asks the library's receiver for the same verdict, at the time of the recording.
 * Undefined where no listener, or its automation, decided.
 */
export function asTest(detail: RequestDetail, listener: ListenerInfo | undefined): string | undefined {
  const failed = detail.steps.find(({ state }) => state === "failed");
  const status = verdictStatus(detail);
  if (!listener || listener.scheme || (failed && NOT_OF_THE_REQUEST.has(failed.step)) || status >= 500)
    return undefined;
  const jwt = listener.auth === "jwt";
  const text = pasteable(fromBase64(detail.bodyBase64));
  const body = text === undefined ? `Buffer.from("${detail.bodyBase64}", "base64")` : js(text);
  const code = failed?.code;
  return `// ${jwt ? "The key set that the token was checked with belongs next to this file, as jwks.json: node --test" : "HOOKPROOF_SECRET=… node --test"} this-file.mjs
import assert from "node:assert/strict";
${jwt ? 'import { readFileSync } from "node:fs";\n' : ""}import { test } from "node:test";
${jwt ? 'import { localKeys } from "hookproof/jwks";\n' : ""}import { createReceiver } from "hookproof/receiver";

const request = {
  method: ${js(detail.method)},
  url: ${js(detail.url)},
  headers: [
${detail.headers.map(([name, value]) => `    [${js(name)}, ${js(value)}],`).join("\n")}
  ],
  body: ${body},
  sourceAddress: ${js(detail.sourceAddress ?? "127.0.0.1")},
};

test(${js(`the recorded request gets ${status}${code ? ` ${code}` : ""}`)}, async () => {
  const receiver = createReceiver({
    listener: {
      id: ${js(listener.id)},
      baseUrl: ${js(listener.url.slice(0, -`/api/v1/webhooks/incoming/${listener.id}`.length))},
      auth: ${jwt ? '{ method: "jwt", keys: localKeys(JSON.parse(readFileSync("jwks.json", "utf8"))) }' : '{ method: "hmac", secret: process.env.HOOKPROOF_SECRET }'},
      allowedCidrs: ${js(listener.allowedCidrs)},
    },
    clock: { now: () => ${detail.at} },
  });
${status === 409 ? "  await receiver.receive(request, async () => {});\n" : ""}  const { status, verdict } = await receiver.receive(request, async () => {});
  assert.equal(status, ${status});
  assert.equal(verdict.ok ? undefined : verdict.code, ${code === undefined ? "undefined" : js(code)});
});
`;
}

/** A value as JavaScript source, in which nothing hides: where something would, all that is no ASCII is escaped. */
function js(value: unknown): string {
  const text = JSON.stringify(value);
  if (!hasHidden(text)) return text;
  return text.replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
