import { describe, expect, it } from "vitest";
import { classify } from "../../src/schemes/access-governance/answers.js";

// What each status means is pinned by vectors/retry.json; here is what stands beside it.
const answered = (status: number) => classify({ status, headers: [] }, 1, 0);

describe("a classification", () => {
  it("of a failure has no hints: the failure itself says what it was", () => {
    expect(classify({ failure: "ABORTED" }, 1, 0)).toEqual({ outcome: "final", code: "ABORTED", hints: [] });
  });

  it.each([201, 202, 204, 206, 299])("of %i is accepted now, not earlier, with a warning", (status) => {
    expect(answered(status)).toEqual({
      outcome: "accepted",
      earlier: false,
      warning: expect.stringContaining(`answered ${status}`),
    });
  });

  it.each([0, 100, 101, 103, 199])(
    "of %i, which is no answer to a POST, says nothing of the event",
    (status) => {
      expect(answered(status)).toMatchObject({ outcome: "setup", code: "REQUEST_REFUSED" });
    },
  );

  it.each<[status: number, hint: RegExp]>([
    [400, /clock/],
    [401, /secret/],
    [403, /source address/],
    [404, /listener id/],
    [405, /changed the request/],
    [413, /65,536 bytes/],
    [415, /changed the request/],
    [302, /another host/],
    [418, /a proxy in between/],
  ])("of %i names a hint that fits it", (status, hint) => {
    expect(answered(status)).toHaveProperty("hints", expect.arrayContaining([expect.stringMatching(hint)]));
  });
});
