// What stands in the place of the list where somebody does not have the page's whole address.

/** How to open the page so that it shows something. */
export function LockedOut() {
  return (
    <main class="alone">
      <p class="nothing note">
        Open the inspector by the whole address that hookproof has printed: it ends in #t=…. Without it nobody
        sees requests or signs; each start of the listener has a new one.
      </p>
    </main>
  );
}
