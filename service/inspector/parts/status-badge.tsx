// A status with its sign.
import { kindOf, statusText } from "./answer-kind.js";
import { Icon } from "./icon.js";

export function StatusBadge({ status }: { status: number }) {
  const kind = kindOf(status);
  return (
    <span class={`badge ${kind}`}>
      <Icon name={kind} />
      {statusText(status)}
    </span>
  );
}
