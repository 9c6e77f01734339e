// Shows how long ago something was.
import { useNow } from "../frame/use-now.js";
import { ago } from "../text/time.js";

/** How long ago something was, as time goes by. */
export function Age({ at, nowMs }: { at: number; nowMs(): number }) {
  return <span class="age">{ago(useNow(nowMs) - at)}</span>;
}
