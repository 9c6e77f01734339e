import { createEvent, HookproofError, isEventId } from "hookproof";
import { describe, expect, it } from "vitest";
import { parseCidr, parseIp } from "../../src/core/address.js";
import { decodeBase64url, encodeBase64url } from "../../src/core/bytes.js";
import { duplicateMember } from "../../src/core/json.js";
import { isTimestamp, timestampText } from "../../src/core/protocol.js";
import { bearerToken, readToken } from "../../src/jwt/token.js";
import { parseBaseUrl, parseListenerUrl } from "../../src/schemes/access-governance/listener-url.js";
import fc from "../kit/fast-check.js";
import { runs } from "../kit/property-runs.js";

/** Any text, and texts that come close to a valid one. */
function nearly(...valid: string[]): fc.Arbitrary<string> {
  const edited = fc
    .tuple(
      fc.constantFrom(...valid),
      fc.nat(),
      fc.string({ maxLength: 3, unit: "binary" }),
      fc.nat({ max: 2 }),
    )
    .map(([text, at, piece, cut]) => {
      const start = at % (text.length + 1);
      return text.slice(0, start) + piece + text.slice(start + cut);
    });
  return fc.oneof(fc.string({ unit: "binary" }), edited, fc.constantFrom(...valid));
}

/** Runs a parser; `undefined` when it refuses with the code it documents, and whatever else it throws, thrown. */
function parsed<Value>(parse: () => Value, ...codes: string[]): Value | undefined {
  try {
    return parse();
  } catch (error) {
    if (error instanceof HookproofError && codes.includes(error.code)) return undefined;
    throw error;
  }
}

describe("one value, one spelling", () => {
  it("timestamps", () => {
    fc.assert(
      fc.property(nearly("1767225600", "0", "999999999999999"), (text) => {
        const read = parsed(() => timestampText(text), "TIMESTAMP_INVALID");
        expect(read !== undefined).toBe(isTimestamp(text));
        if (read !== undefined) expect(String(Number(read))).toBe(text);
      }),
      runs,
    );
  });

  it("event ids, but for case", () => {
    fc.assert(
      fc.property(nearly("0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10"), (text) => {
        const event = parsed(() => createEvent(1, { eventId: text }), "EVENT_ID_INVALID");
        expect(event !== undefined).toBe(isEventId(text));
        if (event)
          expect(text.toLowerCase()).toMatch(
            /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
          );
      }),
      runs,
    );
  });

  it("base64url: whatever decodes, encodes to itself; and Node agrees on the bytes", () => {
    fc.assert(
      fc.property(nearly("hEuwC_Ckgwc7avU0xzAh6BEbIHQ49cz_g5zDepzyiTE", "Zg", "Zm8"), (text) => {
        const bytes = decodeBase64url(text);
        if (bytes === undefined) return;
        expect(encodeBase64url(bytes)).toBe(text);
        expect(Buffer.from(bytes).toString("base64url")).toBe(text);
      }),
      runs,
    );
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
        expect(encodeBase64url(bytes)).toBe(Buffer.from(bytes).toString("base64url"));
        expect(decodeBase64url(encodeBase64url(bytes))).toEqual(bytes);
      }),
      runs,
    );
  });

  it("IPv4 addresses and ranges", () => {
    fc.assert(
      fc.property(nearly("10.1.2.3", "0.0.0.0", "255.255.255.255"), (text) => {
        const address = parseIp(text);
        if (address?.length === 4 && !text.includes(":")) expect(address.join(".")).toBe(text);
      }),
      runs,
    );
    fc.assert(
      fc.property(nearly("10.0.0.0/8", "0.0.0.0/0", "203.0.113.7/32"), (text) => {
        const cidr = parsed(() => parseCidr(text), "CIDR_INVALID");
        if (cidr?.network.length === 4 && !text.includes(":"))
          expect(`${cidr.network.join(".")}/${cidr.prefix}`).toBe(text);
      }),
      runs,
    );
  });

  it("IPv6 addresses and ranges: what is accepted is what a URL takes for the same host", () => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV6(), nearly("2001:db8::1", "::ffff:192.0.2.1", "::")), (text) => {
        const address = parseIp(text);
        if (address === undefined || !text.includes(":")) return;
        const host = new URL(`http://[${text}]/`).hostname.slice(1, -1);
        expect(parseIp(host)).toEqual(address);
      }),
      runs,
    );
    fc.assert(
      fc.property(nearly("2001:db8::/32", "::/0", "::1/128", "::ffff:10.0.0.0/104"), (text) => {
        const cidr = parsed(() => parseCidr(text), "CIDR_INVALID");
        if (cidr) expect(cidr.prefix).toBeLessThanOrEqual(cidr.network.length * 8);
      }),
      runs,
    );
  });

  it("listeners' URLs come back as they are read", () => {
    const path = "/api/v1/webhooks/incoming/lst_1";
    const near = nearly(
      `https://tenant.example.com${path}`,
      `http://127.0.0.1:4400${path}`,
      `http://[::1]${path}`,
    );
    fc.assert(
      fc.property(near, (text) => {
        const listener = parsed(() => parseListenerUrl(text), "LISTENER_URL_INVALID", "TLS_REQUIRED");
        if (listener === undefined) return;
        expect(parseListenerUrl(listener.href)).toEqual(listener);
        expect(parseBaseUrl(listener.baseUrl)).toBe(listener.baseUrl);
        expect(listener.href).toMatch(/^(?:https:\/\/|http:\/\/(?:localhost|127\.|\[::))/);
      }),
      runs,
    );
  });

  it("tokens: nothing throws, and another spelling of a segment is refused", () => {
    const header = Buffer.from('{"alg":"ES256","kid":"k"}').toString("base64url");
    const good = `${header}.${Buffer.from('{"exp":1}').toString("base64url")}.${"A".repeat(86)}`;
    const tokens = nearly(good, `Bearer ${good}`, "a.b.c");
    fc.assert(
      fc.property(tokens, fc.boolean(), (text, allowEd25519) => {
        bearerToken(text);
        if (!readToken(text, { allowEd25519 }).ok) return;
        for (const segment of text.split("."))
          expect(Buffer.from(segment, "base64url").toString("base64url")).toBe(segment);
      }),
      runs,
    );
  });

  it("payloads: texts and bytes are kept or refused by name", () => {
    const codes = ["PAYLOAD_NOT_JSON", "PAYLOAD_NOT_UTF8", "PAYLOAD_TOO_LARGE"];
    fc.assert(
      fc.property(fc.oneof(nearly('{"a":[1,"b"]}', "null"), fc.uint8Array()), (payload) => {
        const event = parsed(() => createEvent(payload), ...codes);
        if (event) expect(Buffer.from(event.body)).toEqual(Buffer.from(payload as string));
      }),
      runs,
    );
    fc.assert(
      fc.property(fc.anything({ withBigInt: true, withSparseArray: true }), (payload) => {
        const event = parsed(() => createEvent(payload), ...codes);
        if (event && typeof payload !== "string" && !(payload instanceof Uint8Array))
          expect(Buffer.from(event.body).toString()).toBe(JSON.stringify(payload));
      }),
      runs,
    );
  });
});

