// The plain form of the two headers is read without the library: what is read so is what the library reads.
import fc from "fast-check";
import { parseDictionary, serializeInnerList } from "structured-headers";
import { expect, it } from "vitest";
import { readSignatures } from "../../src/schemes/http-signature/signature-fields.js";

/** What the library reads: the members with bytes, in the order of their inputs. */
function byLibrary(input: string, signature: string): unknown {
  try {
    const [inputs, signatures] = [parseDictionary(input), parseDictionary(signature)];
    return [...inputs].flatMap(([label, list]) => {
      const bytes = signatures.get(label)?.[0];
      if (!Array.isArray(list[0]) || !(bytes instanceof ArrayBuffer)) return [];
      const names = list[0].map(([name, own]) =>
        typeof name === "string" && own.size === 0 ? name : undefined,
      );
      return [
        {
          names,
          parameters: Object.fromEntries(list[1]),
          shown: serializeInnerList(list as never),
          signature: Buffer.from(bytes).toString("base64"),
        },
      ];
    });
  } catch {
    return undefined;
  }
}

const read = (input: string, signature: string) =>
  readSignatures(input, signature, 8)?.map((one) => ({ ...one, parameters: { ...one.parameters } }));

const text = fc.stringMatching(/^[ !#-[\]-~]{0,12}$/);
const name = fc.oneof(
  fc.constantFrom('"@method"', '"content-type"', '""', '"a\\"b"', '"a";req', "token", "1"),
);
const quoted = text.map((value) => `"${value}"`);
const key = fc.constantFrom(
  "created",
  "keyid",
  "alg",
  "tag",
  "*",
  "a-b.c_d",
  "__proto__",
  "Created",
  "constructor",
);
const value = fc.oneof(
  quoted,
  fc.constantFrom(
    "0",
    "1767225600",
    "01",
    "-1",
    "1.5",
    "999999999999999",
    "9999999999999999",
    "?1",
    ":AA==:",
    '"',
  ),
);
const parameter = fc.oneof(
  fc.tuple(key, value).map(([one, given]) => `;${one}=${given}`),
  fc.constantFrom(";", ";a", "; created=1", ";created=1 "),
);
const inner = fc
  .tuple(fc.array(fc.oneof(name, quoted), { maxLength: 5 }), fc.array(parameter, { maxLength: 4 }))
  .map(([names, parameters]) => `(${names.join(" ")})${parameters.join("")}`);
const label = fc.constantFrom("sig1", "sig1", "s", "*", "S", "1a");
const bytes = fc.oneof(
  fc.uint8Array({ maxLength: 9 }).map((one) => `:${Buffer.from(one).toString("base64")}:`),
  fc.constantFrom(":AB==:", ":AAB=:", ":AAAA", ":A:", "::", ":AA-_:", "1", ":AAAA:;a=1"),
);
const input = fc.oneof(
  fc.tuple(label, inner).map((parts) => parts.join("=")),
  fc
    .array(
      fc.tuple(label, inner).map((parts) => parts.join("=")),
      { maxLength: 3 },
    )
    .map((all) => all.join(", ")),
);
const signature = fc.oneof(
  fc.tuple(label, bytes).map((parts) => parts.join("=")),
  fc
    .array(
      fc.tuple(label, bytes).map((parts) => parts.join("=")),
      { maxLength: 3 },
    )
    .map((all) => all.join(", ")),
);

it("reads what the library reads, and shows it as the library does", () => {
  fc.assert(
    fc.property(input, signature, (one, other) => {
      expect(read(one, other)).toEqual(byLibrary(one, other));
    }),
    { numRuns: 3_000 },
  );
});

it("the usual form, and what is no more than a letter away from it", () => {
  const usual = 'sig1=("@method" "content-type");created=1767225600;keyid="k";alg="hmac-sha256"';
  const mac = "sig1=:LTps/YDlzqYqrk6SoCbGdeWBLOX+MGv4FnB2h9RddpI=:";
  for (const more of ["", ";created=1", ';keyid="k"', ";constructor=1", ";constructor=1;constructor=2"])
    expect(read(usual + more, mac), more).toEqual(byLibrary(usual + more, mac));
  for (let at = 0; at <= usual.length; at++)
    for (const letter of ['"', "\\", ";", "=", " ", ")", "(", ",", "A", "0", "\t", "é", ""]) {
      const changed = usual.slice(0, at) + letter + usual.slice(at + 1);
      expect(read(changed, mac), changed).toEqual(byLibrary(changed, mac));
    }
});

it("takes linear time over what never ends", () => {
  const timed = (text: string) => {
    const start = process.cpuUsage();
    read(text, text);
    read(`sig1=(${text}`, `sig1=:${text}`);
    const { user, system } = process.cpuUsage(start);
    return (user + system) / 1000;
  };
  for (const part of [
    '"a" ',
    '("a"',
    ';a="b"',
    ";a=1",
    'sig1=("a");',
    "A",
    '"',
    "(",
    "a=",
    '\\"',
    "=:AAAA:,",
  ])
    expect(timed(part.repeat(8_192 / part.length)), part).toBeLessThan(500);
});
