// Shows a number with its label.
interface AmountProps {
  readonly label: string;
  readonly value: string;
  readonly min: number;
  readonly max: number;
  readonly step?: "any";
  readonly required?: boolean;
  readonly hint?: string;
  onInput(value: string): void;
}

/** A number with its label. */
export function Amount({ label, hint, onInput, ...input }: AmountProps) {
  return (
    <label>
      {label}
      <input
        type="number"
        placeholder={hint}
        {...input}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
    </label>
  );
}
