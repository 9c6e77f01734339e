// Shows the keys of the keyboard.
import { Dialog } from "../parts/dialog.js";

const KEYS = [
  ["j", "next request, the older one"],
  ["k", "previous request, the newer one"],
  ["/", "search"],
  ["r", "replay the chosen request"],
  ["c", "copy it"],
  ["p", "pin it, or take the pin back"],
  ["f", "follow the newest"],
  ["v", "webhooks or API calls, where there is an API"],
  ["?", "this help"],
  ["Esc", "close; leave the search; forget it"],
] as const;

const FIELDS = [
  ["type:offboarded", "the type of the event has this in it"],
  ["id:0b0f", "its id begins so"],
  ["status:4xx,503", "one of these statuses"],
  ["code:EVENT_DUPLICATE", "the verdict"],
  ["listener: method: note:", "the same for these"],
  ["header:user-agent=curl", "a header line with this in its value"],
  ["is:pinned", "or is:replay, is:test, is:forced, is:imported"],
  ['note:"two words"', "a value with spaces"],
] as const;

/** The keys. */
export function HelpDialog({ version, onClose }: { version: string; onClose(): void }) {
  return (
    <Dialog title="Keys and search" onClose={onClose}>
      <dl class="keys">
        {KEYS.map(([key, what]) => (
          <>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{what}</dd>
          </>
        ))}
      </dl>
      <h3>Search</h3>
      <dl class="keys">
        {FIELDS.map(([field, what]) => (
          <>
            <dt>
              <code>{field}</code>
            </dt>
            <dd>{what}</dd>
          </>
        ))}
      </dl>
      <p class="note">
        A request is listed where every word fits it; words other than these are looked for everywhere. Enter
        goes from the search to the list.
      </p>
      <p class="note">
        In the list the arrow keys work as well. This page and what it shows stay on this machine. Hookproof{" "}
        {version}
      </p>
    </Dialog>
  );
}
