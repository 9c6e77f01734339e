// Shows what differs between two requests.
import type { RequestDetail } from "../../src/inspector/contract.js";
import { sizeOfRow } from "../list/request-row.js";
import type { Api } from "../live/api.js";
import { Section } from "../parts/section.js";
import { VisibleText } from "../parts/visible-text.js";
import { dateAndTime } from "../text/time.js";
import { BodyDiff } from "./body-diff.js";
import { useDetail } from "./use-detail.js";

interface ComparisonProps {
  readonly api: Pick<Api, "request">;
  /** The request that was marked for it. */
  readonly first: number;
  readonly second: RequestDetail;
  onClose(): void;
}

/** What two requests have that differs: verdicts, header lines, bodies. */
export function Comparison({ api, first: n, second, onClose }: ComparisonProps) {
  const first = useDetail(api.request, n, undefined);
  if (first === undefined) return null;
  return (
    <article aria-label="Comparison">
      <header class="summary comparing">
        <h2>
          #{n} and #{second.n}
        </h2>
        <div class="actions">
          <button type="button" onClick={onClose}>
            End the comparison
          </button>
        </div>
      </header>
      {first === "gone" ? (
        <p class="remark">Request #{n} is not kept any more.</p>
      ) : (
        <>
          <Facts first={first} second={second} />
          <Section title="Body">
            {first.bodyBase64 === second.bodyBase64 ? (
              <p>The same bytes.</p>
            ) : (
              <BodyDiff
                label="Differences of the bodies"
                first={first.bodyBase64}
                now={second.bodyBase64}
                words={`− stands in #${n}, + in #${second.n}.`}
              />
            )}
          </Section>
        </>
      )}
    </article>
  );
}

type Fact = readonly [name: string, first: string, second: string];

function Facts({ first, second }: { first: RequestDetail; second: RequestDetail }) {
  const [a, b] = [factsOf(first), factsOf(second)];
  const names = [...new Set([...a.keys(), ...b.keys()])];
  const facts = names.map((name): Fact => [name, a.get(name) ?? "–", b.get(name) ?? "–"]);
  const others = facts.filter(([, one, two]) => one !== two);
  return (
    <Section title="Differences" note={`${facts.length - others.length} lines are the same`}>
      <div class="scrolls">
        <table>
          <thead>
            <tr>
              <td />
              <th scope="col">#{first.n}</th>
              <th scope="col">#{second.n}</th>
            </tr>
          </thead>
          <tbody>
            {others.map(([name, one, two]) => (
              <tr key={name}>
                <th scope="row">
                  <VisibleText text={name} />
                </th>
                <td class="mono">
                  <VisibleText text={one} />
                </td>
                <td class="mono">
                  <VisibleText text={two} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Section>
  );
}

function factsOf(detail: RequestDetail): Map<string, string> {
  const facts = new Map([
    ["status", String(detail.status)],
    ["verdict", detail.reason],
    ["time", dateAndTime(detail.at)],
    ["duration", `${detail.durationMs} ms`],
    ["request", `${detail.method} ${detail.target}`],
    ["size", sizeOfRow(detail)],
  ]);
  for (const [name, value] of detail.headers) {
    const key = name.toLowerCase();
    const before = facts.get(key);
    facts.set(key, before === undefined ? value : `${before}\n${value}`);
  }
  return facts;
}
