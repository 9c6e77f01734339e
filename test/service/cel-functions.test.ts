import { afterAll, describe, expect, it } from "vitest";
import {
  type CelFunctions,
  checkCelOptions,
  createLookUps,
} from "../../service/src/automations/cel-functions.js";
import { createExpressions } from "../../service/src/automations/expressions.js";
import { withState } from "../../service/src/state/database-state.js";
import type { Fixture } from "../../service/src/state/fixture.js";

const user = (id: string, more = {}) => ({ id, displayName: id, email: `${id}@example.com`, ...more });
const FIXTURE: Fixture = {
  users: [
    user("ada", { department: "Research", jobTitle: "Lead", profile: { team: "blue", level: 3 } }),
    user("bob", { department: "Research", managerIds: ["ada"], profile: { team: "red" } }),
    user("cyd", { department: "Sales", managerIds: ["ada", "gone"], email: "Cyd@Example.com" }),
    user("dan", { managerIds: Array.from({ length: 1_001 }, (_, n) => `m-${n}`) }),
    user("eve", { email: "", displayName: "" }),
  ],
  apps: [
    {
      id: "billing",
      entitlements: [
        { id: "e-1", slug: "admin" },
        { id: "e-2", slug: "member" },
      ],
      grants: [
        { entitlementId: "e-1", userId: "ada", createdAt: "2026-01-02T00:00:00Z" },
        { entitlementId: "e-2", userId: "ada", createdAt: "2026-01-02T00:00:00Z" },
        { entitlementId: "e-2", userId: "bob", createdAt: "2026-01-01T00:00:00Z" },
      ],
    },
    { id: "empty" },
  ],
};
const NOW = Date.parse("2026-11-27T20:15:30.250Z");
const asked: unknown[] = [];
const STUBS: CelFunctions = {
  "acme.risk.v1.Score": {
    takes: ["string", "int"],
    gives: "int",
    call: (...args) => {
      asked.push(args);
      return 7;
    },
  },
  "acme.risk.v1.Until": { takes: [], gives: "timestamp", call: async () => "2026-02-30T00:00:00Z" },
  "acme.risk.v1.Wrong": { takes: [], gives: "int", call: () => "seven" },
  "acme.risk.v1.Fails": {
    takes: [],
    gives: "dyn",
    call: () => {
      throw new Error("the risk engine is down");
    },
  },
  "acme.risk.v1.Never": { takes: [], gives: "dyn", call: () => new Promise(() => {}) },
  score: { takes: ["string"], gives: "int", call: (name) => String(name).length },
  "acme.user.v1.HasApp": { takes: ["dyn", "string"], gives: "bool", call: (_, app) => app === "stubbed" },
};

/** What expressions give over a state, with the trigger's data. */
async function over(fixture: Fixture | undefined, users: number | undefined, celFunctions = STUBS) {
  const options = fixture ? { fixture } : { seed: 1, users };
  let done = () => {};
  const kept = new Promise<void>((resolve) => {
    done = resolve;
  });
  const opened = await new Promise<Parameters<Parameters<typeof withState>[1]>[0]>((resolve) => {
    void withState(options, async (state) => {
      await state.state.ensure();
      resolve(state);
      await kept;
    });
  });
  const lookUps = createLookUps(opened.storage, { celNamespace: "acme", celFunctions });
  const expressions = createExpressions({ lookUps });
  return {
    expressions,
    async value(expression: string, trigger: object = {}): Promise<unknown> {
      const evaluation = { context: JSON.stringify({ trigger }), now: NOW, automationId: "any" };
      const outcome = await expressions.values(evaluation, [expression]);
      return outcome.ok ? JSON.parse(outcome.value[0] as string) : outcome.failure;
    },
    async stop() {
      await expressions.stop();
      done();
    },
  };
}

const small = await over(FIXTURE, undefined);
afterAll(() => small.stop());
const USERS = "acme.directory.users.v1";

