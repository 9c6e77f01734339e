// Runs what may fail and says so in a note.
import { useCallback, useEffect, useState } from "preact/hooks";
import type { Note } from "./toast.js";

const NOTE_MS = 5_000;

/** Runs what may fail; what it returns is said, and why it failed. */
export type Attempt = (work: () => Promise<string | undefined>) => Promise<void>;

/** The note that is shown, and a way to run what may fail and says so in a note. */
export function useNote(): [Note | undefined, Attempt] {
  const [note, setNote] = useState<Note>();
  useEffect(() => {
    const timer = setTimeout(() => setNote(undefined), NOTE_MS);
    return () => clearTimeout(timer);
  }, [note]);
  const attempt = useCallback<Attempt>(async (work) => {
    try {
      const text = await work();
      if (text !== undefined) setNote({ text });
    } catch (error) {
      setNote({ text: error instanceof Error ? error.message : String(error), isProblem: true });
    }
  }, []);
  return [note, attempt];
}
