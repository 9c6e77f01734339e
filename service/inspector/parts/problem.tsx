// Says at once what is wrong with what was given.
import { VisibleText } from "./visible-text.js";

/** What is wrong, read out as it appears; nothing where nothing is. */
export function Problem({ text }: { text: string | undefined }) {
  if (!text) return null;
  return (
    <p role="alert" class="problem">
      <VisibleText text={text} />
    </p>
  );
}