describe("duplicateMember", () => {
  /** JSON text whose objects may name a member twice, written in one of several ways, and whether one does. */
  interface Written {
    text: string;
    twice: boolean;
  }

  const name = fc.constantFrom("a", "b", "", '"', "\\", "é", "__proto__", "{", "a,b");
  const spelled = (text: string) =>
    fc.boolean().map((escaped) => {
      const quoted = JSON.stringify(text);
      return escaped && text === "a" ? '"\\u0061"' : quoted;
    });
  const member = name.chain((text) => spelled(text).map((quoted) => ({ text, quoted })));

  const { written } = fc.letrec<{ written: Written }>((tie) => ({
    written: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      fc
        .oneof(name, fc.integer(), fc.constant(null))
        .map((value) => ({ text: JSON.stringify(value), twice: false })),
      fc.array(tie("written"), { maxLength: 3 }).map((items) => ({
        text: `[${items.map(({ text }) => text).join(" ,")}]`,
        twice: items.some(({ twice }) => twice),
      })),
      fc.array(fc.tuple(member, tie("written")), { maxLength: 4 }).map((members) => ({
        text: `{ ${members.map(([{ quoted }, { text }]) => `${quoted} :${text}`).join(",\n")}}`,
        twice:
          members.some(([, { twice }]) => twice) ||
          new Set(members.map(([{ text }]) => text)).size < members.length,
      })),
    ),
  }));

  it("agrees with how the text was made", () => {
    let doubles = 0;
    fc.assert(
      fc.property(written, ({ text, twice }) => {
        JSON.parse(text);
        if (twice) doubles += 1;
        expect(duplicateMember(text) !== undefined).toBe(twice);
      }),
      { numRuns: runs.numRuns * 5 },
    );
    expect(doubles).toBeGreaterThan(0);
  });
});
