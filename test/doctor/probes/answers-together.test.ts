// What answers say together and alone, from results that are written down here: each sentence needs all of its signs.
import type { ProbeResult } from "hookproof/probes";
import { describe, expect, it } from "vitest";
import {
  jointVerdict,
  limitedVerdict,
  refusesInWords,
  stopsAnswering,
  verdictOfChoices,
} from "../../../src/doctor/probes/joint-verdict.js";
import { failed, RIGHT, resultOf } from "./made-results.js";

const many = (count: number, make: (n: number) => ProbeResult) =>
  Array.from({ length: count }, (_, n) => make(n));
const idOf = (verdict: { id: string; follows: readonly ProbeResult[] } | undefined) =>
  verdict && [verdict.id, verdict.follows.map(({ id }) => id)];

describe("a body with zero bytes that alone is refused as wrongly signed", () => {
  const only = failed("body-utf16", 401, { expected: [400] });
  const told = (results: ProbeResult[], proof = RIGHT) => idOf(jointVerdict(results, proof));

  it("says that another body is verified", () => {
    const passed = resultOf("body-empty", { status: 400, expected: [400] });
    expect(told([passed, only])).toEqual(["body-utf16", ["body-utf16"]]);
  });

  it("says nothing next to another failure, by another status, or where right ones are refused", () => {
    expect(told([only, failed("timestamp-missing", 200)])).toBeUndefined();
    expect(told([failed("body-utf16", 422, { expected: [400] })])).toBeUndefined();
    expect(told([failed("body-empty", 401, { expected: [400] })])).toBeUndefined();
    expect(told([only], { ...RIGHT, right: 401 })).toBeUndefined();
    expect(told([only], { ...RIGHT, harmless: 401 })).toBeUndefined();
    expect(told([])).toBeUndefined();
  });
});

describe("a proof by an unknown secret that is refused otherwise than the others", () => {
  const results = [
    failed("signature-of-other-secret", 403),
    failed("signature-of-zeros", 403),
    failed("body-empty", 403, { expected: [400] }),
    failed("proof-missing", 200),
    resultOf("signature-hex", { status: 401 }),
  ];
  const told = (proof: Parameters<typeof jointVerdict>[1], given = results) =>
    idOf(jointVerdict(given, proof));

  it("is told with those that are refused alike", () => {
    expect(told({ ...RIGHT, wrong: 403 })).toEqual([
      "signature-of-other-secret",
      ["signature-of-other-secret", "signature-of-zeros"],
    ]);
    const token = [failed("token-of-other-key", 403)];
    expect(told({ ...RIGHT, wrong: 403 }, token)).toEqual(["token-of-other-key", ["token-of-other-key"]]);
  });

  it.each([undefined, 401, 302, 399, 500, 503])("is not told where that got %j", (wrong) => {
    const alike = resultOf("signature-of-other-secret", {
      outcome: "fail",
      ...(wrong === undefined ? {} : { status: wrong }),
    });
    expect(told({ ...RIGHT, wrong }, [alike])).toBeUndefined();
  });

  it("is told with what failed alone", () => {
    const passed = resultOf("signature-hex", { status: 403, expected: [401, 403] });
    expect(told({ ...RIGHT, wrong: 403 }, [...results, passed])?.[1]).not.toContain("signature-hex");
  });

  it("is not told where right ones are refused too, nor without that probe", () => {
    expect(told({ ...RIGHT, right: 403, wrong: 403 })).toBeUndefined();
    expect(told({ ...RIGHT, wrong: 403 }, results.slice(1))).toBeUndefined();
    expect(told({ ...RIGHT, wrong: 400 }, [failed("signature-of-other-secret", 400)])).toEqual([
      "signature-of-other-secret",
      ["signature-of-other-secret"],
    ]);
    expect(told({ ...RIGHT, wrong: 499 }, [failed("signature-of-other-secret", 499)])).toBeDefined();
  });
});

describe("signatures of another length", () => {
  const OTHERS = ["signature-one-character", "signature-hex", "signature-padded", "signature-4-kb"];
  const same = failed("signature-of-zeros", 401, { outcome: "pass" });
  const fails = OTHERS.map((id) => failed(id, 500));

  it("that all fail it are one mistake, and those that are no failure of theirs are not", () => {
    const results = [
      same,
      ...fails,
      failed("signature-without-id", 500, { outcome: "unclear" }),
      failed("signature-prefix-v1", 500, { outcome: "pass" }),
      failed("signature-quoted", 401),
      failed("body-empty", 500, { expected: [400] }),
    ];
    const verdict = jointVerdict(results, RIGHT);
    expect(verdict?.sentence).toContain("its comparison fails");
    expect(idOf(verdict)?.[1]).toEqual([...OTHERS, "signature-without-id"]);
  });

  it("are four at least, with one of the same length that does not fail", () => {
    for (const results of [fails, [same, ...fails.slice(1)], [failed("signature-of-zeros", 500), ...fails]])
      expect(jointVerdict(results, RIGHT)?.sentence ?? "").not.toContain("its comparison fails");
  });
});

