// Listeners with one bug each, the fourth set: as small servers first, by someone who had not read the probes.
import { createHmac } from "node:crypto";
import { type Bug, NOW, over, PATH, type Received, text, verifyBy, whole } from "./listeners.js";
import { claims, tokens } from "./token-listeners.js";

type Bugs = Readonly<Record<string, readonly [words: string, Bug]>>;

const signedOver =
  (input: (received: Received) => string | Buffer): Bug =>
  () => ({ input });
const PATH_TOO = "it verifies the URL's path, or the whole URL, too";
const age = ({ timestamp }: Received) => NOW / 1000 - Number(timestamp);
const within =
  (isFine: (seconds: number) => boolean): Bug =>
  () => ({
    time: (received) => (whole(received) && isFine(age(received)) ? 0 : 400),
  });

/** Each bug with words of the sentence that names it. */
export const FRESH_BUGS: Bugs = {
  "the path before all": [PATH_TOO, signedOver((received) => `${PATH}.${over(received, text(received))}`)],
  "the path behind all": [PATH_TOO, signedOver((received) => `${over(received, text(received))}.${PATH}`)],
  "method and path": [PATH_TOO, signedOver((received) => `POST.${PATH}.${over(received, text(received))}`)],
  "an input in UTF-16": [
    "it verifies a text in UTF-16",
    signedOver((received) => Buffer.from(over(received, text(received)), "utf16le")),
  ],
  "16 characters of a whole length": [
    "only the first 32 characters are right",
    verifyBy((should, given) => given.length === 43 && should.slice(0, 16) === given.slice(0, 16)),
  ],
  "a window of 30 s": ["its window is smaller than 5 minutes", within((seconds) => Math.abs(seconds) <= 30)],
  "a window that ends before its end": [
    "300 s old, and accepts one of now",
    within((seconds) => seconds < 300 && seconds >= -300),
  ],
  "a text that ends at a zero byte": [
    "one that ends at the first of them",
    signedOver(({ timestamp, eventId, body }) => {
      const end = body.indexOf(0);
      return Buffer.concat([Buffer.from(`${timestamp}.${eventId}.`), end < 0 ? body : body.subarray(0, end)]);
    }),
  ],
  "zero bytes taken away": [
    "which has zero bytes in it",
    signedOver(({ timestamp, eventId, body }) =>
      Buffer.concat([Buffer.from(`${timestamp}.${eventId}.`), body.filter((byte) => byte !== 0)]),
    ),
  ],
  "SHA-384": [
    "another hash than SHA-256",
    () => ({ sign: (key, input) => createHmac("sha384", key).update(input).digest("base64url") }),
  ],
};

/** The same of listeners of tokens. */
export const FRESH_TOKEN_BUGS: Bugs = {
  "aud is the listener's id": ["whose aud is the listener's id", claims({ aud: (aud) => aud === "lst_1" })],
  "sub and aud in each other's place": [
    "tokens whose sub is the other URL and tokens whose aud is the other URL",
    claims({
      sub: (sub, { headers }) => sub === `http://${headers.host}${PATH}`,
      aud: (aud, { headers }) => aud === `http://${headers.host}`,
    }),
  ],
  "bearer in small letters alone": [
    "behind bearer in other letters",
    tokens({ tokenOf: (authorization) => /^bearer ([^ ,]+)$/.exec(authorization)?.[1] }),
  ],
  "Bearer with its capital alone": [
    "to bearer in lower case",
    tokens({ tokenOf: (authorization) => /^Bearer ([^ ,]+)$/.exec(authorization)?.[1] }),
  ],
};
