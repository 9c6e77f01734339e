import { VisibleText } from "../parts/visible-text.js";

/** Header lines as they were, in their order. */
export function Headers({ headers }: { headers: readonly (readonly [name: string, value: string])[] }) {
  return (
    <dl class="headers">
      {headers.map(([name, value]) => (
        <>
          <dt>
            <VisibleText text={name} />
          </dt>
          <dd class="mono">
            <VisibleText text={value} />
          </dd>
        </>
      ))}
    </dl>
  );
}
