// Puts a request into the clipboard in the form that is needed next.
import type { ListenerInfo, RequestDetail } from "../../src/inspector/contract.js";
import { asCommand } from "../copy/as-command.js";
import { asCurl } from "../copy/as-curl.js";
import { asProgram, LANGUAGES } from "../copy/as-program.js";
import { asTest } from "../copy/as-test.js";
import { statusOfExact, whoDecides } from "../copy/expected-status.js";
import { Menu, type MenuItem } from "../parts/menu.js";
import { hasHidden } from "../text/visible.js";

interface CopyMenuProps {
  readonly detail: RequestDetail;
  readonly listener: ListenerInfo | undefined;
  readonly open: boolean;
  onToggle(open: boolean): void;
  nowMs(): number;
  onCopy(text: string, what: string): void;
}

/** Puts a request into the clipboard, in the form that is needed next. */
export function CopyMenu({ detail, listener, open, onToggle, nowMs, onCopy }: CopyMenuProps) {
  const item = (what: string, text: string | undefined, note: string): MenuItem => ({
    label: `As ${what}`,
    note,
    disabled: text === undefined,
    run: () => text !== undefined && onCopy(text, what),
  });
  const eventIdItem = (id: string | undefined) =>
    id !== undefined && hasHidden(id)
      ? item("event id", undefined, "it has characters that are not seen")
      : item("event id", id, id ?? "there is none");
  const items = open
    ? [
        item(
          "curl",
          asCurl(detail),
          `to the letter: ${statusOfExact(detail, nowMs()) ?? whoDecides(detail)}`,
        ),
        item("hookproof command", asCommand(detail), "the same event, signed again"),
        item("test", asTest(detail, listener), "for node --test, at the time of the recording"),
        ...LANGUAGES.map((language) => item(language, asProgram(language, detail), noteOfProgram(detail))),
        eventIdItem(detail.eventId),
      ]
    : [];
  return <Menu label="Copy" icon="copy" shortcut="c" items={items} open={open} onToggle={onToggle} />;
}

function noteOfProgram({ auth, isCut }: RequestDetail): string {
  if (isCut) return "its body was not read to its end";
  return auth === "hmac" ? "signs it with HOOKPROOF_SECRET, new id" : "for listeners with a secret";
}
