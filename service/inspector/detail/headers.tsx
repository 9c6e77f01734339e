// Shows header lines as they were.
import { Fold } from "../parts/fold.js";
import { VisibleText } from "../parts/visible-text.js";
import { sizeOf } from "../text/bytes.js";

/** A longer value is folded. */
const MAX = 400;

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
            {value.length <= MAX ? (
              <VisibleText text={value} />
            ) : (
              <Fold
                summary={
                  <>
                    <VisibleText text={value.slice(0, 30)} />… {sizeOf(value.length)}
                  </>
                }
              >
                {() => <VisibleText text={value} />}
              </Fold>
            )}
          </dd>
        </>
      ))}
    </dl>
  );
}
