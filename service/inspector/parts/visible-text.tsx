// Shows text from outside, with what hides or steers marked.
import { type Marking, visible } from "../text/visible.js";

/** Text from outside: characters that would hide or turn the text around them are shown by name. */
export function VisibleText({ text, marking }: { text: string; marking?: Marking }) {
  return (
    <bdi>
      {visible(text, marking).map((stretch) =>
        stretch.hidden ? (
          <span class={stretch.hidden === "space" ? "space" : "hidden-character"} title={stretch.hidden}>
            {stretch.text}
          </span>
        ) : (
          stretch.text
        ),
      )}
    </bdi>
  );
}
