// What a worker without an observer says on standard error.
import type { Observer } from "../sender/observe.js";

/** So many lines at most; whoever wants more observes. */
const MAX_LINES = 100;

/**
 * What a worker without an observer says on standard error: warnings, and when the store cannot be reached. The same
 * line is said once.
 */
export function consoleNotices(): Observer {
  const said = new Set<string>();
  return (activity) => {
    const line = lineOf(activity);
    if (line === undefined || said.has(line) || said.size === MAX_LINES) return;
    said.add(line);
    console.warn(`hookproof outbox: ${line} (once; observe tells more, quiet: true nothing)`);
  };
}

function lineOf(activity: Parameters<Observer>[0]): string | undefined {
  if (activity.type === "warning") {
    const { url, message } = activity;
    return url === "" ? message : `${url}: ${message}`;
  }
  if (activity.type === "store-changed" && !activity.available)
    return `The store cannot be used (${activity.code}${activity.reason ? `: ${activity.reason}` : ""}): events stay where they are, and it is tried again.`;
  return undefined;
}
