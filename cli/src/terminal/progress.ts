// A bar of progress on a terminal.
import type { Io } from "../io.js";

const SHOWN_AFTER_MS = 400;
const REDRAWN_EVERY_MS = 100;

/** A bar on stderr for work of many parts; only on a terminal, and only once it has taken a moment. */
interface Progress {
  /** One part, or as many as are given, is done. */
  advance(count?: number): void;
  finish(): void;
}

/** Starts a bar; `total` is undefined while the length is unknown. */
export function startProgress({ stderr }: Io, quiet: boolean, total: number | undefined): Progress {
  const started = Date.now();
  let done = 0;
  let drawnAt = 0;
  const isShown = () => !quiet && stderr.isTTY === true && Date.now() - started >= SHOWN_AFTER_MS;

  function draw(): void {
    const perSecond = done / Math.max(0.001, (Date.now() - started) / 1000);
    const rate = `${Math.round(perSecond)}/s`;
    if (total === undefined) {
      stderr.write(`\r\x1b[K${done} sent  ${rate}`);
      return;
    }
    const filled = Math.round((done / total) * 24);
    const left = Math.ceil((total - done) / Math.max(perSecond, 0.001));
    stderr.write(
      `\r\x1b[K[${"#".repeat(filled)}${"-".repeat(24 - filled)}] ${done}/${total}  ${rate}  ${left} s left`,
    );
  }

  return {
    advance(count = 1) {
      done += count;
      if (!isShown() || Date.now() - drawnAt < REDRAWN_EVERY_MS) return;
      drawnAt = Date.now();
      draw();
    },
    finish() {
      if (drawnAt > 0) stderr.write("\r\x1b[K");
    },
  };
}
