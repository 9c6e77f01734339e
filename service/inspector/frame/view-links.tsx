// The links between webhooks and calls of the API.
import type { Choice } from "./use-choice.js";

interface ViewLinksProps {
  readonly view: Choice["view"];
  readonly requests: number;
  readonly calls: number;
}

/** The way from the webhooks to the calls of the API, and back. */
export function ViewLinks({ view, requests, calls }: ViewLinksProps) {
  return (
    <nav class="views" aria-label="Views">
      <a href="#webhooks" aria-current={view === "requests" ? "page" : undefined}>
        Webhooks <b>{requests}</b>
      </a>
      <a href="#calls" aria-current={view === "calls" ? "page" : undefined}>
        API calls <b>{calls}</b>
      </a>
    </nav>
  );
}
