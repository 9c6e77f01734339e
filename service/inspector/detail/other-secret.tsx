// A field for another secret, to see whether a request was signed with it.
import { useState } from "preact/hooks";
import { Fold } from "../parts/fold.js";
import { Icon } from "../parts/icon.js";
import { type Tried, trySecret } from "./try-secret.js";

interface OtherSecretProps {
  /** What was signed. */
  readonly input: Uint8Array;
  readonly received: string;
}

/** Tries another secret on this request. It stays in the page, which forgets it with the field. */
export function OtherSecret(props: OtherSecretProps) {
  return (
    <div class="try-secret">
      <Fold summary="Try another secret">{() => <SecretField {...props} />}</Fold>
    </div>
  );
}

function SecretField({ input, received }: OtherSecretProps) {
  const [secret, setSecret] = useState("");
  const [tried, setTried] = useState<Tried>();
  // A page that came over plain HTTP from another machine has no cryptography.
  if (!globalThis.isSecureContext)
    return <p class="note">Only at a loopback address, or over HTTPS: browsers compute nothing here else.</p>;
  const look = async (event: Event) => {
    event.preventDefault();
    setTried(await trySecret(secret, input, received));
  };
  return (
    <form onSubmit={look}>
      <label>
        Secret
        <input
          type="password"
          class="mono"
          autocomplete="off"
          spellcheck={false}
          required
          value={secret}
          onInput={(event) => {
            setSecret(event.currentTarget.value);
            setTried(undefined);
          }}
        />
      </label>
      <p class="note">It is tried in this page: it is sent nowhere, and kept nowhere.</p>
      <p role="status">
        {tried?.match !== undefined && (
          <span class="accepted">
            <Icon name="accepted" /> The request was signed {tried.match}.
          </span>
        )}
        {tried && tried.match === undefined && "The request was not signed with this secret."}{" "}
        {tried && <span class="note mono">{tried.fingerprint}</span>}
      </p>
      <footer>
        <button type="submit">Try it</button>
      </footer>
    </form>
  );
}
