// Shows a text of several lines with its label.
interface LinesProps {
  readonly label: string;
  readonly value: string;
  readonly rows: number;
  readonly hint?: string;
  readonly maxLength?: number;
  onInput(value: string): void;
}

/** A text of several lines with its label, as it is sent. */
export function Lines({ label, onInput, hint, ...area }: LinesProps) {
  return (
    <label>
      {label}
      <textarea
        class="mono"
        spellcheck={false}
        placeholder={hint}
        {...area}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
    </label>
  );
}