describe("409 to what has not come before", () => {
  const taken = (id: string, expected = [200]) => failed(id, 409, { expected });

  it("twice is another key than the event id", () => {
    expect(idOf(jointVerdict([taken("a"), taken("b")], RIGHT))).toEqual(["a", ["a", "b"]]);
    expect(idOf(jointVerdict([taken("a"), taken("b", [400, 200])], RIGHT))).toEqual(["a", ["a", "b"]]);
  });

  it("once, or where an id was sent before, is none", () => {
    for (const results of [
      [],
      [taken("a")],
      [taken("a"), taken("event-id-of-refused-request")],
      [taken("a"), taken("event-id-copies-at-once")],
      [taken("a"), taken("b", [409])],
      [taken("a"), failed("b", 400, { expected: [200] })],
    ])
      expect(jointVerdict(results, RIGHT)).toBeUndefined();
  });
});

describe("a window that is too small", () => {
  const old = failed("timestamp-300-s-old", 400, { expected: [200] });
  const ahead = failed("timestamp-300-s-ahead", 401, { expected: [200] });

  it("leaves out one end or both", () => {
    expect(jointVerdict([old, ahead], RIGHT)?.sentence).toContain(
      "exactly 300 s old, and one that is 300 s ahead,",
    );
    expect(jointVerdict([old], RIGHT)?.sentence).toContain("exactly 300 s old,");
    expect(idOf(jointVerdict([ahead], RIGHT))).toEqual(["timestamp-300-s-ahead", ["timestamp-300-s-ahead"]]);
  });

  it("is not all that is wrong where anything else fails, and no error of the server", () => {
    expect(jointVerdict([old, failed("body-empty", 200, { expected: [400] })], RIGHT)).toBeUndefined();
    expect(jointVerdict([old], { ...RIGHT, right: 400 })).toBeUndefined();
    expect(jointVerdict([{ ...old, status: 500 }], RIGHT)?.sentence).toContain("It answers 500 to");
    expect(jointVerdict([{ ...old, outcome: "pass" }], RIGHT)).toBeUndefined();
  });
});

describe("wrong proofs that are refused with another status", () => {
  const refused = (count: number, status: number) => many(count, (n) => failed(`signature-${n}`, status));
  const first = (status: number) => failed("signature-of-other-secret", status);
  const told = (results: ProbeResult[], proof: Parameters<typeof jointVerdict>[1]) =>
    jointVerdict(results, proof)?.sentence ?? "none";

  it("are told where nearly all of them are", () => {
    expect(told([first(403), ...refused(3, 403)], { ...RIGHT, wrong: 403 })).toBe(
      "It refuses wrong proofs with 403 and not with 401.",
    );
    expect(told([first(500), ...refused(3, 500)], { ...RIGHT, wrong: 500 })).toMatch(
      /as where the verification throws/,
    );
    expect(told([first(403), ...refused(7, 403), ...refused(2, 401)], { ...RIGHT, wrong: 403 })).toMatch(
      /^It refuses wrong/,
    );
    expect(told([first(403), ...refused(6, 403), ...refused(2, 401)], { ...RIGHT, wrong: 403 })).toMatch(
      /^It answers 403/,
    );
    expect(told([first(403), ...refused(2, 403)], { ...RIGHT, wrong: 403 })).toMatch(/^It answers 403/);
  });

  it("are told of a run that asked for no right proof by what was harmless", () => {
    const results = [first(403), ...refused(3, 403)];
    expect(told(results, { right: undefined, harmless: 400, wrong: 403 })).toMatch(/^It refuses wrong/);
    expect(told(results, { right: undefined, harmless: 403, wrong: 403 })).toBe("none");
    expect(told([first(400), ...refused(3, 400)], { right: undefined, harmless: 400, wrong: 400 })).toBe(
      "none",
    );
  });
});

