/** A row with a resource in it, as JSON. */
export interface Stored {
  readonly document: string;
}

/** When a resource was created, for its column; one that does not say so is the oldest. */
export function createdAt(resource: { readonly createdAt?: string | undefined }): number {
  return resource.createdAt === undefined ? 0 : Date.parse(resource.createdAt);
}

/** A time as the wire has it. */
export function timestamp(ms: number): string {
  return new Date(ms).toISOString();
}
