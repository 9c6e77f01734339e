// What a classification says where something else than the listener answers, and what it does not say.
import { classifyAnswer } from "hookproof/schemes";
import { describe, expect, it } from "vitest";

const PAGE = "another server, another path, or a framework's error page: the answer is a page of HTML";
const PASSWORD = "HTTP authentication in front";
const GATEWAY = "a gateway that has no such route";

/** The hints of a refusal that shows these headers and this body. */
function hintsOf(body: string, ...headers: readonly (readonly [string, string])[]): readonly string[] {
  const said = classifyAnswer({ status: 404, headers: [...headers], body: Buffer.from(body) }, 1, 0);
  return "hints" in said ? said.hints : [];
}

describe("a page of HTML", () => {
  it.each([
    "<!DOCTYPE html><html>",
    "<html>",
    "\n\t <head><title>",
    "<BODY class='login'>",
    "<html\n lang='en'>",
  ])("is %j", (body) => expect(hintsOf(body)).toContain(PAGE));

  it.each(["", "ok", "html", "a <html>", "<htmlx>", "<p>no", "{}", "!<html>", "<!doctype htmlx>"])(
    "is not %j",
    (body) => expect(hintsOf(body)).not.toContain(PAGE),
  );
});

describe("what stands in front", () => {
  it.each(["Basic realm=x", "digest a", "NTLM", "Negotiate"])("asks for a password: %s", (value) =>
    expect(hintsOf("", ["WWW-Authenticate", value])).toContain(PASSWORD),
  );

  it.each(["Bearer", "Basically"])("asks for none: %s", (value) =>
    expect(hintsOf("", ["WWW-Authenticate", value])).not.toContain(PASSWORD),
  );

  it("is a gateway by its type of error, and by no other", () => {
    const type = "x-amzn-ErrorType";
    expect(hintsOf("", [type, "MissingAuthenticationTokenException"])).toContain(GATEWAY);
    expect(hintsOf("", [type, "ForbiddenException"])).not.toContain(GATEWAY);
    expect(hintsOf("", [type, "NoMissingAuthenticationToken"])).not.toContain(GATEWAY);
  });
});

it("shows where a redirect leads without what may be a credential", () => {
  const shownOf = (location: string) => {
    const said = classifyAnswer({ status: 302, headers: [["Location", location]] }, 1, 0);
    return "hints" in said ? said.hints.join() : "";
  };
  expect(shownOf("https://ada:pass@login.example/start?token=abc#key")).toMatch(
    /its Location is "https:\/\/login\.example\/start"$/,
  );
  expect(shownOf("/login#?key")).toMatch(/its Location is "\/login"$/);
  expect(shownOf("https://login.example/a@b?next=\nx")).toMatch(/is "https:\/\/login\.example\/a@b"$/);
});
