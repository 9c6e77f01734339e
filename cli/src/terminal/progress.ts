// A bar of progress on a terminal.
import type { Context } from "../command.js";

const SHOWN_AFTER_MS = 400;
const REDRAWN_EVERY_MS = 100;

/** A bar on stderr for work of many parts; only on a terminal, and only once it has taken a moment. */
export interface Progress {
  /** One part, or as many as are given, is done. */
  advance(count?: number): void;
  /** What goes on when all parts are done, and is not counted. */
  afterwards(what: string): void;
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
  if (stderr.isTTY !== true || global.quiet || global.json)
    return { advance() {}, afterwards() {}, finish() {} };
  const started = Date.now();
  let [done, drawn, after] = [0, false, ""];

  function draw(): void {
    drawn = true;
    const seconds = Math.max(0.001, (Date.now() - started) / 1000);
    const perSecond = done / seconds;
    const rate = perSecond >= 1 || done === 0 ? `${Math.round(perSecond)}/s` : `${perSecond.toFixed(1)}/s`;
    if (total === undefined || after !== "") {
      const known =
        after === "" && done > 0 ? `${done} ${what}  ${rate}` : `${after} ${Math.floor(seconds)} s`;
      stderr.write(`\r\x1b[K${known.trimStart()}`);
      return;
    }
    const filled = Math.round((done / Math.max(total, 1)) * 24);
    const left = done === 0 ? "" : `  ${Math.ceil((total - done) / perSecond)} s left`;
    stderr.write(
      `\r\x1b[K[${"#".repeat(filled)}${"-".repeat(Math.max(0, 24 - filled))}] ${done}/${total}  ${rate}${left}`,
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
    afterwards(words) {
      after = `${words},`;
    },
    finish() {
      clearInterval(timer);
      out.overlay(undefined);
      clear();
    },
  };
}
