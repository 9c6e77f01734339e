// The bar with listener, state and what concerns all requests.
import type { ComponentChildren } from "preact";
import type { ForcedAnswer, SessionInfo } from "../../src/inspector/contract.js";
import { Icon } from "../parts/icon.js";
import { Menu, type MenuItem } from "../parts/menu.js";
import { timeOfDay } from "../text/time.js";

interface TopBarProps {
  readonly session: SessionInfo | undefined;
  readonly connected: boolean;
  readonly forced: readonly ForcedAnswer[];
  readonly menu: boolean;
  readonly items: readonly MenuItem[];
  /** The links to other views. */
  readonly views: ComponentChildren;
  onMenu(open: boolean): void;
  /** Sends an event to a listener; absent where nothing can sign one. */
  readonly onTest: (() => void) | undefined;
  /** Asks which listener, and what the event says. */
  onOtherTest(): void;
  onForce(): void;
  /** Of the API whose calls are shown, in the place of `onForce`. */
  readonly onControl: (() => void) | undefined;
  onStopForcing(listenerId: string): void;
  onCopy(text: string, what: string): void;
  onHelp(): void;
}

/** Which listener this is, whether the page is live, and what concerns all requests. */
/** Where a listener is, without the part of the path that all of them have. */
function briefly(url: string): string {
  const { host, pathname } = new URL(url);
  return `${host}/…/${pathname.slice(pathname.lastIndexOf("/") + 1)}`;
}

export function TopBar(props: TopBarProps) {
  const { session, connected, forced, menu, items, views, onMenu, onForce, onControl } = props;
  const { onStopForcing, onCopy, onHelp } = props;
  const [listener, ...more] = session?.listeners ?? [];
  return (
    <header class="top">
      <h1>
        <img src="./icon.svg" alt="" width="24" height="24" />
        Hookproof <span>inspector</span>
      </h1>
      <p class={`connection ${connected ? "live" : "lost"}`} role="status">
        <Icon name={connected ? "accepted" : "failed"} />
        {connected ? "live" : session ? "server gone, trying again" : "connecting"}
      </p>
      {views}
      {listener && (
        <button
          type="button"
          class="url quiet"
          title={`Copy the listener's URL, ${listener.url}`}
          onClick={() => onCopy(listener.url, "URL")}
        >
          <span class="mono">{briefly(listener.url)}</span>
          {more.length > 0 && <span class="note">and {more.length} more</span>}
          <Icon name="copy" />
        </button>
      )}
      <div class="actions">
        {forced.map((answer) => (
          <button
            type="button"
            class="forced"
            key={answer.listenerId}
            title={`Answers of ${answer.listenerId} are forced. Click to stop.`}
            onClick={() => onStopForcing(answer.listenerId)}
          >
            {forcedLabel(answer)}
            <Icon name="close" />
          </button>
        ))}
        <TestButtons {...props} />
        <button type="button" disabled={!session} onClick={onControl ?? onForce}>
          <Icon name="force" />
          <span class="word">{onControl ? "Control the service" : "Force answers"}</span>
        </button>
        <Menu label="File" icon="file" items={items} open={menu} onToggle={onMenu} />
        <button
          type="button"
          class="quiet"
          aria-label="Keys"
          aria-keyshortcuts="?"
          title="Keys (?)"
          onClick={onHelp}
        >
          <Icon name="help" />
        </button>
      </div>
    </header>
  );
}

function TestButtons({ onTest, onOtherTest }: Pick<TopBarProps, "onTest" | "onOtherTest">) {
  if (!onTest) return null;
  return (
    <div class="pair-of-buttons">
      <button type="button" title="Send a test event" onClick={onTest}>
        <Icon name="send" />
        <span class="word">Send a test event</span>
      </button>
      <button
        type="button"
        aria-label="Another test event"
        title="Another type, body or listener"
        onClick={onOtherTest}
      >
        <Icon name="more" />
      </button>
    </div>
  );
}

function forcedLabel({ status, delayMs, times, until, body }: ForcedAnswer): string {
  const what = [status, delayMs && `after ${delayMs / 1000} s`, body !== undefined && "own body"];
  const when = [
    times !== undefined && `next ${times === 1 ? "answer" : `${times} answers`}`,
    until !== undefined && `until ${timeOfDay(until)}`,
  ];
  return `${words(when)}: ${words(what) || "as decided"}`;
}

function words(parts: readonly (string | number | false | undefined)[]): string {
  return parts.filter(Boolean).join(" ");
}
