// What answers in a listener's place: each product by the answer that it gives, and what only looks like one.
import { describe, expect, it } from "vitest";
import { closedVerdict, commonStatus, frontOf } from "../../../src/doctor/probes/in-front.js";
import { resultOf } from "./made-results.js";

interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly isHmac?: boolean;
}

const ALIKE = [resultOf("correct-request", { status: 418 })];

function front({ status, headers = {}, body = "", isHmac = true }: Answer) {
  const answer = { status, headers: Object.entries(headers), body: new TextEncoder().encode(body) };
  const url = "http://127.0.0.1:1/hooks/lst_1";
  return frontOf([resultOf("correct-request", { status })], answer, { requests: 3, isHmac, url });
}
const whoOf = (answer: Answer) => front(answer).verdict?.sentence ?? "none";

describe("who answers is told by", () => {
  const to = (location: string, status = 302): Answer => ({ status, headers: { Location: location } });
  it.each<[who: RegExp, ...answers: Answer[]]>([
    [
      /firewall or CDN/,
      { status: 403, headers: { "CF-Mitigated": "challenge" } },
      { status: 405, headers: { "X-Amzn-Waf-Action": "captcha" } },
      { status: 403, headers: { Server: "AkamaiGHost" } },
      { status: 460, headers: { Server: "awselb/2.0" } },
      { status: 403, body: "error code: 1020\n" },
      { status: 403, headers: { "X-Azure-Ref": "1" } },
      { status: 403, headers: { Server: "Microsoft-Azure-Application-Gateway/v2" } },
      { status: 403, body: "<title>Attention Required! | Cloudflare</title>" },
      { status: 200, body: "The requested URL was rejected. Please consult" },
    ],
    [
      /tunnel or host answers that has no application/,
      { status: 404, headers: { "Ngrok-Error-Code": "ERR_NGROK_3200" } },
      { status: 404, body: "No such app" },
    ],
    [
      /asks for a login of its own/,
      { status: 401, body: "<h1>Tunnel website ahead!</h1>" },
      { status: 302, headers: { "X-Goog-IAP-Generated-Response": "true" } },
      { status: 401, body: "Invalid IAP credentials: empty token" },
      { status: 403, body: "Your client does not have permission to get URL /x" },
    ],
    [
      /answers the error with this status/,
      { status: 200, body: "<b>Fatal error</b>: x" },
      { status: 200, body: "PHP Parse error: x" },
      { status: 299, body: "Fatal error: x" },
    ],
    [
      /maintenance page is in front/,
      to("/maintenance"),
      to("maintenance.html"),
      to("https://a.test/?page=coming-soon", 307),
      { status: 200, body: "We are down for maintenance" },
    ],
    [
      /not the listener that answers, or it checks nothing/,
      { status: 200 },
      { status: 204 },
      { status: 299 },
    ],
    [
      /the port is one for https/,
      { status: 400, body: "The plain HTTP request was sent to HTTPS port" },
      { status: 400, body: "Client sent an HTTP request to an HTTPS server." },
    ],
    [
      /leads to a login page/,
      to("/login"),
      to("https://sso.a.test/saml2?x"),
      to("/users/sign_in", 303),
      to("/oauth2/start"),
    ],
    [/has a slash at the end/, to("/hooks/lst_1/", 301), to("https://a.test/hooks/lst_1/", 308)],
    [/leads elsewhere/, to("https://a.test/hooks/lst_1", 301), { status: 304 }, to("/catalogin", 302)],
    [
      /a login page is in front of it/,
      { status: 401, headers: { "Set-Cookie": "_vercel_sso_nonce=1" } },
      { status: 403, body: "<title>Log in - A</title>" },
      { status: 401, body: "<title>Authentication Required</title>" },
    ],
    [/asks for a Bearer token/, { status: 401, headers: { "WWW-Authenticate": "Bearer" } }],
    [/log in to the network/, { status: 511 }],
    [
      /gateway in front of it asks for a key/,
      { status: 401, headers: { "WWW-Authenticate": 'Key realm="kong"' } },
    ],
    [
      /AWS API Gateway refuses it/,
      { status: 403, headers: { "X-Amzn-ErrorType": "MissingAuthenticationTokenException" } },
      { status: 403, headers: { "X-Amzn-ErrorType": "ForbiddenException" } },
    ],
    [
      /HTTP authentication/,
      { status: 401, headers: { "WWW-Authenticate": 'Basic realm="x"' } },
      { status: 401, headers: { "WWW-Authenticate": "Negotiate" } },
    ],
    [
      /framework's or a gateway's login/,
      { status: 401, body: '{"message": "Unauthenticated."}' },
      { status: 403, body: '{"detail":"Authentication credentials were not provided."}' },
    ],
    [
      /CSRF/,
      { status: 419 },
      { status: 403, body: "CSRF verification failed. Request aborted." },
      { status: 422, body: "The change you wanted was rejected." },
    ],
    [
      /out of service at the moment/,
      { status: 503, headers: { "Retry-After": "120" } },
      { status: 503, body: "Service Unavailable" },
    ],
    [
      /server for WebSockets/,
      { status: 426 },
      { status: 400, body: "Upgrade to WebSocket" },
      { status: 400, body: "websocket connection is required" },
      { status: 400, body: '{"code":0,"message":"Transport unknown"}' },
    ],
    [/CDN in front of it does not reach/, ...[520, 523, 527, 530].map((status): Answer => ({ status }))],
    [
      /cannot use what the function answered/,
      { status: 502, body: '{"message": "Internal server error"}' },
      { status: 502, body: ' {"message":"Internal server error"}\n' },
    ],
    [
      /proxy in front of it does not reach/,
      { status: 502 },
      { status: 502, body: '{"message": "Internal server error", "id": 1}' },
      { status: 504 },
      { status: 503, body: "upstream connect error or disconnect" },
    ],
    [/it fails at every request, also/, { status: 500 }, { status: 503 }, { status: 519 }, { status: 528 }],
    [/no POST is taken/, { status: 405 }],
    [/Squid/, { status: 403, headers: { "X-Squid-Error": "ERR_ACCESS_DENIED 0" } }],
    [/Spring Security/, { status: 403, body: '{"timestamp":"2026-01-01","status":403,"error":"Forbidden"}' }],
    [
      /framework's validation/,
      { status: 422, body: '{"detail":[{"loc":["body","a"]}]}' },
      { status: 400, body: "One or more validation errors occurred." },
    ],
    [/takes no application\/json/, { status: 415 }],
    [/does not get as far as the proof/, { status: 400 }, { status: 410 }, { status: 403 + 15 }],
    [
      /^none$/,
      { status: 401 },
      { status: 403 },
      { status: 404 },
      { status: 401, isHmac: false, headers: { "WWW-Authenticate": "Bearer" } },
    ],
  ])("%s", (who, ...answers) => {
    for (const answer of answers) expect(whoOf(answer), JSON.stringify(answer)).toMatch(who);
  });
});

