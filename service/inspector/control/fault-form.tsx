// Sets what goes wrong with an operation.

import { useState } from "preact/hooks";
import type { SetFault } from "../../src/inspector/contract.js";
import type { Api } from "../live/api.js";
import { Amount } from "../parts/amount.js";
import { Icon } from "../parts/icon.js";
import { VisibleText } from "../parts/visible-text.js";
import { type FaultKind, faultFrom, KINDS, NO_FAULT } from "./fault-from.js";

interface FaultFormProps {
  readonly faults: readonly SetFault[];
  readonly operations: readonly string[];
  readonly onChange: Api["control"];
}

const MAX = 999_999_999;

/** What goes wrong now, and what is to go wrong. */
export function FaultForm({ faults, operations, onChange }: FaultFormProps) {
  const [operation, setOperation] = useState(operations[0] ?? "");
  const [form, setForm] = useState(NO_FAULT);
  const { kind } = form;
  const field = (name: Exclude<keyof typeof form, "kind">) => ({
    value: form[name],
    onInput: (value: string) => setForm({ ...form, [name]: value }),
  });
  const isSingle = kind !== "sequence" && kind !== "rateLimit";

  return (
    <form
      aria-label="Faults"
      onSubmit={(event) => {
        event.preventDefault();
        void onChange("PUT", `faults/${operation}`, faultFrom(form));
      }}
    >
      <h3>Faults</h3>
      {faults.length === 0 && <p class="note">Every operation works.</p>}
      {faults.map(({ operation: of, fault }) => (
        <p class="line" key={of}>
          <b>{of}</b>
          <span class="mono">
            <VisibleText text={JSON.stringify(fault)} />
          </span>
          <button
            type="button"
            aria-label={`Take back the fault of ${of}`}
            onClick={() => onChange("DELETE", `faults/${of}`)}
          >
            <Icon name="close" />
          </button>
        </p>
      ))}
      <div class="pair">
        <label>
          Operation
          <select value={operation} onChange={(event) => setOperation(event.currentTarget.value)}>
            {operations.map((id) => (
              <option key={id}>{id}</option>
            ))}
          </select>
        </label>
        <label>
          What goes wrong
          <select
            value={kind}
            onChange={(event) => setForm({ ...form, kind: event.currentTarget.value as FaultKind })}
          >
            {KINDS.map(([id, words]) => (
              <option key={id} value={id}>
                {words}
              </option>
            ))}
          </select>
        </label>
      </div>
      {kind === "sequence" && (
        <label>
          Statuses, ok, cut and malformed
          <input
            type="text"
            class="mono"
            required
            pattern="\s*([2-5]\d\d|ok|cut|malformed)(\s*,\s*([2-5]\d\d|ok|cut|malformed))*\s*"
            placeholder="503, 503, ok, cut"
            value={form.sequence}
            onInput={(event) => field("sequence").onInput(event.currentTarget.value)}
          />
        </label>
      )}
      {kind === "rateLimit" && (
        <div class="pair">
          <Amount label="Requests that pass" min={0} max={MAX} required {...field("requests")} />
          <Amount label="In so many seconds" min={1} max={86_400} required {...field("windowSeconds")} />
        </div>
      )}
      {kind === "status" && (
        <div class="pair">
          <Amount label="Status" min={200} max={599} required {...field("status")} />
          <Amount
            label="Retry-After, in seconds"
            min={0}
            max={86_400}
            hint="as usual"
            {...field("retryAfter")}
          />
        </div>
      )}
      {isSingle && (
        <div class="pair">
          <Amount
            label="Wait before, in seconds"
            min={0}
            max={600}
            step="any"
            required={kind === "wait"}
            hint="none"
            {...field("waitSeconds")}
          />
          <Amount label="How many requests" min={1} max={MAX} hint="all" {...field("times")} />
        </div>
      )}
      <footer>
        <button type="submit" class="primary">
          Set the fault
        </button>
      </footer>
    </form>
  );
}
