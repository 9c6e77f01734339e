// Resets the service at the second click.

import { useState } from "preact/hooks";
import type { Api } from "../live/api.js";

/** Takes everything back, at the second click: what was changed is lost. */
export function ResetButton({ onChange }: { onChange: Api["control"] }) {
  const [isAsked, setIsAsked] = useState(false);
  return (
    <p class="line">
      <span class="note">State, faults, clock and journal go back to what they were at the start.</span>
      <button
        type="button"
        onClick={() => {
          if (isAsked) void onChange("POST", "reset");
          setIsAsked(!isAsked);
        }}
      >
        {isAsked ? "Yes, lose all changes" : "Reset …"}
      </button>
    </p>
  );
}
