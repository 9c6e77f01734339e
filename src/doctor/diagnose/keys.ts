// The keys that may have been made of a secret.
import { utf8 } from "../../core/bytes.js";
import { type Option, optionsOf, withDetail } from "../rows/mistake.js";
import { latin1Text } from "../texts/rewrite.js";
import { SECRET_MISTAKES } from "./mistakes/secret.js";
import { coreOf, type KeyOfSecret } from "./mistakes/secret-keys.js";
import { once, type SignedMessage } from "./search.js";

const KEYS: readonly Option<KeyOfSecret>[] = optionsOf(utf8, SECRET_MISTAKES);

const GIVEN_WITH = "What stands around the secret that was given here is taken away first.";

/** A key that is made when it is first asked for; undefined where there is none, or it was made before. */
export type LazyKey = () => Uint8Array | undefined;

/** The keys that may have been made of a secret, and of what is inside of what stands around it; each is made when it is needed. */
export function keysOf(secret: string, around: SignedMessage): readonly Option<LazyKey>[] {
  const seen = new Set<string>();
  const core = coreOf(secret);
  const lazily = ({ repeat, ...option }: Option<KeyOfSecret>, text: string): Option<LazyKey> => ({
    ...option,
    repeat: once(() => {
      const key = repeat(text, around);
      const name = key && latin1Text(key);
      // That the text inside is the key says what stands around the one that was given.
      if (name === undefined || seen.has(name) || (text !== secret && name === latin1Text(utf8(core))))
        return undefined;
      seen.add(name);
      return key;
    }),
  });
  const made = KEYS.map((option) => lazily(option, secret));
  if (core === secret) return made;
  const inside = KEYS.flatMap((option) =>
    option.mistake === undefined
      ? []
      : lazily({ ...option, mistake: withDetail(option.mistake, GIVEN_WITH) }, core),
  );
  return [...made, ...inside];
}
