// Says what was tried where nothing explains a signature.
import { digestOf } from "#hash";
import { decodeBase64url, decodeUtf8 } from "../../core/bytes.js";
import { countOf, shown } from "../../core/shown.js";
import { secretFingerprint } from "../../schemes/access-governance/secret.js";
import { type Mistake, withDetail } from "../rows/mistake.js";
import { BY_LENGTH } from "../texts/json-changes.js";
import { type Json, readJson, type Texts } from "../texts/json-shapes.js";
import { writeJson } from "../texts/json-writer.js";
import { hasLostLineBreaks } from "../texts/line-breaks.js";
import { hexOf } from "../texts/rewrite.js";
import { SERIALISING_MISTAKES } from "./mistakes/body.js";
import { SPACED } from "./mistakes/body-styles.js";
import { ENCODING_MISTAKES } from "./mistakes/encoding.js";
import { LAYOUT_MISTAKES } from "./mistakes/layout.js";
import { SECRET_MISTAKES } from "./mistakes/secret.js";
import { SIGNATURE_UNEXPLAINED } from "./mistakes/signature.js";
import { EVENT_ID_MISTAKES, TIMESTAMP_MISTAKES } from "./mistakes/signing-input.js";
import type { SignedMessage } from "./search.js";

const TRIED = [
  ["the secret", SECRET_MISTAKES],
  ["the signing input", [...LAYOUT_MISTAKES, ...TIMESTAMP_MISTAKES, ...EVENT_ID_MISTAKES]],
  ["the body", [...SERIALISING_MISTAKES, ...ENCODING_MISTAKES]],
] as const;

/** That nothing explains a signature: what was tried, and what to show to somebody who helps. Nothing of it is secret. */
export function unexplained({ timestamp, eventId, body, url, secrets }: SignedMessage): Mistake {
  const tried = TRIED.map(
    ([of, table]) => `${table.reduce((sum, { ways }) => sum + ways.length, 0)} mistakes in ${of}`,
  );
  const found = hasLostLineBreaks(decodeUtf8(body) ?? "")
    ? withDetail(SIGNATURE_UNEXPLAINED, LINE_BREAKS_LOST)
    : isFromDatabase(body)
      ? withDetail(SIGNATURE_UNEXPLAINED, FROM_DATABASE)
      : SIGNATURE_UNEXPLAINED;
  const hash = hexOf(decodeBase64url(digestOf("sha256", [body])) ?? new Uint8Array());
  const known = [
    `the secret's fingerprint (here ${secrets.map(({ text }) => secretFingerprint(text)).join(", ")})`,
    `the body's SHA-256 and length (here ${hash}, ${countOf(body.length, "byte")})`,
    `Webhook-Timestamp and Webhook-Event-Id (here ${shown(timestamp, 40)}, ${shown(eventId, 40)})`,
  ];
  return {
    ...found,
    fix: `${found.fix} What was tried: ${tried.join(", ")}, and the likeliest pairs.${/^https?:/i.test(url) ? "" : URL_MISSING} To somebody who helps, send from both sides ${known.join(", ")} and the lines that sign: no secret is in them.`,
  };
}

const URL_MISSING =
  " Texts with the listener's URL were not tried, as it is not known here: where the sender signs it, give it as well.";

const LINE_BREAKS_LOST =
  "The body has the indentation of several lines, and no line break: something has removed them, as curl -d @file does. Send it with curl --data-binary @file.";

const FROM_DATABASE =
  "The body is printed as PostgreSQL's jsonb and MySQL's JSON print it: it may have been stored there after it was signed.";

/** So many members are in the order of a database by chance once in twenty-four times. */
const TELLING_MEMBERS = 4;

/** Whether a body has the order and the spaces of a database, and that order is not the alphabetical one as well. */
function isFromDatabase(body: Uint8Array): boolean {
  const json = readJson(body);
  if (json?.tree === undefined || !hasTellingOrder(json.tree, json.texts)) return false;
  return json.reshaped(BY_LENGTH) === undefined && writeJson(json, SPACED) === json.text;
}

function hasTellingOrder(tree: Json, texts: Texts): boolean {
  if (typeof tree === "number") return false;
  if ("items" in tree) return tree.items.some((item) => hasTellingOrder(item, texts));
  const names = tree.members.map(([name]) => texts.text(name));
  if (
    names.length >= TELLING_MEMBERS &&
    names.some((name, index) => index > 0 && name < (names[index - 1] ?? ""))
  )
    return true;
  return tree.members.some(([, value]) => hasTellingOrder(value, texts));
}
