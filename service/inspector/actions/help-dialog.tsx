import { Dialog } from "../parts/dialog.js";

const KEYS = [
  ["j", "next request, the older one"],
  ["k", "previous request, the newer one"],
  ["/", "search"],
  ["r", "replay the chosen request"],
  ["c", "copy it"],
  ["v", "webhooks or API calls, where there is an API"],
  ["?", "this help"],
  ["Esc", "close, or leave the search"],
] as const;

/** The keys. */
export function HelpDialog({ version, onClose }: { version: string; onClose(): void }) {
  return (
    <Dialog title="Keys" onClose={onClose}>
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
      <p class="note">
        In the list the arrow keys work as well. This page and what it shows stay on this machine. Hookproof{" "}
        {version}
      </p>
    </Dialog>
  );
}
