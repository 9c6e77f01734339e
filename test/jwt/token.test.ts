import { describe, expect, it } from "vitest";
import { bearerToken, parseMembers, readToken } from "../../src/jwt/token.js";

const encode = (value: unknown) =>
  Buffer.from(typeof value === "string" ? value : JSON.stringify(value)).toString("base64url");
const tokenWith = (header: unknown) => `${encode(header)}.${encode({})}.${"A".repeat(86)}`;
const good = { alg: "ES256", kid: "k" };
const codeOf = (token: string, allowEd25519 = false) => {
  const read = readToken(token, { allowEd25519 });
  return read.ok ? read.header : read.code;
};

describe("the Authorization value", () => {
  it.each(["Bearer a.b.c", "Bearer  a.b.c", "Bearer     a.b.c", "bearer a.b.c", "BEARER a.b.c"])(
    "%s",
    (value) => {
      expect(bearerToken(value)).toBe("a.b.c");
    },
  );

  it.each([
    "",
    "Bearer",
    "Bearer ",
    "Bearer \ta.b.c",
    "Bearera.b.c",
    "Bearer a.b.c ",
    "Bearer a b",
    "Bearer a.b.c, Bearer a.b.c",
    "Basic a.b.c",
    " Bearer a",
    "Bearer\ta",
    "Bearer a\n",
    "Beareré a",
  ])("not %j", (value) => {
    expect(bearerToken(value)).toBeUndefined();
  });
});

describe("a token's header", () => {
  it("is read: alg and kid, whatever else is harmless", () => {
    expect(codeOf(tokenWith({ ...good, typ: "JWT", x: 1 }))).toEqual(good);
    expect(codeOf(tokenWith({ ...good, kid: "k".repeat(256) }))).toMatchObject({ alg: "ES256" });
    expect(codeOf(tokenWith({ ...good, alg: "Ed25519" }), true)).toEqual({ alg: "Ed25519", kid: "k" });
    const token = tokenWith({ ...good, kid: "kk" });
    const longest = token + "A".repeat(8192 - token.length);
    expect(codeOf(longest)).toEqual({ alg: "ES256", kid: "kk" });
  });

  it.each<[what: string, token: string]>([
    ["empty", ""],
    ["two segments", `${encode(good)}.${encode({})}`],
    ["four segments", `${tokenWith(good)}.`],
    ["five segments", "a.b.c.d.e"],
    ["padding", tokenWith(good).replace(".", "=.")],
    ["bits after the last byte", `${tokenWith(good).slice(0, -1)}B`],
    ["white space", tokenWith(good).replace(".", " .")],
    ["8,193 characters", `${tokenWith(good)}${"A".repeat(8193)}`.slice(0, 8193)],
    ["not JSON", tokenWith("{alg:1}")],
    ["an array", tokenWith([])],
    ["null", tokenWith("null")],
    ["a member twice", tokenWith('{"alg":"ES256","kid":"a","kid":"b"}')],
    ["a member twice, once escaped", tokenWith('{"alg":"ES256","kid":"a","\\u006bid":"b"}')],
    ["a member twice further in", tokenWith('{"alg":"ES256","kid":"a","x":{"y":1,"y":2}}')],
    ["not UTF-8", `${Buffer.from([0x7b, 0xff, 0x7d]).toString("base64url")}.e30.AA`],
    ["a byte order mark", tokenWith('\uFEFF{"alg":"ES256","kid":"k"}')],
  ])("is malformed: %s", (_, token) => {
    expect(codeOf(token)).toBe("TOKEN_MALFORMED");
  });

  it.each(["crit", "b64", "jwk", "jku", "x5u", "x5c"])("is refused with %s, even empty", (name) => {
    for (const value of [[], null, false, "https://attacker.example.com"])
      expect(codeOf(tokenWith({ ...good, [name]: value }))).toBe("TOKEN_HEADER_REFUSED");
  });

  it.each(["none", "HS256", "PS256", "ES384", "es256", "Ed25519", "", null, undefined, ["ES256"], 256])(
    "is refused with alg %j",
    (alg) => {
      expect(codeOf(tokenWith({ ...good, alg }))).toBe("TOKEN_ALGORITHM_REFUSED");
      if (alg !== "Ed25519")
        expect(codeOf(tokenWith({ ...good, alg }), true)).toBe("TOKEN_ALGORITHM_REFUSED");
    },
  );

  it.each([undefined, null, "", 7, ["k"], "k".repeat(257), "k".repeat(5000)])(
    "is refused with kid %j",
    (kid) => {
      expect(codeOf(tokenWith({ ...good, kid }))).toBe("TOKEN_KEY_ID_INVALID");
    },
  );

  it("says which kid it refused", () => {
    const seen = (header: object) => readToken(tokenWith(header), { allowEd25519: false });
    expect(seen({ alg: "ES256" })).toMatchObject({ seen: "no kid" });
    expect(seen({ ...good, kid: 7 })).toMatchObject({ seen: "kid 7" });
  });

  it("takes no members from a prototype", () => {
    expect(codeOf(tokenWith('{"__proto__":{"alg":"ES256","kid":"k"}}'))).toBe("TOKEN_ALGORITHM_REFUSED");
  });
});

describe("parseMembers", () => {
  it("says in words what a text has that it must not", () => {
    const words = (text: string) => parseMembers(new TextEncoder().encode(text));
    expect(words('{"a":1}')).toEqual({ a: 1 });
    for (const text of ["[1]", "7", '"a"', "true", "null"])
      expect(words(text)).toBe("a value that is not an object");
    expect(words("{")).toBe("text that is not JSON");
    expect(words('{"a":1,"a":1}')).toBe('the member "a" twice');
    expect(parseMembers(new Uint8Array([0xff]))).toBe("bytes that are not UTF-8");
  });
});