it.each<[who: RegExp, answer: Answer]>([
  [/^none$/, { status: 401, body: "no invalid IAP credentials" }],
  [/^none$/, { status: 404, body: "Your client does not have permission to get URL /x" }],
  [/it fails at every request, also/, { status: 500, body: "<b>Fatal error</b>: x" }],
  [/leads elsewhere/, { status: 300, body: "<b>Fatal error</b>: down for maintenance" }],
  [/or it checks nothing/, { status: 200, body: "a fatal error: x" }],
  [/or it checks nothing/, { status: 200, body: `${" ".repeat(400)}<b>fatal error</b>` }],
  [/^none$/, { status: 404, headers: { Location: "/maintenance" } }],
  [/does not get as far/, { status: 400, headers: { Location: "/maintenance" } }],
  [/proxy in front of it does not reach/, { status: 502, body: 'x{"message": "Internal server error"}' }],
  [/proxy in front of it does not reach/, { status: 502, body: '{"message": "Internal server error"}x' }],
  [/it fails at every request, also/, { status: 500, body: '{"message": "Internal server error"}' }],
])("what only looks like another product is not taken for it: %s", (who, answer) => {
  expect(whoOf(answer)).toMatch(who);
});

describe("the answer to all", () => {
  it("is told by its most telling line, without what may be secret in it", () => {
    const told = (answer: Answer) => front(answer).told;
    expect(told({ status: 401 })).toBe("");
    expect(told({ status: 401, body: "\n  <h1>Not here</h1>\nmore" })).toBe(' ("Not here")');
    expect(told({ status: 401, body: '<title class="a b">No  way</title><p>x' })).toBe(' ("No  way")');
    expect(told({ status: 401, body: "<title>Error</title><body>Forbidden<b>you</b>, there" })).toBe(
      ' ("Forbidden you, there")',
    );
    expect(told({ status: 401, body: '<style type="a">p{a:b}</style>x' })).toBe(' ("x")');
    expect(told({ status: 401, body: "<script>1</script>" })).toBe("");
    expect(told({ status: 401, body: `id ${"a".repeat(24)} ${"b".repeat(23)}` })).toBe(
      ` ("id … ${"b".repeat(23)}")`,
    );
    expect(told({ status: 302, headers: { Location: "/x?ticket=1" }, body: "text" })).toBe(
      ' (Location: "/x")',
    );
    expect(told({ status: 401, headers: { "WWW-Authenticate": "Basic" } })).toBe(
      ' (WWW-Authenticate: "Basic")',
    );
  });

  it("is each request's, or each POST's where other methods get another", () => {
    const seen = { status: 503, headers: [], body: new Uint8Array() };
    const sentence = (results: typeof ALIKE) =>
      frontOf(results, seen, { requests: 0, isHmac: true }).verdict?.sentence;
    expect(sentence([resultOf("a", { status: 503 }), resultOf("b", {})])).toMatch(
      /^Every request, right or wrong/,
    );
    expect(sentence([resultOf("a", { status: 503 }), resultOf("method-get", { status: 405 })])).toMatch(
      /^Every POST,/,
    );
  });

  it("is sure where all get it, or where it tells who gives it", () => {
    const some = [resultOf("a", { status: 500 }), resultOf("b", { status: 404 })];
    const sure = (status: number, results: typeof ALIKE) =>
      frontOf(results, { status, headers: [], body: new Uint8Array() }, { requests: 0, isHmac: true }).isSure;
    expect([sure(500, some), sure(500, some.slice(0, 1)), sure(502, some), sure(401, some)]).toEqual([
      false,
      true,
      true,
      false,
    ]);
  });

  it("explains what failed, and leaves what passed unproved", () => {
    const results = [
      resultOf("a", { status: 500, outcome: "fail" }),
      resultOf("b", { status: 500, outcome: "unclear" }),
      resultOf("c", { status: 500, outcome: "pass" }),
      resultOf("d", { outcome: "pass" }),
    ];
    const answer = { status: 500, headers: [], body: new Uint8Array() };
    expect(frontOf(results, answer, { requests: 7, isHmac: true }).verdict).toMatchObject({
      ...{ follows: ["a", "b"], unproved: ["c"], requests: 7 },
    });
  });
});