describe("look-ups", () => {
  it.each<[expression: string, value: unknown]>([
    [`${USERS}.FindByEmail('CYD@example.com').id`, "cyd"],
    [`${USERS}.GetByID('ada').displayName`, "ada"],
    [`${USERS}.GetByID('ada').display_name`, "ada"],
    [`${USERS}.GetByID('ada')['job_title']`, "Lead"],
    [`has(${USERS}.GetByID('ada').job_title)`, true],
    [`has(${USERS}.GetByID('ada').jobb_title)`, false],
    [`${USERS}.GetByID('ada').profile.level`, 3],
    [`${USERS}.FindByName('bob').id`, "bob"],
    [`${USERS}.FindByName('nobody') == null`, true],
    [`${USERS}.FindByName('') == null`, true],
    [`${USERS}.FindByAttribute('department', 'Research').map(u, u.id)`, ["ada", "bob"]],
    [`${USERS}.FindByAttribute('profile.team', 'red').map(u, u.id)`, ["bob"]],
    [`${USERS}.FindByAttribute('profile.level', '3').map(u, u.id)`, ["ada"]],
    // A manager who is not there is none.
    [`${USERS}.GetManagers(${USERS}.GetByID('cyd')).map(u, u.id)`, ["ada"]],
    [`${USERS}.GetManagers({'id': 'ada'})`, []],
    [`${USERS}.DirectReports({'id': 'ada'}).map(u, u.id)`, ["bob", "cyd"]],
    [`${USERS}.DirectReports([{'id': 'ada'}, {'id': 'bob'}]).size()`, 2],
    [`${USERS}.DirectReports([])`, []],
    ["acme.directory.apps.v1.GetEntitlementMembers('billing', 'member').map(u, u.id)", ["bob", "ada"]],
    ["acme.directory.apps.v1.GetEntitlementMembers('billing', 'e-1').map(u, u.id)", ["ada"]],
    ["acme.directory.apps.v1.GetEntitlementMembers('nowhere', 'e-1')", []],
    ["acme.user.v1.HasEntitlement({'id': 'ada'}, 'billing', 'admin')", true],
    ["acme.user.v1.HasEntitlement({'id': 'bob'}, 'billing', 'admin')", false],
    [
      "acme.user.v1.ListGrants({'id': 'bob'})",
      [{ appId: "billing", entitlementId: "e-2", slug: "member", createdAt: "2026-01-01T00:00:00.000Z" }],
    ],
    ["acme.user.v1.ListGrants({'id': 'ada'}).map(g, g.entitlement_id)", ["e-1", "e-2"]],
    // What is decided without a look-up does not wait for it, as CEL says of every error.
    [`true || ${USERS}.GetByID('nobody').id == ''`, true],
    [`${USERS}.GetByID('nobody').id == '' || true`, true],
    [`['ada', 'nobody'].exists(id, ${USERS}.GetByID(id).department == 'Research')`, true],
    [
      `['ada', 'bob', 'cyd'].map(id, ${USERS}.GetByID(id).email)`,
      ["ada@example.com", "bob@example.com", "Cyd@Example.com"],
    ],
  ])("%s gives %j", async (expression, expected) => {
    expect(await small.value(expression)).toEqual(expected);
  });

  it.each<[expression: string, message: RegExp]>([
    [`${USERS}.FindByEmail('x@example.com')`, /there is no user with the email "x@example.com"/],
    [`${USERS}.FindByEmail('')`, /there is no user with the email ""/],
    [`${USERS}.GetManagers({'id': 'dan'})`, /more than 1000 users are the managers/],
    [`${USERS}.GetByID('')`, /there is no user with the id ""/],
    [`${USERS}.GetByID(5)`, /no matching overload/],
    [`${USERS}.GetByID(null)`, /no matching overload/],
    [`${USERS}.GetManagers('ada')`, /a user is a map with the member id/],
    [`${USERS}.GetManagers({'id': 5})`, /a user is a map with the member id/],
    [`${USERS}.GetManagers({'id': 'nobody'})`, /there is no user with the id "nobody"/],
    [`${USERS}.FindByAttribute('departement', 'x')`, /users have no attribute "departement"/],
    [`${USERS}.FindByAttribute("x') OR 1=1 --", 'x')`, /users have no attribute/],
    [`${USERS}.FindByEmail(ctx.trigger.long)`, /longer than 65536 characters/],
    [`ctx.trigger.many.map(id, ${USERS}.FindByName(id))`, /more than 100 look-ups/],
    [`${USERS}.DirectReports(ctx.trigger.many.map(id, {'id': id}))`, /more than 100 users/],
  ])("%s fails", async (expression, message) => {
    const trigger = { long: "a".repeat(70_000), many: Array.from({ length: 150 }, (_, n) => `u-${n}`) };
    const failure = await small.value(expression, trigger);
    expect(failure).toMatchObject({ code: "EXPRESSION_FAILED", message: expect.stringMatching(message) });
  });
});

