// What is said of each change on a request's way: the places in JSON, the names of headers, and how they changed.
import { compare } from "hookproof/diagnose";
import { describe, expect, it } from "vitest";

type Lines = readonly (readonly [name: string, value: string])[];

/** Every change as its id and what is said behind the row's own words. */
async function changesOf(
  sent: { headers?: Lines; body?: string },
  received: { headers?: Lines; body?: string },
) {
  const found = await compare({
    sent: { headers: [], ...sent },
    received: { headers: [], ...received },
  });
  return found.changes.map(({ id, message }) => ({ id, message }));
}

describe("places in JSON", () => {
  const placesIn = async (sent: unknown, received: unknown) =>
    (await changesOf({ body: JSON.stringify(sent) }, { body: JSON.stringify(received) })).map(
      ({ message }) => /At (.*)\.$/.exec(message)?.[1],
    );

  it("are the names and numbers on the way to a value, or the top level", async () => {
    expect(await placesIn({ a: { b: [1, 2] } }, { a: { b: [1, 3] } })).toEqual(['"/a/b/1"']);
    expect(await placesIn([1], [1, 2])).toEqual(["the top level"]);
    expect(await placesIn({ b: 1, a: 2 }, { a: 2, b: 1 })).toEqual(["the top level"]);
  });

  it("are three at most, and it is said that there are more", async () => {
    const numbered = (count: number, from: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, n) => [`m${n}`, from + n]));
    expect(await placesIn(numbered(3, 0), numbered(3, 9))).toEqual(['"/m0", "/m1", "/m2"']);
    expect(await placesIn(numbered(4, 0), numbered(4, 9))).toEqual(['"/m0", "/m1", "/m2" and elsewhere']);
    expect(await placesIn(numbered(9, 0), numbered(9, 90))).toEqual(['"/m0", "/m1", "/m2" and elsewhere']);
  });

  it("of white space are not said: it is everywhere", async () => {
    const [spaces] = await changesOf({ body: '{"a":1}' }, { body: '{ "a": 1 }' });
    expect(spaces?.id).toBe("body-json-whitespace");
    expect(spaces?.message).not.toMatch(/At /);
  });
});

describe("a media type", () => {
  const became = async (sent: Lines, received: Lines) =>
    (await changesOf({ headers: sent }, { headers: received })).map(({ id }) => id);
  const type = (...values: string[]): Lines => values.map((value) => ["Content-Type", value] as const);

  it("whose parameters or capitals alone are others is one of the headers that do not matter", async () => {
    for (const value of [
      "application/json; charset=utf-8",
      "application/json ;a=b;\nc=d",
      "Application/JSON",
    ])
      expect(await became(type("application/json"), type(value)), value).toEqual(["other-headers"]);
    expect(await became(type("application/json; charset=utf-8"), type("application/json"))).toEqual([
      "other-headers",
    ]);
  });

  it("that is another one, or stands twice, has changed", async () => {
    expect(await became(type("application/json"), type("text/plain"))).toEqual(["header-changed"]);
    expect(await became(type("a/b"), type("a/b", "a/b"))).toEqual(["header-doubled"]);
    // No other header is a media type.
    expect(await became([["Webhook-Event-Id", "a; b"]], [["Webhook-Event-Id", "a; c"]])).toEqual([
      "header-changed",
    ]);
  });
});

describe("a header under another name", () => {
  const moved = (value: string) =>
    changesOf({ headers: [["Webhook-Event-Id", value]] }, { headers: [["X-Original-Id", value]] });

  it("is recognised by its value, and named as it was written", async () => {
    const [found] = await moved("12345678");
    expect(found?.id).toBe("header-renamed");
    expect(found?.message).toContain('"Webhook-Event-Id" stands in "X-Original-Id".');
  });

  it("is lost where the value is so short that it may be there by chance", async () => {
    expect((await moved("1234567")).map(({ id }) => id)).toEqual(["header-lost", "other-headers"]);
  });
});

it("a value is shown where it is no secret, else its length", async () => {
  const said = async (name: string, sent: string, received: string) =>
    (await changesOf({ headers: [[name, sent]] }, { headers: [[name, received]] }))[0]?.message;
  expect(await said("Webhook-Timestamp", "1", "22")).toMatch(/"Webhook-Timestamp": "1" became "22"\.$/);
  expect(await said("Webhook-Signature", "abc", "x")).toMatch(
    /"Webhook-Signature": 3 characters became 1 character\.$/,
  );
});

it("twelve headers that do not matter are named, and the others counted", async () => {
  const others = (count: number): Lines => Array.from({ length: count }, (_, n) => [`X-${n}`, "1"] as const);
  const [twelve] = await changesOf({}, { headers: others(12) });
  expect(twelve?.message).toMatch(/"X-10", "X-11"\.$/);
  const [more] = await changesOf({}, { headers: others(14) });
  expect(more?.message).toMatch(/"X-11" and 2 more\.$/);
});
