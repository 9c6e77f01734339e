// A button with a menu.
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { Icon, type IconName } from "./icon.js";

/** An entry of a menu. */
export interface MenuItem {
  readonly label: string;
  /** What will come of it, in smaller letters. */
  readonly note?: ComponentChildren;
  readonly disabled?: boolean;
  run(): void;
}

interface MenuProps {
  readonly label: string;
  readonly icon: IconName;
  /** The key that opens it, for its tool tip. */
  readonly shortcut?: string;
  readonly items: readonly MenuItem[];
  readonly open: boolean;
  onToggle(open: boolean): void;
}

/** A button with a menu: arrow keys move, Escape closes, and the focus comes back to the button. */
export function Menu({ label, icon, shortcut, items, open, onToggle }: MenuProps) {
  const box = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);

  useLayoutEffect(() => {
    if (!open) return;
    entries(box.current)[0]?.focus();
    const outside = (event: Event) => {
      if (!box.current?.contains(event.target as Node)) onToggle(false);
    };
    document.addEventListener("pointerdown", outside);
    return () => document.removeEventListener("pointerdown", outside);
  }, [open, onToggle]);

  const close = () => {
    onToggle(false);
    button.current?.focus();
  };

  const onKeyDown = (event: KeyboardEvent) => {
    const all = entries(box.current);
    const at = all.indexOf(document.activeElement as HTMLButtonElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key];
    if (to !== undefined) all.at(to % all.length)?.focus();
    else if (event.key === "Escape") close();
    else if (event.key === "Tab") onToggle(false);
    if (event.key !== "Enter" && event.key !== " ") event.stopPropagation();
    if (to !== undefined || event.key === "Escape") event.preventDefault();
  };

  return (
    <div class="menu" ref={box}>
      <button
        type="button"
        ref={button}
        aria-haspopup="menu"
        aria-expanded={open}
        aria-keyshortcuts={shortcut}
        title={shortcut && `${label} (${shortcut})`}
        onClick={() => onToggle(!open)}
      >
        <Icon name={icon} />
        <span class="word">{label}</span>
        <Icon name="down" />
      </button>
      {open && (
        <div role="menu" aria-label={label} tabIndex={-1} onKeyDown={onKeyDown}>
          {items.map((item) => (
            <button
              type="button"
              role="menuitem"
              tabIndex={-1}
              aria-disabled={item.disabled}
              onClick={() => {
                if (item.disabled) return;
                close();
                item.run();
              }}
            >
              {item.label}
              {item.note && <small>{item.note}</small>}
            </button>
          ))}
        </div>
      )}
    </div>
  );
}

function entries(box: HTMLElement | null): HTMLButtonElement[] {
  return [...(box?.querySelectorAll<HTMLButtonElement>("[role=menuitem]") ?? [])];
}
