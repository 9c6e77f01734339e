// What each answer of a listener says by itself, from results that are written down here, and what is kept of it.
import type { ProbeResult } from "hookproof/probes";
import { describe, expect, it } from "vitest";
import {
  fixOf,
  isAccepted,
  passesWith,
  proofIn,
  refusesRight,
  unexplained,
  verdictOf,
  verdictOfProbe,
} from "../../../src/doctor/probes/listener-verdict.js";
import { recordedAnswer, steadyAnswer } from "../../../src/doctor/probes/recorded-answer.js";
import { failed, RIGHT, resultOf } from "./made-results.js";

describe("what a proof got", () => {
  it("is taken from answers that are no limit of a rate", () => {
    const results = [
      failed("correct-request", 429, { expected: [200] }),
      failed("correct-request", 401, { expected: [200] }),
      resultOf("body-not-json", {}),
      resultOf("body-empty", { status: 400 }),
      resultOf("token-of-other-key", { status: 403 }),
    ];
    expect(proofIn(results, "jwt")).toEqual({ right: 401, harmless: 400, wrong: 403 });
    expect(proofIn(results, "hmac").wrong).toBeUndefined();
  });

  it("is no refusal where one error stands next to requests that were accepted", () => {
    const error = failed("correct-request", 500, { expected: [200] });
    expect(proofIn([error, resultOf("other", { status: 201, expected: [200] })], "hmac").right).toBe(201);
    expect(proofIn([error, resultOf("other", { status: 200, expected: [401] })], "hmac").right).toBe(500);
    expect(
      proofIn([{ ...error, status: 499 }, resultOf("o", { status: 200, expected: [200] })], "hmac").right,
    ).toBe(499);
  });

  it("is a refusal for sure, or not", () => {
    const refuses = (right: number | undefined, harmless?: number) =>
      refusesRight({ right, harmless, wrong: undefined });
    expect([refuses(401), refuses(302), refuses(200), refuses(299)]).toEqual([true, true, false, false]);
    expect([401, 403, 404, 407, 400, 500, undefined].map((one) => refuses(undefined, one))).toEqual([
      ...[true, true, true, true, false, false, false],
    ]);
    expect([199, 200, 299, 300, undefined].map(isAccepted)).toEqual([false, true, true, false, false]);
  });

  it("leaves passes with the same status unproved", () => {
    const results = [
      resultOf("a", { status: 401 }),
      resultOf("b", { status: 403 }),
      failed("c", 401),
      resultOf("d", {}),
    ];
    expect([passesWith(401, results), passesWith(undefined, results)]).toEqual([["a"], []]);
  });
});

describe("the verdict of one probe", () => {
  const told = (...results: ProbeResult[]) => {
    const found = verdictOfProbe(results);
    return found && [found.sentence, found.fix, found.follows];
  };

  it("is that of the gravest that was accepted, with those that are of its kind", () => {
    const accepted = (id: string) => failed(id, 200, { fix: `correct ${id}` });
    expect(
      told(accepted("aud-missing"), accepted("exp-missing"), accepted("aud-prefix"), failed("x", 500)),
    ).toEqual([
      "It accepts the aud-prefix: it compares only the beginning of aud.",
      "correct aud-prefix",
      ["aud-missing", "aud-prefix"],
    ]);
    expect(told(accepted("something"), accepted("something-else"))).toEqual([
      "It accepts the something.",
      "correct something",
      ["something"],
    ]);
    expect(told(accepted("exp-missing"), accepted("alg-none"))?.[2]).toEqual(["exp-missing", "alg-none"]);
  });

  it("is another success where one was expected", () => {
    expect(
      told(
        failed("a", 202, { expected: [200] }),
        failed("b", 202, { expected: [400, 200] }),
        failed("c", 202),
      )?.[2],
    ).toEqual(["c"]);
    expect(told(failed("a", 202, { expected: [200] }), failed("b", 500, { expected: [200] }))).toEqual([
      "It answers 202 and not 200 to the a.",
      "Answer 200 where the event is accepted.",
      ["a"],
    ]);
  });

  it.each<readonly [id: string, status: number, expected: number, isOther: boolean]>([
    ["a", 400, 401, true],
    ["a", 499, 400, true],
    ["a", 401, 400, true],
    ["a", 500, 401, false],
    ["a", 399, 401, false],
    ["a", 409, 401, false],
    ["a", 400, 500, false],
    ["body-a", 401, 400, false],
    ["body-a", 403, 400, true],
  ])("%s that got %i in place of %i is refused already: %s", (id, status, expected, isOther) => {
    const fix = verdictOfProbe([failed(id, status, { expected: [expected], fix: "correct it" })])?.fix;
    expect(fix).toBe(
      isOther ? `Answer ${expected} there: it is refused already, with another status.` : "correct it",
    );
  });

  it("is none without a failure, and one that is always asked for", () => {
    const passed = resultOf("a", { status: 401, reason: "so" });
    expect(verdictOfProbe([passed])).toBeUndefined();
    expect(verdictOfProbe([passed], { always: "a" })?.sentence).toBe("It is wrong with the a: so.");
    expect(verdictOfProbe([failed("a", 200)], { bug: "so" })?.sentence).toBe("It accepts the a: so.");
    expect(told(resultOf("a", { outcome: "fail", title: "no x" }))?.[0]).toBe(
      "It answers nothing and not 401 to a request without x.",
    );
  });
});

