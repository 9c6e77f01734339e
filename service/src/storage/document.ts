// Resources as JSON next to the columns they are found by.
/** A row with a resource in it, as JSON. */
export interface Stored {
  readonly document: string;
}

/** Before every time there is, for pages that begin with the oldest. */
export const BEFORE_ALL = -8.64e15;

/**
 * A time of the wire in milliseconds since the epoch.
 *
 * @throws {RangeError} for a text that is none: NaN in its place would be stored as no time at all
 */
export function instant(text: string): number {
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) throw new RangeError(`not a time: ${JSON.stringify(text.slice(0, 100))}`);
  return ms;
}

/** When a resource was created, for its column; one that does not say so is the oldest. */
export function createdAt(resource: { readonly createdAt?: string | undefined }): number {
  return resource.createdAt === undefined ? 0 : instant(resource.createdAt);
}

/** A time as the wire has it. */
export function timestamp(ms: number): string {
  return new Date(ms).toISOString();
}
