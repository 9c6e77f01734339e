const UNITS: readonly (readonly [ms: number, unit: string])[] = [
  [86_400_000, "d"],
  [3_600_000, "h"],
  [60_000, "m"],
  [1_000, "s"],
];

/** A length of time in its largest unit, such as `5m`. */
export function shownAge(ms: number): string {
  const [size, unit] = UNITS.find(([least]) => ms >= least) ?? [1, "ms"];
  return `${Math.floor(ms / size)}${unit}`;
}