describe("one status for all", () => {
  const many = (count: number, status: number) =>
    Array.from({ length: count }, (_, n) => resultOf(`probe-${n}`, { status }));

  it("is that of ten answers at least, of which none is another", () => {
    expect([commonStatus(many(10, 404)), commonStatus(many(9, 404))]).toEqual([404, undefined]);
    expect(commonStatus([...many(10, 404), resultOf("x", { status: 401 })])).toBeUndefined();
  });

  it("looks at no limit of a rate, at no missing answer, and at nothing that servers answer earlier", () => {
    const others = [
      "method-get",
      "listener-unknown",
      "body-too-large",
      "body-too-large-bad-proof",
      "body-1-mb",
      "signature-4-kb",
    ];
    expect(
      commonStatus([
        ...many(10, 404),
        resultOf("limited", { status: 429 }),
        resultOf("lost", {}),
        ...others.map((id) => resultOf(id, { status: 400 })),
      ]),
    ).toBe(404);
    expect(commonStatus([...many(10, 404), resultOf("body-empty", { status: 400 })])).toBeUndefined();
  });
});

it("connections that are all closed without an answer are told, with https where that is to be tried", () => {
  const closed = (count: number) =>
    Array.from({ length: count }, (_, n) => resultOf(`probe-${n}`, { failure: "CONNECTION_LOST" }));
  expect(closedVerdict(closed(9))).toBeUndefined();
  expect(closedVerdict([...closed(10), resultOf("x", { status: 401 })])).toBeUndefined();
  expect(closedVerdict([...closed(10), resultOf("x", { failure: "TIMED_OUT" })])).toBeUndefined();
  const skipped = resultOf("x", { outcome: "skip" });
  expect(closedVerdict([...closed(10), skipped], "http://a")).toMatchObject({
    id: "answers-alike",
    follows: closed(10).map(({ id }) => id),
    fix: expect.stringContaining("write the URL with https://"),
  });
  expect(closedVerdict(closed(10), "HTTPS://a")?.fix).toBe(
    "Look into the log of the server or proxy on that port.",
  );
});
