// A bar of progress on a terminal.
import type { Context } from "../command.js";

const SHOWN_AFTER_MS = 400;
const REDRAWN_EVERY_MS = 100;

/** A bar on stderr for work of many parts; only on a terminal, and only once it has taken a moment. */
export interface Progress {
  /** One part, or as many as are given, is done. */
  advance(count?: number): void;
  /** There are so many parts more than was known. */
  extend(count: number): void;
  finish(): void;
}

/**
 * Starts a bar, which is drawn until `finish`, also while nothing advances; `total` is undefined while the length is
 * unknown. Lines that the command writes meanwhile go above it.
 */
export function startProgress(
  { io, global, out }: Pick<Context, "io" | "global" | "out">,
  total: number | undefined,
  what = "sent",
): Progress {
  const { stderr } = io;
  if (stderr.isTTY !== true || global.quiet || global.json) return { advance() {}, extend() {}, finish() {} };
  const started = Date.now();
  let [done, drawn, parts] = [0, false, total];

  function draw(): void {
    drawn = true;
    const seconds = Math.max(0.001, (Date.now() - started) / 1000);
    const perSecond = done / seconds;
    const rate = perSecond >= 1 || done === 0 ? `${Math.round(perSecond)}/s` : `${perSecond.toFixed(1)}/s`;
    if (parts === undefined) {
      const known = done > 0 ? `${done} ${what}  ${rate}` : `${Math.floor(seconds)} s`;
      stderr.write(`\r\x1b[K${known}`);
      return;
    }
    const filled = Math.round((done / Math.max(parts, 1)) * 24);
    const left = done === 0 ? "" : `  ${Math.ceil((parts - done) / perSecond)} s left`;
    stderr.write(
      `\r\x1b[K[${"#".repeat(filled)}${"-".repeat(Math.max(0, 24 - filled))}] ${done}/${parts}  ${rate}${left}`,
    );
  }

  function clear(): void {
    if (drawn) stderr.write("\r\x1b[K");
    drawn = false;
  }

  const timer = setInterval(() => {
    if (Date.now() - started >= SHOWN_AFTER_MS) draw();
  }, REDRAWN_EVERY_MS).unref();
  out.overlay({ clear });
  return {
    advance(count = 1) {
      done += count;
    },
    extend(count) {
      if (parts !== undefined) parts += count;
    },
    finish() {
      clearInterval(timer);
      out.overlay(undefined);
      clear();
    },
  };
}
