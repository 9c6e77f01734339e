// Filters requests and keeps one of them chosen.
import { useCallback, useEffect, useMemo, useState } from "preact/hooks";
import type { RequestRow } from "../../src/inspector/contract.js";
import type { Choice } from "../frame/use-choice.js";
import { useWide } from "../frame/use-wide.js";
import type { Api } from "../live/api.js";
import { isNarrowed } from "./filter.js";
import { type Line, linesOf, steppedFrom } from "./lines.js";
import { type Filtered, useFiltered } from "./use-filtered.js";
import { useFollow } from "./use-follow.js";
import { searchRequests } from "./use-search.js";

/** The requests as they are filtered, and which one of them is open. */
export interface Requests extends Filtered<RequestRow> {
  readonly lines: readonly Line<RequestRow>[];
  /** Refusals of one cause are one line. */
  readonly isGrouped: boolean;
  setGrouped(isGrouped: boolean): void;
  fold(line: Line<RequestRow>, isOpen: boolean): void;
  /** One of those that are shown, whatever was chosen before. */
  readonly chosen: number | undefined;
  /** Whether the newest is opened by itself; ends when somebody chooses one. */
  readonly following: boolean;
  follow(): void;
  choose(n: number | undefined): void;
  move(by: number): void;
}

interface Surroundings {
  readonly choice: Choice;
  setChoice(choice: Choice): void;
  /** Grows when the list has begun again, with other requests under the same numbers. */
  readonly losses: number;
}

/** Filters the requests, and keeps one of them chosen: the newest, or the one that somebody has picked. */
export function useRequests(api: Api, rows: readonly RequestRow[], surroundings: Surroundings): Requests {
  const { choice, setChoice, losses } = surroundings;
  const isWide = useWide();
  const [isFollowing, setFollowing] = useState(choice.n === undefined);
  const find = useCallback((q: string) => searchRequests(api, q), [api]);
  const filtered = useFiltered(rows, find, ({ listenerId }) => listenerId);
  const { filter, shown } = filtered;

  const [isGrouped, setGrouped] = useState(true);
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const lines = useMemo(
    () => linesOf(shown, isGrouped ? causeOf : () => undefined, open),
    [shown, isGrouped, open],
  );

  const isShown = choice.view === "requests";
  const following = isFollowing && choice.n === undefined;
  const followed = useFollow(isShown && following && isWide, shown[0]?.n);
  const wanted = following ? followed : choice.n;
  const isListed = !isNarrowed(filter) || shown.some(({ n }) => n === wanted);
  const chosen = !isShown ? undefined : isListed ? wanted : isWide ? shown[0]?.n : undefined;

  const choose = useCallback(
    (n: number | undefined) => {
      setFollowing(false);
      setChoice({ view: "requests", n });
    },
    [setChoice],
  );
  const follow = useCallback(() => {
    setFollowing(true);
    setChoice({ view: "requests" });
  }, [setChoice]);
  useEffect(() => {
    if (losses > 0 && isShown) follow();
  }, [losses]);

  return {
    ...filtered,
    lines,
    isGrouped,
    setGrouped,
    fold({ row }, isOpen) {
      const cause = causeOf(row) ?? "";
      setOpen(new Set(isOpen ? [...open, cause] : [...open].filter((one) => one !== cause)));
    },
    chosen,
    following,
    follow,
    choose,
    move(by) {
      const to = steppedFrom(lines, chosen, by);
      if (to !== undefined) choose(to);
    },
  };
}

/** What refusals have in common that are one line: listener, answer and cause. */
function causeOf({ listenerId, status, code, cause }: RequestRow): string | undefined {
  return code === undefined ? undefined : JSON.stringify([listenerId, status, cause ?? code]);
}
