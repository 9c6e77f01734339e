// Fills the layout of a signing input with the parts of a request.
import type { ListenerWords } from "../../rows/mistake.js";

/**
 * A signing input with {t} for the timestamp, {i} for the event id and {b} for the body; {j} is the body as a string of
 * JSON, {h} its SHA-256 in hex, {u} the listener's URL, {p} its path, {o} its host and {l} its id, as far as they are known.
 */
export type Layout = string;

/** The likeliest layouts with the URL's path, which a listener that verifies it too is asked with. */
export const WITH_PATH: readonly Layout[] = [
  "{p}.{t}.{i}.{b}",
  "{t}.{i}.{p}.{b}",
  "{t}.{i}.{b}.{p}",
  "POST.{p}.{t}.{i}.{b}",
  "POST\n{p}\n{t}\n{i}\n{b}",
  "POST\n{p}\n{t}\n{b}",
  "{t}.{p}.{b}",
  "{u}.{t}.{i}.{b}",
];

/** A listener that verifies one of them. */
export const WITH_PATH_BUG: ListenerWords = {
  family: "input",
  accepts: "signatures over the path too",
  bug: "it verifies the URL's path, or the whole URL, too",
};

/** What a layout is filled with. The URL is empty where it is not known. */
interface LayoutValues {
  readonly timestamp: string;
  readonly eventId: string;
  readonly url?: string;
  /** The SHA-256 of the body in hex. */
  readonly bodyHash?: () => string;
}

/** The text before the body and the text after it; without a body there is one text only. */
export function aroundBody(layout: Layout, values: LayoutValues): [string, string?] {
  const [head = "", tail] = layout.split(/\{[bj]\}/);
  // One pass over the layout: braces inside of a hostile header are neither searched nor replaced.
  const filled = (text: string) =>
    text.replace(/\{([tiuplho])\}/g, (_, name: "t" | "i" | "u" | "p" | "l" | "h" | "o") => {
      const { timestamp, eventId, url = "", bodyHash } = values;
      if (name === "t") return timestamp;
      if (name === "i") return eventId;
      if (name === "h") return bodyHash?.() ?? "";
      if (name === "l") return url.slice(url.lastIndexOf("/") + 1);
      if (name === "o") return hostOf(url);
      return name === "u" ? url : pathOf(url);
    });
  return tail === undefined ? [filled(head)] : [filled(head), filled(tail)];
}

function hostOf(url: string): string {
  return /^https?:\/\/([^/?#]*)/i.exec(url)?.[1] ?? "";
}

function pathOf(url: string): string {
  return url.replace(/^https?:\/\/[^/?#]*/i, "");
}
