// Rows of what goes wrong between a token and its key set.
import type { OtherShape } from "../../../jwks/key-set-shape.js";
import type { MistakeRow } from "../../rows/mistake.js";

const SERVE = "jwksHandler(createKeySet(records)) serves it, jwks export writes it to a file.";
const SAME_KID = "Write the kid in the token exactly as in the key set: kids are texts, compared with case.";

/** What people serve in place of a key set. */
export const KEY_SET_SHAPES = {
  list: {
    id: "key-set-bare-list",
    title: "A list of keys in place of a key set",
    message: "The key set is a bare list of keys.",
    fix: `Write { "keys": [ … ] } around it: ${SERVE}`,
  },
  key: {
    id: "key-set-bare-key",
    title: "A single key in place of a key set",
    message: "The key set is a single key.",
    fix: `Write { "keys": [ … ] } around it: ${SERVE}`,
  },
  page: {
    id: "key-set-html",
    title: "An HTML page in place of a key set",
    message: "The key set is an HTML page, such as a login or an error page.",
    fix: "Open the URL without being logged in: it must answer 200 with JSON. Take it out of whatever asks for a login.",
  },
  pem: {
    id: "key-set-pem",
    title: "PEM in place of a key set",
    message: "The key set is in PEM. Listeners read JWK.",
    fix: `Convert the key: importKey of hookproof/jwks takes a JWK, hookproof keys import takes PEM. ${SERVE}`,
  },
  text: {
    id: "key-set-text",
    title: "A key set serialised twice",
    message: "The key set is a text that holds JSON: it was serialised twice.",
    fix: "Serialise it once: res.json(keySet), or else res.send(JSON.stringify(keySet)).",
  },
  configuration: {
    id: "key-set-openid-configuration",
    title: "An OpenID configuration in place of a key set",
    message: "The document is an OpenID configuration and not a key set.",
    fix: "Give the URL that stands in its member jwks_uri.",
  },
  wrapped: {
    id: "key-set-wrapped",
    title: "A key set inside of another object",
    message: "The key set is inside of another member, as APIs write it.",
    fix: 'Serve { "keys": [ … ] } itself, with nothing around it.',
  },
  map: {
    id: "key-set-map",
    title: "Keys by their names in place of a list",
    message: "The keys are members of an object. A key set has a list.",
    fix: 'Serve { "keys": [ … ] } with the kid inside of each key.',
  },
} satisfies Record<Exclude<OtherShape, "other">, MistakeRow>;

/** What goes wrong between the token's kid and the key set's. */
export const KID_MISTAKES = {
  otherCase: {
    id: "kid-other-case",
    title: "The kid in another case",
    message: "The token's kid is the right one but for its case or white space.",
    fix: SAME_KID,
  },
  otherType: {
    id: "kid-other-type",
    title: "The kid as a number",
    message: "The kid is a number on one side and a text on the other. It must be a text on both.",
    fix: `Put it in quotes: "kid": "7". ${SAME_KID}`,
  },
  missingInSet: {
    id: "kid-missing-in-key-set",
    title: "A key without kid in the key set",
    message: "A key of the key set made the signature, but it has no kid, so no listener finds it.",
    fix: 'Give the key its kid: { "kid": "…", "use": "sig", "alg": "ES256", … }.',
  },
} satisfies Record<string, MistakeRow>;
