// A call of the API in the list.
import type { CallRow } from "../../src/inspector/contract.js";
import type { RowParts } from "../list/list-row.js";
import { VisibleText } from "../parts/visible-text.js";

export function callParts({ method, target, operation, client, durationMs, isFault }: CallRow): RowParts {
  return {
    title: (
      <span class="mono call">
        <VisibleText text={`${method} ${target.replace(/\?.*/s, "?…")}`} />
      </span>
    ),
    facts: (
      <>
        <span class="operation">{operation ?? "no operation"}</span>
        <span>{durationMs} ms</span>
        {isFault && <span>fault</span>}
        <span>{client === undefined ? "no client" : <VisibleText text={client} />}</span>
      </>
    ),
  };
}
