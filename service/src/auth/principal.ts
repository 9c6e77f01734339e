// Who makes a request, and what they may do.
/** What a caller may do: a Super Admin everything, a member what no role is asked for. */
export type Role = "super-admin" | "member";

/** Who makes a request. */
export interface Principal {
  readonly clientId: string;
  readonly role: Role;
  /** The user the client acts as; empty for a client that stands for nobody. */
  readonly userId: string;
}
