// Says where an advice is read, as each place has other doors.

/**
 * Where an advice is read: in a program, on the command line, on the page of an outbox, or there of a dead letter, which is not sent
 * again by itself.
 */
type Surface = "library" | "command" | "outbox" | "dead";

/** A text that is the same everywhere, or another one on some surfaces. */
export type SurfaceText =
  | string
  | (Readonly<Record<"library" | "command", string>> & { readonly outbox?: string; readonly dead?: string });

/** The text for a surface; on an outbox's page that of a program, unless it has one of its own, and so on for its dead letters. */
export function textFor(surface: Surface, text: SurfaceText): string {
  if (typeof text === "string") return text;
  const own = surface === "dead" ? (text.dead ?? text.outbox) : text[surface];
  return own ?? text.library;
}
