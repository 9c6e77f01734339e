// What the page does with requests, each with what it says afterwards.
import type {
  ListenerInfo,
  ReplayOrder,
  RequestDetail,
  TestEventOrder,
} from "../../src/inspector/contract.js";
import type { Requests } from "../list/use-requests.js";
import type { Api } from "../live/api.js";
import type { Choice } from "./use-choice.js";
import type { Attempt } from "./use-note.js";

interface Surroundings {
  readonly requests: Requests;
  readonly listeners: readonly ListenerInfo[];
  readonly opened: RequestDetail | undefined;
  readonly attempt: Attempt;
  readonly isOfCalls: boolean;
  setChoice(choice: Choice): void;
  closeDialog(): void;
}

/** What can be done from the page. */
export type Actions = ReturnType<typeof actionsOf>;

/** The page's actions; what fails is said in a note. */
export function actionsOf(api: Api, surroundings: Surroundings) {
  const { requests, listeners, opened, attempt, isOfCalls, setChoice, closeDialog } = surroundings;
  const { chosen, choose, following, filter } = requests;
  /** Opens what the page itself has sent. */
  const open = (n: number | undefined) => n !== undefined && !following && choose(n);
  const able = listeners.filter(({ testEvent }) => testEvent !== undefined);
  const tested = able.find(({ id }) => id === filter.source) ?? able[0];
  const mark = (change: { pinned: boolean } | { note: string }) =>
    attempt(async () => (opened ? void (await api.mark(opened.n, change)) : undefined));
  const test = (order: TestEventOrder) =>
    attempt(async () => {
      closeDialog();
      const { status, n } = await api.sendTestEvent(order);
      open(n);
      return `Test event to ${order.listenerId}: ${status}`;
    });
  return {
    copy: (text: string, what: string) =>
      attempt(async () => {
        await navigator.clipboard.writeText(text);
        return `Copied: ${what}`;
      }),
    replay: (order: ReplayOrder) =>
      attempt(async () => {
        if (chosen === undefined) return undefined;
        closeDialog();
        const { status, kind, n } = await api.replay(chosen, order);
        open(n);
        return `Replay (${kind}) of #${chosen}: ${status}`;
      }),
    /** The listener that a test event goes to by one click. */
    tested: tested?.id,
    test,
    testAtOnce: tested && (() => test({ listenerId: tested.id })),
    pin: () => mark({ pinned: opened?.pinned !== true }),
    note: (text: string) => mark({ note: text }),
    importFile: (input: HTMLInputElement) =>
      attempt(async () => {
        const [picked] = input.files ?? [];
        input.value = "";
        if (!picked) return undefined;
        const { imported, skipped } = await api.importFile(picked);
        return `${imported} imported${skipped > 0 ? `, ${skipped} skipped` : ""}`;
      }),
    clear: () =>
      attempt(async () => {
        closeDialog();
        await (isOfCalls ? api.clearCalls() : api.clear());
        if (isOfCalls) setChoice({ view: "calls" });
        else requests.follow();
        return "Cleared";
      }),
    force: (answer: Parameters<Api["force"]>[0]) =>
      attempt(async () => {
        closeDialog();
        await api.force(answer);
        return undefined;
      }),
    stopForcing: (id: string) => attempt(async () => void (await api.stopForcing(id))),
  };
}
