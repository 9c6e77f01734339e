// The line between list and detail, which can be moved.
import { MAX, MIN } from "./use-width.js";

interface SplitterProps {
  /** What is at its left. */
  readonly of: string;
  /** In hundredths of the page. */
  readonly width: number;
  onWidth(width: number): void;
}

/** The line between list and detail: the mouse and the arrow keys move it, a double click puts it back. */
export function Splitter({ of, width, onWidth }: SplitterProps) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a line that can be moved is no hr
    <div
      class="splitter"
      role="separator"
      tabIndex={0}
      aria-orientation="vertical"
      aria-label={`Width of the list: ${of}`}
      aria-valuemin={MIN}
      aria-valuemax={MAX}
      aria-valuenow={Math.round(width)}
      onPointerDown={(event) => {
        event.preventDefault();
        event.currentTarget.setPointerCapture(event.pointerId);
      }}
      onPointerMove={(event) => {
        if (event.currentTarget.hasPointerCapture(event.pointerId))
          onWidth((100 * event.clientX) / document.documentElement.clientWidth);
      }}
      onDblClick={() => onWidth(Number.NaN)}
      onKeyDown={({ key }) => {
        const to = { ArrowLeft: width - 2, ArrowRight: width + 2, Home: MIN, End: MAX }[key];
        if (to !== undefined) onWidth(to);
      }}
    />
  );
}
