import { describe, expect, it } from "vitest";
import { parseTemplates, TemplateError, type Templates } from "../../service/src/automations/template.js";
import fc from "../kit/fast-check.js";

const expressionsIn = (text: string) =>
  parseTemplates({ text }).expressions.map(({ expression }) => expression);

describe("a template", () => {
  it.each<[text: string, expressions: string[]]>([
    ["no expression", []],
    ["{{ ctx.trigger.email }}", ["ctx.trigger.email"]],
    ["Hello {{ctx.a}}, {{ ctx.b }}!", ["ctx.a", "ctx.b"]],
    ['{{ {"a": {"b": 1}} }}', ['{"a": {"b": 1}}']],
    ['{{ {"a":{"b":1}}}}', ['{"a":{"b":1}}']],
    ['{{ "}}" + "{{" }}', ['"}}" + "{{"']],
    ["{{ '\\'}}' }}", ["'\\'}}'"]],
    ['{{ r"\\" }}', ['r"\\"']],
    ['{{ """a"}}""" }}', ['"""a"}}"""']],
    ["} { }} single braces { stay", []],
    ["{{}}", [""]],
  ])("%j has the expressions %j", (text, expected) => {
    expect(expressionsIn(text)).toEqual(expected);
  });

  it.each(["{{ ctx.a", "{{ ctx.a }", "a {{ {1: 2} ", "{{ } }}"])("%j is not closed", (text) => {
    expect(() => parseTemplates({ mail: { to: ["x", text] } })).toThrow(TemplateError);
    try {
      parseTemplates({ mail: { to: ["x", text] } });
    } catch (error) {
      expect((error as TemplateError).path).toBe("mail.to[1]");
    }
  });

  it.each(["'", '"', '"""', "'''", "r'", 'R"'])(
    "with a text that is not closed, %s, is not closed",
    (quote) => {
      for (const end of ["", "}}", "\\", "\\}}", "\n}}"])
        expect(() => parseTemplates({ text: `{{ ${quote}${end}` })).toThrow("not closed");
    },
  );

  it("with a text of more than 65,536 characters is refused, and says where", () => {
    const longest = `{{ a }}${"b".repeat(65_529)}`;
    expect(expressionsIn(longest)).toEqual(["a"]);
    expect(() => parseTemplates({ mail: { to: [`${longest}b`] } })).toThrow("more than 65536 characters");
  });

  it("that is deeper than 20 levels is refused", () => {
    let deep: Templates = { text: "x" };
    for (let level = 0; level < 19; level++) deep = { deep };
    expect(() => parseTemplates(deep)).not.toThrow();
    expect(() => parseTemplates({ deep })).toThrow("levels deep");
    for (let level = 0; level < 50_000; level++) deep = { deep };
    expect(() => parseTemplates(deep)).toThrow("levels deep");
  });

  it("keeps a lone value's type, and writes values into longer texts", () => {
    const templates = parseTemplates({
      lone: "{{ a }}",
      text: "{{ b }} and {{ c }}, {{ d }}",
      list: ["{{ e }}", 1, null, true],
      fixed: { ["__proto__"]: "{{ f }}" },
    });
    const filled = templates.fill(['{"x":[1]}', '"text"', "1.5", '["y"]', "null", '"own"']);
    expect(JSON.stringify(filled)).toBe(
      '{"lone":{"x":[1]},"text":"text and 1.5, [\\"y\\"]","list":[null,1,null,true],"fixed":{"__proto__":"own"}}',
    );
  });

  it("never throws anything else, and keeps every character outside of expressions", () => {
    const pieces = fc.constantFrom("{{", "}}", "{", "}", '"', "'", '"""', "\\", "r", "ctx.a", " ", "é");
    const text = fc.oneof(
      fc.string(),
      fc.array(pieces, { maxLength: 30 }).map((all) => all.join("")),
    );
    fc.assert(
      fc.property(text, (template) => {
        let parsed: ReturnType<typeof parseTemplates>;
        try {
          parsed = parseTemplates({ template });
        } catch (error) {
          expect(error).toBeInstanceOf(TemplateError);
          return;
        }
        const count = parsed.expressions.length;
        const { template: filled } = parsed.fill(new Array(count).fill(JSON.stringify("\u0000")));
        const literal = String(filled).split("\u0000").join("");
        const inside = parsed.expressions.reduce((sum, { expression }) => sum + expression.length, 0);
        expect(literal.length + inside).toBeLessThanOrEqual(template.length);
        if (count === 0) expect(filled).toBe(template);
      }),
      { numRuns: 1_000 },
    );
  });
});
