// Saves and restores copies of the state.

import { useState } from "preact/hooks";
import type { SavedSnapshot } from "../../src/inspector/contract.js";
import type { Api } from "../live/api.js";
import { Icon } from "../parts/icon.js";

/** Copies of the state: those there are, and another one. */
export function SnapshotForm({
  snapshots,
  onChange,
}: {
  snapshots: readonly SavedSnapshot[];
  onChange: Api["control"];
}) {
  const [name, setName] = useState("");
  const pathOf = (one: string) => `snapshots/${encodeURIComponent(one)}`;
  return (
    <form
      aria-label="Snapshots"
      onSubmit={(event) => {
        event.preventDefault();
        void onChange("PUT", pathOf(name));
        setName("");
      }}
    >
      <h3>Snapshots of the state</h3>
      {snapshots.map(({ name: one, createdAt }) => (
        <p class="line" key={one}>
          <b>{one}</b>
          <span class="note">{createdAt}</span>
          <button
            type="button"
            aria-label={`Restore ${one}`}
            onClick={() => onChange("POST", `${pathOf(one)}/restore`)}
          >
            Restore
          </button>
          <button type="button" aria-label={`Remove ${one}`} onClick={() => onChange("DELETE", pathOf(one))}>
            <Icon name="close" />
          </button>
        </p>
      ))}
      <div class="pair with-button">
        <label>
          Name
          <input
            type="text"
            required
            maxLength={128}
            pattern="[A-Za-z0-9_.:\-]+"
            value={name}
            onInput={(event) => setName(event.currentTarget.value)}
          />
        </label>
        <button type="submit">Save</button>
      </div>
    </form>
  );
}
