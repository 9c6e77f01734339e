// What the server has, as it changes.
import { useEffect, useState } from "preact/hooks";
import type { Api } from "../live/api.js";
import { type LiveState, NOTHING, startInspector } from "../live/inspector.js";

export function useLive(api: Api): LiveState {
  const [state, setState] = useState(NOTHING);
  useEffect(() => startInspector(api, setState), [api]);
  return state;
}