describe("a stub", () => {
  it("is called once for the same arguments, with JSON", async () => {
    const expression = "acme.risk.v1.Score('a', 2) + acme.risk.v1.Score('a', 2) + acme.risk.v1.Score('b', 2)";
    expect(await small.value(expression)).toBe(21);
    expect(asked).toEqual([
      ["a", 2],
      ["b", 2],
    ]);
  });

  it("stands in the place of a look-up of the same name", async () => {
    expect(await small.value("acme.user.v1.HasApp(null, 'stubbed')")).toBe(true);
  });

  it.each<[expression: string, message: RegExp]>([
    ["acme.risk.v1.Score('a', 'b')", /no matching overload/],
    ["acme.risk.v1.Wrong()", /acme.risk.v1.Wrong gives a string, and not int/],
    ["acme.risk.v1.Fails()", /the risk engine is down/],
    ["acme.risk.v1.Until()", /is no timestamp/],
  ])("fails the step as its own mistake: %s", async (expression, message) => {
    const failure = await small.value(expression);
    expect(failure).toMatchObject({ code: "EXPRESSION_FAILED", message: expect.stringMatching(message) });
  });

  it("that never answers ends with the time of an evaluation", async () => {
    expect(await small.value("acme.risk.v1.Never()")).toMatchObject({ code: "EXPRESSION_TIMEOUT" });
  });

  it.each<[options: object, message: string]>([
    [{ celNamespace: "ac-me" }, "celNamespace must be a name, or names with dots between them, such as acme"],
    [{ celNamespace: "ctx" }, "celNamespace must be"],
    [{ celNamespace: "a..b" }, "celNamespace must be"],
    [{ celFunctions: { "a b": STUBS["acme.risk.v1.Wrong"] } }, 'no expression can call: "a b"'],
    [{ celFunctions: { f: null } }, "celFunctions.f must be an object"],
    [
      { celFunctions: { f: { takes: ["text"], gives: "int", call() {} } } },
      "celFunctions.f.takes must be a list of",
    ],
    [{ celFunctions: { f: { takes: [], give: "int", call() {} } } }, "did you mean gives?"],
    [{ celFunctions: { f: { takes: [], gives: "int" } } }, "celFunctions.f.call is missing"],
  ])("and a namespace are refused by their name: %j", (options, message) => {
    expect(() => checkCelOptions(options)).toThrow(message);
  });
});

