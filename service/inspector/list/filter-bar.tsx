// The search and the buttons that filter a list.
import type { ComponentChildren, Ref } from "preact";
import { LIMITS } from "../../src/inspector/contract.js";
import { kindOf, statusText } from "../parts/answer-kind.js";
import { Icon } from "../parts/icon.js";
import type { Filter } from "./filter.js";

interface FilterProps {
  readonly filter: Filter;
  /** What is there before statuses are filtered. */
  readonly rows: readonly { readonly status: number }[];
  /** Where rows come from, such as listeners. */
  readonly sources: { readonly label: string; readonly all: string; readonly ids: readonly string[] };
  readonly search: Ref<HTMLInputElement>;
  onChange(change: Partial<Filter>): void;
  /** Moves the choice while somebody types. */
  onMove(by: number): void;
  /** Somebody is done with typing: the list is next. */
  onLeave(): void;
  /** What stands next to the search, and more buttons next to the statuses. */
  readonly more?: ComponentChildren;
  readonly chips?: ComponentChildren;
}

/** Search, and a button for every status there is, with its count. */
export function FilterBar({
  filter,
  rows,
  sources,
  search,
  more,
  chips,
  onChange,
  onMove,
  onLeave,
}: FilterProps) {
  return (
    <search class="filter">
      <label class="field">
        <Icon name="search" />
        <input
          ref={search}
          type="search"
          placeholder="Search"
          aria-label="Search"
          aria-keyshortcuts="/"
          maxLength={LIMITS.searchCharacters}
          value={filter.text}
          onInput={(event) => onChange({ text: event.currentTarget.value })}
          onKeyDown={(event) => {
            const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
            if (by !== undefined) onMove(by);
            else if (event.key === "Enter" || event.key === "Escape") onLeave();
            else return;
            // The browser would empty the field at Escape; what was found is still wanted.
            event.preventDefault();
          }}
        />
        <kbd>/</kbd>
      </label>
      {sources.ids.length > 1 && (
        <select
          aria-label={sources.label}
          value={filter.source}
          onChange={(event) => onChange({ source: event.currentTarget.value })}
        >
          <option value="">{sources.all}</option>
          {sources.ids.map((id) => (
            <option key={id} value={id}>
              {id}
            </option>
          ))}
        </select>
      )}
      {more}
      <Statuses filter={filter} rows={rows} chips={chips} onChange={onChange} />
    </search>
  );
}

function Statuses({
  filter,
  rows,
  chips,
  onChange,
}: Pick<FilterProps, "filter" | "rows" | "chips" | "onChange">) {
  const counts = new Map<number, number>();
  for (const { status } of rows) counts.set(status, (counts.get(status) ?? 0) + 1);
  const statuses = [...new Set([...counts.keys(), ...filter.statuses])].sort((a, b) => a - b);
  const toggled = (status: number) =>
    filter.statuses.includes(status)
      ? filter.statuses.filter((other) => other !== status)
      : [...filter.statuses, status];

  return (
    <fieldset class="chips">
      <legend class="visually-hidden">Statuses</legend>
      <button
        type="button"
        aria-pressed={filter.statuses.length === 0}
        onClick={() => onChange({ statuses: [] })}
      >
        All <b>{rows.length}</b>
      </button>
      {statuses.map((status) => (
        <button
          type="button"
          key={status}
          class={kindOf(status)}
          aria-pressed={filter.statuses.includes(status)}
          onClick={() => onChange({ statuses: toggled(status) })}
        >
          {statusText(status)} <b>{counts.get(status) ?? 0}</b>
        </button>
      ))}
      {chips}
    </fieldset>
  );
}
