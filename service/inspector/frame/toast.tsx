// Says what has just been done.
import { VisibleText } from "../parts/visible-text.js";

/** What has just been done, in words. It lies over the page, so that nothing moves. */
export interface Note {
  readonly text: string;
  readonly isProblem?: boolean;
}

/** Says a note, and reads it out. */
export function Toast({ note }: { note: Note | undefined }) {
  return (
    <div class="toast" role="status" aria-live="polite">
      {note && (
        <p class={note.isProblem ? "problem" : ""}>
          <VisibleText text={note.text} />
        </p>
      )}
    </div>
  );
}