describe("the verdict of mistakes", () => {
  const results = [
    failed("signature-of-sha1", 200),
    failed("body-empty", 401, { expected: [400] }),
    failed("timestamp-missing", 401, { expected: [400], outcome: "unclear" }),
    failed("body-utf16", 403, { expected: [400] }),
    resultOf("signature-hex", { status: 401 }),
  ];
  const told = (ids: string[], proof: Parameters<typeof verdictOf>[2]) =>
    verdictOf(ids, results, proof, { count: 5, software: "PHP/8", detail: undefined });

  it("has what follows: of its family, or refused as correct requests are", () => {
    expect(told(["secret-base64url-decoded"], { right: 401, harmless: 401, wrong: 403 })).toMatchObject({
      follows: ["signature-of-sha1", "body-empty", "timestamp-missing", "body-utf16"],
      unproved: ["signature-hex"],
      requests: 5,
      sentence:
        "It refuses correct requests and accepts signatures made with the decoded secret: it decodes the secret.",
    });
    expect(told(["secret-base64url-decoded"], RIGHT)).toMatchObject({
      follows: ["signature-of-sha1"],
      unproved: [],
      sentence: "It accepts signatures made with the decoded secret: it decodes the secret.",
    });
    expect(told(["body-bom"], { right: undefined, harmless: 400, wrong: 403 }).follows).toEqual([
      "body-empty",
      "body-utf16",
    ]);
    expect(told(["body-bom"], { right: undefined, harmless: 400, wrong: 401 }).follows).toEqual([
      "body-empty",
      "body-utf16",
    ]);
    expect(
      told(["timestamp-signed-as-date"], { right: undefined, harmless: 400, wrong: 403 }).follows,
    ).toEqual(["timestamp-missing", "body-utf16"]);
  });

  it("has a fix in the listener's language, or the mistake's own", () => {
    expect(fixOf("claim-exp-milliseconds", "PHP/8")).toMatch(/^Compare exp in seconds/);
    expect(fixOf("secret-base64url-decoded", "PHP/8")).not.toBe(fixOf("secret-base64url-decoded", "Express"));
    expect(fixOf("secret-base64url-decoded", "")).toMatch(/\.$/);
    expect(() => fixOf("no-such-mistake", "")).toThrow(/no words for a listener/);
  });
});

describe("a listener that refuses for no known mistake", () => {
  const target = (method: "hmac" | "jwt") =>
    ({ url: "http://a", auth: method === "hmac" ? { method, secret: "a secret" } : { method } }) as never;
  const told = (status: number, method: "hmac" | "jwt" = "hmac", results: ProbeResult[] = []) =>
    unexplained(target(method), results, { ...RIGHT, right: status }, { requests: 9, told: "" });

  it("is told by the status what to look at", () => {
    expect(told(400).fix).toContain("says nothing about the secret");
    expect(told(403).sentence).toContain("does not allow this machine's address");
    expect(told(404).sentence).toContain("the path is not the listener's");
    expect(told(500)).toMatchObject({
      sentence: expect.stringContaining("a server error"),
      fix: "Look into its log.",
    });
    expect(told(418).fix).toContain("418 is not the status for a wrong proof");
    expect(told(401).fix).toMatch(/\(here sha256:[0-9a-f]{8}\)/);
    expect(told(401, "jwt")).toMatchObject({
      id: "token-signature-unexplained",
      fix: expect.stringContaining("aud and sub"),
    });
    expect(told(401).id).toBe("signature-unexplained");
  });

  it("demands of all what it has accepted wrongly", () => {
    const taken = failed("proof-missing", 200, { title: "no proof", fix: "correct it" });
    expect(told(401, "hmac", [resultOf("a", { status: 401 }), taken])).toMatchObject({
      ...{ id: "proof-missing", fix: "correct it", follows: ["proof-missing"], unproved: ["a"], requests: 9 },
      sentence:
        "It refuses correct requests with 401 and accepts a request without proof: it demands that of all of them.",
    });
    expect(told(401, "hmac", [failed("a", 200, { expected: [200, 202] })]).id).toBe("signature-unexplained");
  });
});

describe("what is kept of an answer", () => {
  const bytes = (text: string) => new TextEncoder().encode(text);

  it("is its status, the headers that say something, and its JSON or text", () => {
    expect(
      recordedAnswer({
        status: 400,
        headers: [
          ["Content-Type", "Application/JSON"],
          ["X-Id", "1"],
        ],
        body: bytes('{"a":[1]}'),
      }),
    ).toEqual({ status: 400, headers: { "content-type": "application/json" }, body: { a: [1] } });
    for (const text of ["null", '"a"', "{"])
      expect(recordedAnswer({ status: 400, headers: [], body: bytes(text) }).body, text).toBe(text);
  });

  it("has no headers and no body where none were given", () => {
    expect(steadyAnswer(400, undefined, undefined)).toEqual({ status: 400 });
    expect(steadyAnswer(400, {}, null)).toEqual({ status: 400, headers: {}, body: null });
    const inherited = Object.create({ "content-type": "a/b" }) as Record<string, unknown>;
    expect(steadyAnswer(400, { ...inherited, "retry-after": 5 }, undefined)).toEqual({
      status: 400,
      headers: {},
    });
    expect(steadyAnswer(400, inherited, undefined)).toEqual({ status: 400, headers: {} });
  });
});
