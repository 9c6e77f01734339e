// Shows one of several with its label.
interface ChoiceProps<Value extends string> {
  readonly label: string;
  readonly value: Value;
  readonly options: readonly Option<Value>[];
  onChoose(value: Value): void;
}

interface Option<Value extends string> {
  readonly value: Value;
  /** What is read; the value itself where there is none. */
  readonly words?: string;
  readonly isDisabled?: boolean;
}

/** One of several, with its label. */
export function Choice<Value extends string>({ label, value, options, onChoose }: ChoiceProps<Value>) {
  return (
    <label>
      {label}
      <select value={value} onChange={(event) => onChoose(event.currentTarget.value as Value)}>
        {options.map(({ value, words = value, isDisabled = false }) => (
          <option key={value} value={value} disabled={isDisabled}>
            {words}
          </option>
        ))}
      </select>
    </label>
  );
}
