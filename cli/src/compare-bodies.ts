/** One thing that differs; undefined where one side does not have it. */
export interface Difference {
  readonly where: string;
  readonly a: string | undefined;
  readonly b: string | undefined;
}

/** What differs between two bodies: members where both are JSON, bytes otherwise. */
export function compareBodies(a: Buffer, b: Buffer): Difference[] {
  if (a.equals(b)) return [];
  const values = [a, b].map(jsonOf);
  const [left, right] = values;
  const members = left && right ? compareValues("body", left.value, right.value) : [];
  if (members.length > 0) return members;
  const at = a.findIndex((byte, index) => byte !== b[index]);
  const first = at < 0 ? Math.min(a.length, b.length) : at;
  return [
    {
      where:
        left && right ? `body, the same JSON in other bytes from byte ${first}` : `body, from byte ${first}`,
      a: excerpt(a, first),
      b: excerpt(b, first),
    },
  ];
}

function jsonOf(body: Buffer): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(body.toString("utf8")) };
  } catch {
    return undefined;
  }
}

function compareValues(where: string, a: unknown, b: unknown): Difference[] {
  if (!isContainer(a) || !isContainer(b) || Array.isArray(a) !== Array.isArray(b)) {
    const [left, right] = [JSON.stringify(a), JSON.stringify(b)];
    return left === right ? [] : [{ where, a: left, b: right }];
  }
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].flatMap((name) =>
    compareValues(`${where}.${name}`, memberOf(a, name), memberOf(b, name)),
  );
}

function memberOf(value: object, name: string): unknown {
  return Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined;
}

function isContainer(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function excerpt(body: Buffer, from: number): string {
  return JSON.stringify(body.subarray(Math.max(0, from - 8), from + 24).toString("utf8"));
}
