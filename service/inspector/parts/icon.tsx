// Signs that stand next to words.
const PATHS = {
  accepted: "m3.5 8.5 3 3 6-7",
  duplicate: "M4 6h8M4 10h8",
  malformed: "M8 3.5v5.2M8 12.3v.1",
  refused: "m4.5 4.5 7 7m0-7-7 7",
  failed: "M9 2.5 4.5 9h3.8L7 13.5 11.5 7H7.7z",
  "not-reached": "M4.5 8h7",
  replay: "M12.5 8a4.5 4.5 0 1 1-1.5-3.4M12.5 2.5v2.8H9.7",
  copy: "M6 5.5V3.8c0-.4.3-.8.8-.8h5.4c.5 0 .8.4.8.8v5.4c0 .5-.3.8-.8.8h-1.7M3.8 6h5.4c.5 0 .8.3.8.8v5.4c0 .5-.3.8-.8.8H3.8a.8.8 0 0 1-.8-.8V6.8c0-.5.3-.8.8-.8z",
  back: "m9.5 3.5-5 4.5 5 4.5",
  down: "m4.5 6.5 3.5 3.5 3.5-3.5",
  search: "M7.2 11.4a4.2 4.2 0 1 0 0-8.4 4.2 4.2 0 0 0 0 8.4zM10.4 10.4 13.5 13.5",
  more: "M3.5 8v.1M8 8v.1M12.5 8v.1",
  force: "M3 4.5h6.5M12 4.5h1M3 11.5h1M6.5 11.5H13M9.7 2.8v3.4M4.3 9.8v3.4",
  file: "M8 2.5v7m0 0L5.3 6.8M8 9.5l2.7-2.7M3 12.8h10",
  help: "M5.8 6a2.2 2.2 0 1 1 3.3 1.9c-.7.4-1.1.8-1.1 1.6M8 12.4v.1",
  close: "m4 4 8 8m0-8-8 8",
  pin: "M8 10.5V14M5.5 2.5h5M6.3 2.5v4L4 9v1.5h8V9L9.7 6.5v-4",
  send: "M2.5 8 13.5 3 10 13.5 7.5 9z",
  compare: "M2.5 4h5v8h-5zM8.5 4h5v8h-5z",
  follow: "M8 3v8.5M4.5 8 8 11.5 11.5 8M4 13.5h8",
} as const;

export type IconName = keyof typeof PATHS;

/** A sign that stands next to a word, never in its place; the word is what is read out. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