describe("times", () => {
  it.each<[expression: string, value: unknown]>([
    ["now()", "2026-11-27T20:15:30.250Z"],
    ["now() - duration('720h') < timestamp('2026-11-01T00:00:00Z')", true],
    // Python's zoneinfo gives these, the hours that occur twice or not at all among them.
    ["time.parse('2026-03-29', 'date', 'Europe/Berlin')", "2026-03-28T23:00:00Z"],
    ["time.parse('2026-10-25 02:30:00', 'datetime', 'Europe/Berlin')", "2026-10-25T00:30:00Z"],
    ["time.parse('2026-03-29 02:30:00', 'datetime', 'Europe/Berlin')", "2026-03-29T01:30:00Z"],
    ["time.parse('2018-11-04', 'date', 'America/Sao_Paulo')", "2018-11-04T03:00:00Z"],
    ["time.parse('2011-12-31 06:00:00', 'datetime', 'Pacific/Apia')", "2011-12-30T16:00:00Z"],
    ["time.parse('0150-05-05 05:05:05', 'datetime', 'America/New_York')", "0150-05-05T10:01:07Z"],
    ["time.parse('2026-01-02', 'date', '+05:30')", "2026-01-01T18:30:00Z"],
    ["time.parse('2026-01-02T03:04:05+01:00', 'rfc3339')", "2026-01-02T02:04:05Z"],
    ["time.format(now(), 'rfc3339', 'Asia/Kolkata')", "2026-11-28T01:45:30.250+05:30"],
    ["time.format(now(), 'datetime', '-03:30')", "2026-11-27 16:45:30"],
    ["time.format(now(), 'date')", "2026-11-27"],
    ["time.format(now(), 'time', 'America/New_York')", "15:15:30"],
    ["time.unix(1)", "1970-01-01T00:00:01Z"],
    ["time.start_of(now(), 'week')", "2026-11-23T00:00:00Z"],
    ["time.start_of(now(), 'quarter')", "2026-10-01T00:00:00Z"],
    ["time.truncate(now(), 'hour', 'Asia/Kolkata')", "2026-11-27T19:30:00Z"],
    ["time.start_of(timestamp('1969-12-31T23:59:59Z'), 'minute')", "1969-12-31T23:59:00Z"],
    ["time.start_of(timestamp('2026-07-01T00:00:00Z'), 'year', 'America/New_York')", "2026-01-01T05:00:00Z"],
    ["time.end_of(now(), 'month')", "2026-11-30T23:59:59.999999999Z"],
    ["time.end_of(timestamp('9999-12-31T23:59:59Z'), 'year')", "9999-12-31T23:59:59.999999999Z"],
    ["time.end_of(timestamp('2024-02-10T00:00:00Z'), 'month')", "2024-02-29T23:59:59.999999999Z"],
    [
      "time.end_of(timestamp('2026-10-25T10:00:00Z'), 'day', 'Europe/Berlin')",
      "2026-10-25T22:59:59.999999999Z",
    ],
    // Where clocks move by half an hour, and the two hours of one name.
    [
      "time.end_of(timestamp('2026-04-04T14:15:00Z'), 'hour', 'Australia/Lord_Howe')",
      "2026-04-04T15:29:59.999999999Z",
    ],
    [
      "time.end_of(timestamp('2026-04-04T15:15:00Z'), 'hour', 'Australia/Lord_Howe')",
      "2026-04-04T15:29:59.999999999Z",
    ],
    [
      "time.end_of(timestamp('2026-10-03T15:15:00Z'), 'hour', 'Australia/Lord_Howe')",
      "2026-10-03T15:29:59.999999999Z",
    ],
    [
      "time.end_of(timestamp('2026-10-03T15:45:00Z'), 'hour', 'Australia/Lord_Howe')",
      "2026-10-03T15:59:59.999999999Z",
    ],
    [
      "time.end_of(timestamp('2026-10-25T00:15:00Z'), 'hour', 'Europe/Berlin')",
      "2026-10-25T00:59:59.999999999Z",
    ],
    [
      "time.end_of(timestamp('2026-10-25T01:15:00Z'), 'hour', 'Europe/Berlin')",
      "2026-10-25T01:59:59.999999999Z",
    ],
    ["time.end_of(timestamp('2026-01-01T05:00:00Z'), 'hour')", "2026-01-01T05:59:59.999999999Z"],
    ["time.end_of(now(), 'minute')", "2026-11-27T20:15:59.999999999Z"],
    ["time.format(timestamp('0150-05-05T10:01:07Z'), 'rfc3339', 'America/New_York')", "0150-05-05T10:01:07Z"],
  ])("%s gives %j", async (expression, expected) => {
    expect(await small.value(expression)).toEqual(expected);
  });

  it.each([
    "time.parse(ctx.trigger.text, 'date')",
    "time.parse('2026-02-30', 'date')",
    "time.parse('2026-01-01 24:00:00', 'datetime')",
    "time.parse('2026-01-01', ctx.trigger.text)",
    "time.format(now(), 'date', ctx.trigger.text)",
    "time.format(now(), 'date', '2026-01-01T00:00:00+01:00')",
    "time.parse('+002026-01-01', 'date')",
    "time.start_of(now(), ctx.trigger.text)",
    "time.start_of('2026-01-01', 'day')",
    "time.unix(253402300800)",
    "time.format(timestamp('9999-12-31T23:59:59Z'), 'date', 'Asia/Tokyo')",
    "time.start_of(timestamp('0001-01-01T00:00:00Z'), 'day', 'Europe/Berlin')",
  ])("%s fails", async (expression) => {
    expect(await small.value(expression, { text: "x".repeat(500) })).toMatchObject({
      code: "EXPRESSION_FAILED",
    });
  });
});

