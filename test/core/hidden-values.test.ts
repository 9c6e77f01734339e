import { withoutValues } from "hookproof/node";
import { describe, expect, it } from "vitest";

const KEY = "sk/live+AbC/DEF0123456789xyz==";
const QUOTED = 'ab"cd\\efSECRETVALUE';
const inHtml = (text: string) =>
  text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("+", "&#43;").replaceAll("/", "&#x2F;");
const inUnits = (text: string) =>
  [...text].map((one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`).join("");

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
