// Says where an advice is read, as each place has other doors.

/** Where an advice is read: in a program, on the command line, or on the page of an outbox. */
type Surface = "library" | "command" | "outbox";

/** A text that is the same everywhere, or another one on some surfaces. */
export type SurfaceText =
  | string
  | (Readonly<Record<"library" | "command", string>> & { readonly outbox?: string });

/** The text for a surface; on an outbox's page that of a program, unless it has one of its own. */
export function textFor(surface: Surface, text: SurfaceText): string {
  if (typeof text === "string") return text;
  return text[surface] ?? text.library;
}
