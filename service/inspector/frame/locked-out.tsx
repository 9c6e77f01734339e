// What stands in the place of the list where somebody does not have the page's whole address.

/** How to open the page so that it shows something. */
export function LockedOut() {
  return (
    <main class="alone">
      <p class="nothing note">
        Open the inspector by the whole address that hookproof has printed: it ends in #t=…. Only who has it
        sees requests and signs; another start of the listener has another one.
      </p>
    </main>
  );
}