describe("what a listener may choose", () => {
  const unclear = (id: string, status: number) =>
    resultOf(id, { status, outcome: "unclear", expected: [200] });
  const told = (...results: ProbeResult[]) => verdictOfChoices(results, RIGHT)?.sentence;

  it("is a limit, or a spelling that it does not take, the limit first", () => {
    expect(told(unclear("body-64-kb", 413), unclear("content-type-charset", 415))).toContain(
      "its limit is lower",
    );
    expect(told(unclear("body-64-kb", 401))).toContain("as if it were cut");
    expect(told(unclear("content-type-charset", 415), unclear("authorization-lower-case", 401))).toContain(
      "media type alone",
    );
    expect(told(unclear("authorization-lower-case", 400))).toContain("letter by letter");
  });

  it("is nothing where it passed, or where a rate was limited", () => {
    expect(told(unclear("body-64-kb", 429))).toBeUndefined();
    expect(told(unclear("body-64-kb", 399))).toBeUndefined();
    expect(told({ ...unclear("body-64-kb", 413), outcome: "pass" })).toBeUndefined();
    expect(verdictOfChoices([unclear("body-64-kb", 413)], { ...RIGHT, right: 401 })).toBeUndefined();
  });
});

describe("a listener that stops answering", () => {
  const before = many(30, (n) => resultOf(`before-${n}`, { status: 401 }));
  const later = (count: number, status = 403) => many(count, (n) => failed(`later-${n}`, status));

  it("is told from the first such answer on", () => {
    expect(idOf(stopsAnswering([...before, ...later(15)]))).toEqual([
      "later-0",
      later(15).map(({ id }) => id),
    ]);
    const lost = many(15, (n) => resultOf(`later-${n}`, { failure: "CONNECTION_LOST", outcome: "fail" }));
    expect(stopsAnswering([...before, ...lost])?.sentence).toContain(
      "nothing is answered any more (CONNECTION_LOST)",
    );
    const mixed = [
      ...before,
      ...later(7),
      ...many(8, (n) => failed(`x-${n}`, 403, { expected: [403, 401] })),
    ];
    expect(stopsAnswering(mixed)).toBeUndefined();
  });

  it("needs fifteen answers that are other ones than before", () => {
    for (const results of [
      [...before, ...later(14)],
      [...before, ...later(15, 401)],
      [...before, ...later(15, 400)],
      [...before, ...later(15, 302)],
      [...before, ...later(15, 429)],
      many(30, (n) => resultOf(`b-${n}`, { status: 400, expected: [400] })).concat(later(15)),
      [...many(11, (n) => failed(`e-${n}`, 403)), ...before, ...later(15)],
      [],
    ])
      expect(stopsAnswering(results)).toBeUndefined();
    const seldom = [...many(10, (n) => failed(`e-${n}`, 403)), ...before, ...later(15)];
    expect(stopsAnswering(seldom)).toBeDefined();
  });
});

it("a rate that is limited for half of the answers takes the cause with it", () => {
  const limited = many(3, (n) => failed(`l-${n}`, 429, { outcome: "unclear" }));
  const others = [failed("a", 200), resultOf("b", { status: 401 }), resultOf("c", { status: 401 })];
  expect(limitedVerdict([...limited, ...others, resultOf("s", { outcome: "skip" })])).toMatchObject({
    id: "l-0",
    sentence: expect.stringContaining("3 of 6 answers are 429"),
  });
  expect(limitedVerdict([...limited, ...others, resultOf("d", { status: 401 })])).toBeUndefined();
  expect(limitedVerdict([...limited, ...others.slice(1)])).toBeUndefined();
});

describe("wrong proofs that get the status of right ones, and another body", () => {
  const answered = (id: string, body: unknown, given: Partial<ProbeResult> = {}) =>
    resultOf(id, { status: 200, outcome: "fail", answer: { status: 200, body }, ...given });
  const told = (right: unknown, wrong: unknown, alsoWrong: unknown, proof = { ...RIGHT, wrong: 200 }) =>
    idOf(
      refusesInWords(
        [
          answered("correct-request", right, { outcome: "pass", expected: [200] }),
          answered("signature-of-other-secret", wrong),
          answered("signature-of-zeros", alsoWrong),
          answered("body-empty", wrong, { status: 400 }),
        ],
        proof,
      ),
    );

  it("refuse them in words, where each has the same one", () => {
    expect(told({ ok: 1 }, { ok: 0 }, { ok: 0 })).toEqual([
      "signature-of-other-secret",
      ["signature-of-other-secret", "signature-of-zeros"],
    ]);
  });

  it("do not, where bodies are alike, all different, or not there", () => {
    expect(told({ ok: 1 }, { ok: 1 }, { ok: 1 })).toBeUndefined();
    expect(told({ ok: 1 }, { ok: 2 }, { ok: 3 })).toBeUndefined();
    expect(told({ ok: 1 }, undefined, undefined)).toBeUndefined();
    expect(told({ ok: 1 }, { ok: 0 }, { ok: 0 }, RIGHT)).toBeUndefined();
    expect(told({ ok: 1 }, { ok: 0 }, { ok: 0 }, { ...RIGHT, right: 401, wrong: 200 })).toBeUndefined();
  });
});
