import { withoutValues } from "hookproof/node";
import { describe, expect, it } from "vitest";

const KEY = "sk/live+AbC/DEF0123456789xyz==";
const QUOTED = 'ab"cd\\efSECRETVALUE';
const inHtml = (text: string) =>
  text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("+", "&#43;").replaceAll("/", "&#x2F;");
const inUnits = (text: string) =>
  [...text].map((one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`).join("");

const base64 = (text: string) => Buffer.from(text).toString("base64");
/** As MIME and Ruby write it: in lines. */
const inLines = (text: string) => base64(text).replace(/.{60}/g, "$&\n");

/** What holds a credential in another coding, where nothing of it reads like one. */
const CODED: readonly (readonly [how: string, code: (text: string) => string])[] = [
  ["base64", base64],
  ["base64url", (text) => Buffer.from(text).toString("base64url")],
  ["base64 in JSON, as PHP writes it", (text) => base64(text).replaceAll("/", "\\/")],
  ["base64 in a URL", (text) => encodeURIComponent(base64(text))],
  ["base64 in lines", inLines],
  ["base64 in lines, in JSON", (text) => JSON.stringify(inLines(text)).slice(1, -1)],
  ["hex", (text) => Buffer.from(text).toString("hex")],
  ["hex in capitals", (text) => Buffer.from(text).toString("hex").toUpperCase()],
  ["a URL in a URL", (text) => encodeURIComponent(encodeURIComponent(text))],
];

describe("a text that repeats a credential in another coding", () => {
  const long = `${KEY}${KEY.toLowerCase()}${KEY}${KEY}`;
  it.each(CODED)("hides it in %s, by itself and within all headers, wherever it begins", (_how, code) => {
    for (const value of [KEY, long])
      for (const given of [value, `Bearer ${value}`])
        for (const before of ["", "x", "xy", "xyz", '{"authorization":"Bearer ']) {
          const behind = before === "" ? "" : '"}';
          const shown = withoutValues(`got ${code(`${before}${value}${behind}`)}.`, [given]);
          const kept = `got .${code(before)}${code(behind)}`;
          expect(shown).toContain("[…]");
          // At both ends a character may stay that holds some bits of it, and lines end between.
          expect(shown.replace("[…]", "").length).toBeLessThan(kept.length + 8);
        }
  });

  it("hides the password of Basic, as a server has decoded it", () => {
    const value = `Basic ${base64("user:long-password")}`;
    expect(withoutValues("no user:long-password here", [value])).toBe("no […] here");
    expect(withoutValues("wrong password long-password", [value])).toBe("wrong password […]");
  });

  it("hides a form's, where a space is a plus", () => {
    expect(withoutValues("key=pass+phrase+of+mine", ["pass phrase of mine"])).toBe("key=[…]");
  });

  it("keeps what is another text's base64 or hex", () => {
    const text = `${base64("something else that is here")} ${Buffer.from("something else").toString("hex")}`;
    expect(withoutValues(text, [KEY, `Bearer ${KEY}`])).toBe(text);
  });
});

describe("a text that repeats a credential", () => {
  it.each<[how: string, value: string, text: string]>([
    ["as it is", KEY, KEY],
    ["in JSON, as PHP writes it", KEY, JSON.stringify(KEY).replaceAll("/", "\\/")],
    ["in JSON", QUOTED, JSON.stringify(QUOTED)],
    ["in JSON in JSON", QUOTED, JSON.stringify(JSON.stringify({ key: QUOTED }))],
    ["in units of UTF-16", KEY, inUnits(KEY)],
    ["in HTML", KEY, inHtml(KEY)],
    ["in HTML, with quotes", QUOTED, inHtml(QUOTED)],
    ["in a URL", KEY, `https://a.example/?key=${encodeURIComponent(KEY)}&a=1`],
    ["without its end", KEY, KEY.slice(0, -2)],
    ["without the word before it", `Bearer ${KEY}`, `unknown ${KEY}`],
    ["one cookie of two", `lang=en; session=${KEY}`, `unknown session ${KEY}`],
    ["a value that is an escape itself", "%41%42secret", "got %41%42secret"],
    ["a value that looks like a pattern", "$&(.*)+[a-z]", "got $&(.*)+[a-z]."],
  ])("shows nothing of it: %s", (_how, value, text) => {
    const shown = withoutValues(`a ${text} b ${text}`, [value]);
    expect(shown).toMatch(/^a .*\[…\].* b .*\[…\]/);
    expect(shown).not.toMatch(/AbC|SECRET|secret$|SECRETVALUE|0123456789|a-z/);
  });

  it.each<[how: string, value: string, text: string]>([
    [
      "of lower-case letters, behind its scheme",
      "Bearer abcdefghijklmnopqrstuvwx",
      "abcdefghijklmnopqrstuvwx",
    ],
    ["that is a word, behind its scheme", "Bearer swordfish", "swordfish"],
    ["of lower-case letters, in a cookie", "lang=en; session=abcdefghijklmnop", "abcdefghijklmnop"],
  ])("hides a credential %s", (_how, value, text) => {
    expect(withoutValues(`got ${text}.`, [value])).toBe("got […].");
  });

  it("keeps what is none, character by character", () => {
    const text = '{"a":"\\/ \\\\ \\u00e9 &amp; &#43; %2B é"}';
    expect(withoutValues(text, ["not-in-it", "true"])).toBe(text);
    expect(withoutValues("session true lang", ["session=abcdef123; lang=true"])).toBe("session true lang");
    expect(withoutValues(`${text}${KEY}${text}`, [KEY])).toBe(`${text}[…]${text}`);
  });
});
