import { afterAll, describe, expect, it } from "vitest";
import { createExpressions } from "../../service/src/automations/expressions.js";

const expressions = createExpressions({ timeoutMs: 60_000 });
afterAll(() => expressions.stop());

const TRIGGER = JSON.stringify({
  manager: null,
  nested: { empty: null },
  none: "",
  smile: "😀ab",
  "content-type": "text",
  list: [1, null],
});

async function value(expression: string): Promise<unknown> {
  const evaluation = { context: `{"trigger":${TRIGGER}}`, automationId: "any", now: 0 };
  const outcome = await expressions.values(evaluation, [expression]);
  return outcome.ok ? JSON.parse(outcome.value[0] as string) : outcome.failure.code;
}

const gives = (cases: [expression: string, value: unknown][]) =>
  it.each(cases)("%s gives %j", async (expression, expected) => {
    expect(await value(expression)).toEqual(expected);
  });
const fail = (cases: string[]) =>
  it.each(cases)("%s fails", async (expression) => {
    expect(await value(expression)).toBe("EXPRESSION_FAILED");
  });

describe("a member that is null is there", () => {
  gives([
    ["has(ctx.trigger.manager)", true],
    ["'manager' in ctx.trigger", true],
    ["has(ctx.trigger.nested.empty)", true],
    ["has(ctx.trigger.absent)", false],
    ["'absent' in ctx.trigger", false],
    ["has({'a': null}.a)", true],
    ["null in ctx.trigger.list", true],
    ["{'a': null} == {'b': null}", false],
  ]);
});

describe("a time", () => {
  gives([
    ["timestamp(10)", "1970-01-01T00:00:10Z"],
    ["timestamp(-62135596800)", "0001-01-01T00:00:00Z"],
    ["timestamp(253402300799)", "9999-12-31T23:59:59Z"],
    ["timestamp('2024-02-29T12:00:00.5+01:00')", "2024-02-29T11:00:00.500Z"],
    ["timestamp('2000-12-31T23:59:59Z')", "2000-12-31T23:59:59Z"],
    ["duration('-1.5h')", "-5400s"],
    ["duration('0')", "0s"],
    // Where the machine's own zone has summer time, this hour does not exist in it.
    ["timestamp('2026-03-29T02:30:00Z').getHours()", 2],
    ["timestamp('2026-03-29T02:30:00Z').getHours('Europe/Berlin')", 4],
  ]);
  fail([
    "timestamp('2023-02-30T00:00:00Z')",
    "timestamp('2023-04-31T00:00:00Z')",
    "timestamp('2021-02-29T00:00:00Z')",
    "timestamp('2023-04-30T24:00:00Z')",
    "timestamp('2023-04-30T23:59:60Z')",
    "timestamp('2023-13-01T00:00:00Z')",
    "timestamp('2023-04-30T23:00:00')",
    "timestamp('')",
    "timestamp(253402300800)",
    "timestamp(-62135596801)",
    "duration('')",
    "duration('-')",
  ]);
});

describe("a text that is converted", () => {
  gives([
    ["int('-42')", -42],
    ["int('+42')", 42],
    ["uint('42')", 42],
    ["double('-1.5e3')", -1500],
    ["double('.5') + double('5.')", 5.5],
    ["double('NaN')", "NaN"],
    ["double('-Infinity')", "-Infinity"],
  ]);
  fail([
    "int('')",
    "int(ctx.trigger.none)",
    "int(' 1')",
    "int('1 ')",
    "int('0x10')",
    "int('1.0')",
    "uint('')",
    "uint('-1')",
    "uint('0b1')",
    "double('')",
    "double(' 1')",
    "double('abc')",
    "double('1,5')",
    "double('0x10')",
    "double('1e400')",
  ]);
});

describe("a text counts code points", () => {
  gives([
    ["ctx.trigger.smile.size()", 3],
    ["ctx.trigger.smile.substring(1)", "ab"],
    ["ctx.trigger.smile.substring(0, 1)", "😀"],
    ["ctx.trigger.smile.charAt(0)", "😀"],
    ["ctx.trigger.smile.charAt(1)", "a"],
    ["ctx.trigger.smile.charAt(3)", ""],
    ["ctx.trigger.smile.indexOf('a')", 1],
    ["ctx.trigger.smile.indexOf('b', 1)", 2],
    ["ctx.trigger.smile.indexOf('😀', 1)", -1],
    ["ctx.trigger.smile.lastIndexOf('b')", 2],
    ["ctx.trigger.smile.lastIndexOf('')", 3],
    ["ctx.trigger.smile.split('')", ["😀", "a", "b"]],
    ["ctx.trigger.smile.reverse()", "ba😀"],
    ["ctx.trigger.smile.replace('', '-')", "-😀-a-b-"],
    [`'\\U0001F600' > '\\uFFFF'`, true],
    [`'\\U0001F600' <= '\\uFFFF'`, false],
    [`'a\\uFFFF' < 'a\\U0001F600'`, true],
    ["'ab' >= 'a'", true],
    ["'B' < 'a'", true],
  ]);
  fail(["ctx.trigger.smile.substring(4)", "ctx.trigger.smile.charAt(-1)", "'ab'.substring(2, 1)"]);
});

