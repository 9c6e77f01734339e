// Shows the alerts that would stand for an outbox.
import type { AlertView } from "../../src/outbox/contract.js";
import { Icon } from "../parts/icon.js";
import { VisibleText } from "../parts/visible-text.js";
import { dateAndTime } from "../text/time.js";

const WORDS: Readonly<Record<AlertView["kind"], string>> = {
  "store-unavailable": "the outbox cannot be asked",
  "window-closes": "an event has waited for more than five days",
  "events-wait": "events have waited for more than 15 minutes",
  backlog: "many events wait",
  "dead-letters": "events were given up",
  "snapshot-held": "a held snapshot slows the claims",
  "listener-down": "its circuit breaker has been open for more than 10 minutes",
};

/** The alerts that would stand, with the names that the rules for Prometheus have. */
export function Alerts({ alerts, total }: { alerts: readonly AlertView[]; total: number }) {
  return (
    <section aria-labelledby="alerts">
      <h2 id="alerts">Alerts that would fire</h2>
      <ul class="alerts">
        {alerts.map(({ kind, listener, at }) => (
          <li key={JSON.stringify([kind, listener])}>
            <span class="state refused">
              <Icon name="refused" />
              {kind}
            </span>{" "}
            {listener !== undefined && (
              <b>
                <VisibleText text={listener} />
              </b>
            )}{" "}
            {WORDS[kind]}, <span class="note">seen since {dateAndTime(at)}</span>
          </li>
        ))}
      </ul>
      {total > alerts.length && <p class="note">{total - alerts.length} more</p>}
    </section>
  );
}
