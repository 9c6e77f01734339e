import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { expect, it } from "vitest";
import { readVectors } from "../../test/vectors/vector-file.js";
import { decoded } from "../src/commands/inspect.js";
import { run } from "../src/main.js";

const segment = (text: string) => Buffer.from(text).toString("base64url");
const tokenOf = (header: object, claims: object) =>
  `${segment(JSON.stringify(header))}.${segment(JSON.stringify(claims))}.AAAA`;

const WEBHOOK = readVectors<{ jwt: readonly { token: string }[] }>("protocol.json").jwt[0]?.token ?? "";
const EVENTS = { "https://schemas.openid.net/secevent/caep/event-type/session-revoked": {} };
const SECURITY_EVENT = tokenOf({ alg: "ES256", kid: "k1", typ: "secevent+jwt" }, { events: EVENTS });
const OTHER = tokenOf({ alg: "ES256", kid: "k1" }, { sub: "u_1" });

/** What the command says of a text on its standard input. */
async function inspected(given: string, ...flags: string[]) {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const io = {
    stdin: Readable.from([given]),
    stdout,
    stderr,
    env: {},
    stopSignal: new AbortController().signal,
  };
  const exit = await run(["inspect", "-", "--json", ...flags], io);
  stdout.end();
  return { exit, ...JSON.parse(await text(stdout)) };
}

it("a segment is an object that can be shown", () => {
  expect(decoded(segment('{"a":1}'), "header")).toEqual({ a: 1 });
  const deep = `{"a":${"[".repeat(200_000)}${"]".repeat(200_000)}}`;
  for (const text of ["[]", "null", "{", deep])
    expect(() => decoded(segment(text), "header"), text.slice(0, 9)).toThrow(
      "The token's header must be a JSON object in base64url that can be shown.",
    );
});

it.each([
  ["a webhook's token", WEBHOOK, "webhook", 0],
  ["it behind Bearer", `Authorization: Bearer ${WEBHOOK}\n`, "webhook", 0],
  ["it in a request", `POST /x HTTP/1.1\r\nauthorization: Bearer ${WEBHOOK}\r\n\r\n{}`, "webhook", 0],
  ["a security event token, which lacks claims", SECURITY_EVENT, "security-event", 7],
  [
    "it in a request that has another token in its header",
    `POST /x HTTP/1.1\r\nAuthorization: Bearer ${OTHER}\r\n\r\n${SECURITY_EVENT}`,
    "security-event",
    7,
  ],
  ["a typ in capitals", tokenOf({ typ: "SecEvent+JWT" }, {}), "security-event", 7],
  ["a typ that is wrong", tokenOf({ typ: "JWT" }, { events: EVENTS }), "security-event", 7],
  ["a webhook's token with events of its own", tokenOf({}, { htm: "POST", events: {} }), "webhook", 0],
  ["another token", OTHER, "other", 0],
])("names the kind of a token: %s", async (_, given, kind, exit) => {
  expect(await inspected(given)).toMatchObject({ type: "inspect", kind, verified: false, exit });
});

it.each(["--jwks", "--issuer", "--audience"])("refuses %s where it would check nothing", async (flag) => {
  for (const token of [WEBHOOK, OTHER])
    expect(await inspected(token, flag, "https://idp.example.com/")).toMatchObject({
      exit: 2,
      error: { code: "USAGE", message: expect.stringContaining(`${flag} is for a security event token`) },
    });
});
