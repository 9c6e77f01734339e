// Sets what goes wrong with an operation.

import { useState } from "preact/hooks";
import type { SetFault } from "../../src/inspector/contract.js";
import type { Api } from "../live/api.js";
import { Amount } from "../parts/amount.js";
import { Choice } from "../parts/choice.js";
import { Icon } from "../parts/icon.js";
import { VisibleText } from "../parts/visible-text.js";
import { type FaultKind, faultFrom, KINDS, NO_FAULT } from "./fault-from.js";

interface FaultFormProps {
  readonly faults: readonly SetFault[];
  readonly operations: readonly string[];
  readonly onChange: Api["control"];
}

const MAX = 999_999_999;

/** What an input needs of a member of the form. */
type Field = (name: Exclude<keyof typeof NO_FAULT, "kind">) => {
  value: string;
  onInput(value: string): void;
};

/** What goes wrong now, and what is to go wrong. */
export function FaultForm({ faults, operations, onChange }: FaultFormProps) {
  const [operation, setOperation] = useState(operations[0] ?? "");
  const [form, setForm] = useState(NO_FAULT);
  const field: Field = (name) => ({
    value: form[name],
    onInput: (value) => setForm({ ...form, [name]: value }),
  });

  return (
    <form
      aria-label="Faults"
      onSubmit={(event) => {
        event.preventDefault();
        void onChange("PUT", `faults/${operation}`, faultFrom(form));
      }}
    >
      <h3>Faults</h3>
      <SetFaults faults={faults} onChange={onChange} />
      <div class="pair">
        <Choice
          label="Operation"
          value={operation}
          options={operations.map((id) => ({ value: id }))}
          onChoose={setOperation}
        />
        <Choice
          label="What goes wrong"
          value={form.kind}
          options={KINDS.map(([value, words]) => ({ value, words }))}
          onChoose={(kind) => setForm({ ...form, kind })}
        />
      </div>
      <Details kind={form.kind} field={field} />
      <footer>
        <button type="submit" class="primary">
          Set the fault
        </button>
      </footer>
    </form>
  );
}

function SetFaults({ faults, onChange }: Pick<FaultFormProps, "faults" | "onChange">) {
  if (faults.length === 0) return <p class="note">Every operation works.</p>;
  return (
    <>
      {faults.map(({ operation, fault }) => (
        <p class="line" key={operation}>
          <b>{operation}</b>
          <span class="mono">
            <VisibleText text={JSON.stringify(fault)} />
          </span>
          <button
            type="button"
            aria-label={`Take back the fault of ${operation}`}
            onClick={() => onChange("DELETE", `faults/${operation}`)}
          >
            <Icon name="close" />
          </button>
        </p>
      ))}
    </>
  );
}

/** What the chosen kind of fault asks for. */
function Details({ kind, field }: { kind: FaultKind; field: Field }) {
  const isSingle = kind !== "sequence" && kind !== "rateLimit";
  const sequence = field("sequence");
  return (
    <>
      {kind === "sequence" && (
        <label>
          Statuses, ok, cut and malformed
          <input
            type="text"
            class="mono"
            required
            pattern="\s*([2-5]\d\d|ok|cut|malformed)(\s*,\s*([2-5]\d\d|ok|cut|malformed))*\s*"
            placeholder="503, 503, ok, cut"
            value={sequence.value}
            onInput={(event) => sequence.onInput(event.currentTarget.value)}
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
    </>
  );
}