describe("a limit", () => {
  gives([
    ["'a,b,c'.split(',', 2)", ["a", "b,c"]],
    ["'a,b,c'.split(',', 1)", ["a,b,c"]],
    ["'a,b,c'.split(',', 0)", []],
    ["'a,b,c'.split(',', -1)", ["a", "b", "c"]],
    ["'a,b,c'.split(',', 9)", ["a", "b", "c"]],
    ["'hello'.replace('l', 'L', -1)", "heLLo"],
    ["'hello'.replace('l', 'L', 1)", "heLlo"],
    ["'hello'.replace('l', 'L', 0)", "hello"],
    ["'he'.replace('', '-', 2)", "-h-e"],
    ["''.replace('', '-')", "-"],
    ["'a'.replace('a', '$&')", "$&"],
    ["'aaa'.replace('a', 'aa')", "aaaaaa"],
  ]);
});

describe("a function", () => {
  gives([
    ["matches('abc', 'b')", true],
    ["matches('abc', '^b')", false],
    ["'%.2f %e'.format([5, 5u])", "5.00 5.000000e+00"],
    ["'100%% of %d'.format([5])", "100% of 5"],
    ["1 + 1 // a comment at the end", 2],
  ]);
  fail(["matches('abc', '(')", "'%f'.format(['5'])"]);
});

describe("a macro with two variables", () => {
  gives([
    ["ctx.trigger.nested.all(k, v, k == 'empty' && v == null)", true],
    ["['a', 'b'].exists(i, v, i == 1 && v == 'b')", true],
    ["['a', 'b'].exists_one(i, v, i >= 0)", false],
    ["['a', 'b'].transformList(i, v, i > 0, v + 'x')", ["bx"]],
    ["['a', 'b'].transformMap(i, v, v)", { 0: "a", 1: "b" }],
    ["{'a': 'b'}.transformMapEntry(k, v, {v: k})", { b: "a" }],
    // An inner macro has variables of its own, whatever their names.
    ["[[1, 2], [3]].transformList(i, v, v.transformList(j, w, i * 10 + w))", [[1, 2], [13]]],
    ["[5].transformList(i, v, [7].transformList(v, i, i - v) + [i, v])", [[7, 0, 5]]],
    ["[5].transformList(i, v, [1].map(i, i) + [i])", [[1, 0]]],
    ["[1].map(x, {'k': x}.transformList(k, x, k))", [["k"]]],
  ]);
  fail([
    "dyn(1).all(i, v, true)",
    "{'a': 1, 'b': 1}.transformMapEntry(k, v, {v: k})",
    "[1].transformMapEntry(i, v, v)",
    "{0: 'a', 0u: 'b'}",
  ]);
});

describe("a sum of lists", () => {
  gives([
    ["[1] + [2, 3]", [1, 2, 3]],
    ["([1] + [2] + [3])[2]", 3],
    ["size([] + [] + [1])", 1],
    ["2 in [1] + [2] && !(3 in [1] + [2])", true],
    // Two sums that begin with the same list do not see each other's entries.
    [
      "[[1] + [2]].map(a, [a + [3], a + [4], a, a + a])",
      [
        [
          [1, 2, 3],
          [1, 2, 4],
          [1, 2],
          [1, 2, 1, 2],
        ],
      ],
    ],
    [
      "[1, 2].map(x, [x]).map(y, y + y)",
      [
        [1, 1],
        [2, 2],
      ],
    ],
  ]);

  it("may be as long as a body makes it", async () => {
    const entries = 15_000;
    const context = JSON.stringify({ list: new Array(entries).fill(1) });
    const expression = "ctx.list.map(x, x).map(x, x).transformList(i, x, i).filter(x, x >= 0).map(x, 1)";
    const outcome = await expressions.values({ context, automationId: "long", now: 0 }, [expression]);
    expect(outcome).toEqual({ ok: true, value: [JSON.stringify(new Array(entries).fill(1))] });
  });
});

describe("a field in backquotes", () => {
  gives([
    ["ctx.trigger.`content-type`", "text"],
    ["has(ctx.trigger.`content-type`)", true],
    ["has(ctx.trigger.`content/type`)", false],
    ["[ctx].map(c, c.trigger.`content-type`)", ["text"]],
    ["'`a-b`' + \"`c`\" + r'`' + '''`''' // `d`", "`a-b``c```"],
    ["{'_0': 1, 'a': 2}.`a` + {'_0': 1}._0", 3],
  ]);
  it.each(["`ctx`", "ctx.`trigger`()", "ctx.`a\nb`", "ctx.`a", "ctx.``", "ctx.`é`"])(
    "stands after a dot, and has its characters: %j is no expression",
    async (expression) => {
      expect(await value(expression)).toBe("EXPRESSION_INVALID");
    },
  );
});

describe("what the library cannot read", () => {
  // If one of these is a value one day, docs/service-cel.md says something that is no longer true.
  it.each(["ctx.?trigger", "ctx.trigger[?'a']", "[?ctx.trigger.none]", "{?'a': ctx.trigger.none}"])(
    "optional values: %s",
    async (expression) => {
      expect(await value(expression)).toBe("EXPRESSION_INVALID");
    },
  );
});
