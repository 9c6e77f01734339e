// Shows and edits a note on a request.
import { useState } from "preact/hooks";
import { LIMITS } from "../../src/inspector/contract.js";
import { VisibleText } from "../parts/visible-text.js";

interface NoteProps {
  readonly note: string | undefined;
  onNote(note: string): void;
}

/** What somebody wrote about a request, and the place to write it. */
export function NoteLine({ note, onNote }: NoteProps) {
  const [text, setText] = useState<string>();
  if (text === undefined)
    return (
      <p class="note-line">
        {note !== undefined && (
          <>
            <VisibleText text={note} />{" "}
          </>
        )}
        <button type="button" class="link" onClick={() => setText(note ?? "")}>
          {note === undefined ? "Add a note" : "Change the note"}
        </button>
      </p>
    );
  const save = (event: Event) => {
    event.preventDefault();
    onNote(text.trim());
    setText(undefined);
  };
  return (
    <form class="note-line" onSubmit={save}>
      <input
        ref={(input) => input?.focus()}
        aria-label="Note"
        maxLength={LIMITS.noteCharacters}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => event.key === "Escape" && setText(undefined)}
      />
      <button type="submit">Save</button>
    </form>
  );
}