describe("what there is not is refused when it is saved", () => {
  it.each<[expression: string, message: string]>([
    [
      `${USERS}.FindByEmial('x')`,
      `1:24: no function is named ${USERS}.FindByEmial; did you mean ${USERS}.FindByEmail?`,
    ],
    ["other.user.v1.HasApp(ctx.trigger, 'x')", "did you mean acme.user.v1.HasApp?"],
    ["acme.risk.v1.Scor('x')", "did you mean acme.risk.v1.Score?"],
    [`${USERS}.GetByID()`, `${USERS}.GetByID() does not take 0 arguments`],
    ["noow()", "no function is named noow; did you mean now?"],
    ["now(1)", "now() with 1 arguments is no function"],
    ["ctx.trigger.a.lowerAscci()", "did you mean lowerAscii?"],
    ["time.prase('a', 'date')", "no function is named time.prase; did you mean time.parse?"],
    ["time.parse(ctx.trigger.a, 'datetme')", 'there is no layout "datetme"; did you mean datetime?'],
    ["time.parse(ctx.trigger.a, 'time')", "it is one of rfc3339, date, datetime"],
    ["time.format(now(), 'date', 'Europ/Berlin')", 'there is no time zone "Europ/Berlin"'],
    ["time.end_of(now(), 'qarter')", 'there is no unit "qarter"; did you mean quarter?'],
    ["emal.contains('x')", "nothing is named emal"],
    [`${"a".repeat(150)}.b()`, `no function is named ${"a".repeat(150)}.b`],
  ])("%s", async (expression, message) => {
    const outcome = await small.expressions.check(expression);
    expect(outcome).toMatchObject({
      ok: false,
      failure: { code: "EXPRESSION_INVALID", message: expect.stringContaining(message) },
    });
  });
});

it("a stub without dots in its name is called, and may have constant arguments", async () => {
  expect(await small.expressions.check("score('ada') + score('ada') > 5")).toMatchObject({ ok: true });
  expect(await small.value("score('ada') + score('ada') > 5")).toBe(true);
  expect(await small.expressions.check("score(5)")).toMatchObject({
    failure: { message: expect.stringContaining("no matching overload") },
  });
});

it("a look-up over very many users is bounded", async () => {
  const large = await over(undefined, 2_000);
  expect(await large.value(`${USERS}.FindByAttribute('profile.absent', 'x').size()`)).toBe(0);
  expect(await large.value(`${USERS}.FindByAttribute('directoryStatus', 'ENABLED').size()`)).toMatchObject({
    code: "EXPRESSION_FAILED",
    message: expect.stringContaining("more than 1000 users fit"),
  });
  await large.stop();
});

describe("the look-ups of an evaluation", () => {
  const SIGNATURES = [{ name: "acme.text", takes: ["int"], gives: "string" }] as const;
  const expression = Array.from({ length: 20 }, (_, n) => `acme.text(${n}) == 'x'`).join(" || ");
  const evaluation = { context: "{}", now: NOW, automationId: "any" };

  it("let others in between the answers", async () => {
    let turns = 0;
    const seen: number[] = [];
    const answer = async () => {
      seen.push(turns);
      setImmediate(() => (turns += 1));
      return { json: '""' };
    };
    const own = createExpressions({ lookUps: { signatures: [...SIGNATURES], answer } });
    await own.values(evaluation, [expression]);
    await own.stop();
    expect(seen).toEqual(Array.from({ length: 20 }, (_, n) => n));
  });

  it("end with the answer that is too much", async () => {
    let asked = 0;
    const answer = async () => {
      asked += 1;
      return { json: JSON.stringify("a".repeat(2 ** 21)) };
    };
    const own = createExpressions({ lookUps: { signatures: [...SIGNATURES], answer } });
    const outcome = await own.values(evaluation, [expression]);
    await own.stop();
    expect(outcome).toMatchObject({ ok: false, failure: { code: "EXPRESSION_TOO_LARGE" } });
    expect(asked).toBe(2);
  });
});

describe("a search through all users", () => {
  const PARTS = 30;
  /** Look-ups over users that are searched in so many parts. */
  function searching(onPart: (part: number) => void) {
    const searchPart = (_: unknown, after: number) => {
      onPart(after);
      return { found: [], next: after + 1 < PARTS ? after + 1 : undefined };
    };
    const { answer } = createLookUps({ users: { searchPart } } as never, {});
    const wanted = { name: "directory.users.v1.FindByAttribute", args: ["department", "x"] };
    return (signal: AbortSignal) => answer(wanted, signal);
  }

  it("lets others in between its parts", async () => {
    let turns = 0;
    const search = searching(() => setImmediate(() => (turns += 1)));
    expect(await search(new AbortController().signal)).toEqual({ json: "[]" });
    expect(turns).toBeGreaterThanOrEqual(PARTS - 1);
  });

  it("ends with the time of its evaluation", async () => {
    const ending = new AbortController();
    const parts: number[] = [];
    const search = searching((part) => {
      parts.push(part);
      if (part === 3) ending.abort(new Error("over"));
    });
    await expect(search(ending.signal)).rejects.toThrow("over");
    await new Promise((resolve) => setImmediate(resolve));
    expect(parts).toEqual([0, 1, 2, 3]);
  });
});
