// Asks before something is lost.
import { Dialog } from "../parts/dialog.js";

interface ConfirmProps {
  readonly title: string;
  readonly text: string;
  /** What the button says that does it. */
  readonly action: string;
  onConfirm(): void;
  onClose(): void;
}

export function ConfirmDialog({ title, text, action, onConfirm, onClose }: ConfirmProps) {
  const confirm = (event: Event) => {
    event.preventDefault();
    onConfirm();
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form onSubmit={confirm}>
        <p>{text}</p>
        <footer>
          <button type="button" onClick={onClose}>
            Keep them
          </button>
          <button type="submit" class="primary danger">
            {action}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}
