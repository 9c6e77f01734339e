// Runs what may fail and says so in a note.
import { useCallback, useEffect, useState } from "preact/hooks";
import type { Note } from "./toast.js";

const NOTE_MS = 5_000;

/** The note that is shown, and a way to run what may fail and says so in a note. */
export function useNote(): [Note | undefined, (work: () => Promise<string | undefined>) => Promise<void>] {
  const [note, setNote] = useState<Note>();
  useEffect(() => {
    const timer = setTimeout(() => setNote(undefined), NOTE_MS);
    return () => clearTimeout(timer);
  }, [note]);
  const attempt = useCallback(async (work: () => Promise<string | undefined>) => {
    try {
      const text = await work();
      if (text !== undefined) setNote({ text });
    } catch (error) {
      setNote({ text: error instanceof Error ? error.message : String(error), isProblem: true });
    }
  }, []);
  return [note, attempt];
}
