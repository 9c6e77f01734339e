// Requests with one known mistake each, to find a listener that makes it too.
import { digestOf, hmacOf } from "#hash";
import { decodeBase64url, encodeBase64, encodeBase64url, utf8 } from "../../core/bytes.js";
import { AUTHORIZATION_HEADER } from "../../core/headers.js";
import { DEFAULT_TOKEN_LIFETIME_SECONDS } from "../../core/protocol.js";
import { SIGNATURE_HEADER, signingHead } from "../../schemes/access-governance/protocol.js";
import { SERIALISING_MISTAKES } from "../diagnose/mistakes/body.js";
import { ENCODING_MISTAKES } from "../diagnose/mistakes/encoding.js";
import { OTHER_NAMES } from "../diagnose/mistakes/header.js";
import { LAYOUT_MISTAKES, RIGHT_LAYOUT } from "../diagnose/mistakes/layout.js";
import { aroundBody } from "../diagnose/mistakes/layout-text.js";
import { SECRET_MISTAKES } from "../diagnose/mistakes/secret.js";
import { ALGORITHM_MISTAKES } from "../diagnose/mistakes/signature.js";
import { EVENT_ID_MISTAKES, TIMESTAMP_MISTAKES } from "../diagnose/mistakes/signing-input.js";
import type { RepeatableMistake } from "../rows/mistake.js";
import { readJson } from "../texts/json-shapes.js";
import { latin1Text, parseHex } from "../texts/rewrite.js";
import { standardRequests } from "./other-scheme-requests.js";
import {
  derFromRaw,
  type HmacKit,
  hexOf,
  padded,
  partsOf,
  type RequestKit,
  type TokenChanges,
  type TokenKit,
  telltaleSignature,
  without,
} from "./requests.js";
import { bearerInSmallLetters, wrongUrls } from "./token-requests.js";
import type { WrongRequest } from "./wrong-request.js";

/** The parts of a signature that can be wrong. */
interface Wrongly {
  readonly key?: Uint8Array;
  readonly layout?: string;
  readonly signed?: { readonly timestamp?: string; readonly eventId?: string; readonly body?: Uint8Array };
  readonly sent?: { readonly timestamp?: string; readonly eventId?: string; readonly body?: Uint8Array };
  readonly digest?: (key: Uint8Array, message: readonly (string | Uint8Array)[]) => string;
}

/** Every request with one known mistake of an HMAC sender, and the likeliest pairs, the likeliest first. */
export function wrongSignatures(secret: string): readonly WrongRequest<HmacKit>[] {
  const single = [
    ...wrongKeys(secret).map(({ id, weight, repeat }) => wrong(secret, id, weight, () => ({ key: repeat }))),
    ...waysOf(LAYOUT_MISTAKES).map(({ id, weight, repeat }) =>
      wrong(secret, id, weight, () => ({ layout: repeat })),
    ),
    ...waysOf(TIMESTAMP_MISTAKES)
      .filter(({ id }) => id !== "timestamp-of-another-second")
      .map(({ id, weight, repeat }) =>
        wrong(secret, id, weight, ({ nowSeconds }) => {
          const timestamp = repeat(String(nowSeconds));
          return timestamp === undefined ? undefined : { signed: { timestamp } };
        }),
      ),
    ...wrongEventIds(secret),
    ...waysOf(ALGORITHM_MISTAKES).map(({ id, weight, repeat }) =>
      wrong(secret, id, weight, () => ({
        digest: (key, message) => encodeBase64url(parseHex(repeat("sha256", key, message)) ?? key),
      })),
    ),
    ...(["sha1", "sha512", "sha384"] as const).map((hash, index) =>
      wrong(secret, "signature-other-hash", index < 2 ? 1 : 2, () => ({
        digest: (key, message) => hmacOf(hash, key, message),
      })),
    ),
    wrong(secret, "timestamp-milliseconds", 1, ({ nowSeconds }) => {
      const timestamp = `${nowSeconds}000`;
      return { sent: { timestamp }, signed: { timestamp } };
    }),
    ...wrongBodies(secret),
  ];
  const right = wrong(secret, "", 1, (kit) => {
    const body = utf8(telltaleSignature(kit).body);
    return { sent: { body }, signed: { body } };
  });
  const spelled = SPELLINGS.map(([ids, weight, spell]) => respelled(right, ids, weight, spell));
  const pairs = single
    .filter(
      ({ weight, mistakes: [id = ""] }) =>
        weight === 1 && !id.startsWith("body-") && id !== "signature-other-hash",
    )
    .flatMap((one) => PAIRED.map(([ids, , spell]) => respelled(one, ids, 3, spell)));
  return [
    ...[
      ...single,
      ...spelled,
      ...standardRequests(secret),
      ...wrongNames<HmacKit>(SIGNATURE_HEADER),
      ...otherClocks((kit: HmacKit, timestamp) => kit.signed({ timestamp: String(timestamp) })),
    ].toSorted((a, b) => a.weight - b.weight),
    ...pairs,
  ];
}

/** Requests that are right by another clock: a clock that is off by minutes, or by the hours of a time zone. */
function otherClocks<Kit extends RequestKit>(
  signedAt: (kit: Kit, timestamp: number) => ReturnType<WrongRequest<Kit>["build"]>,
): readonly WrongRequest<Kit>[] {
  const hours = Array.from({ length: 12 }, (_, index) => (index + 1) * 3600);
  return [600, 1800, ...hours]
    .flatMap((seconds) => [-seconds, seconds])
    .map((away) => ({
      mistakes: [away < 0 ? "timestamp-stale" : "timestamp-ahead"],
      weight: 2,
      build: (kit) => signedAt(kit, kit.nowSeconds + away),
    }));
}

/** The requests with a body that was signed otherwise than it is sent. */
export function wrongBodies(secret: string): readonly (WrongRequest<HmacKit> & Signed)[] {
  return otherBodies().map(({ id, weight, sent, signed }) =>
    wrong(secret, id, weight, () => ({ sent: { body: sent }, signed: { body: signed } })),
  );
}

/** The requests with an event id that was signed otherwise than it is sent. */
export function wrongEventIds(secret: string): readonly (WrongRequest<HmacKit> & Signed)[] {
  return waysOf(EVENT_ID_MISTAKES).flatMap(({ id, weight, repeat }) =>
    [(text: string) => text, (text: string) => text.toUpperCase()].map((spell) =>
      wrong(secret, id, weight, ({ eventId }) => {
        const sent = spell(eventId);
        const signed = repeat(sent);
        return signed === undefined || signed === sent
          ? undefined
          : { sent: { eventId: sent }, signed: { eventId: signed } };
      }),
    ),
  );
}

/** A body as it is sent, and as it was signed. */
interface OtherBody {
  readonly id: string;
  readonly weight: number;
  readonly sent: Uint8Array;
  readonly signed: Uint8Array;
}

/** JSON in which the printers of languages differ, and a text in which encodings and trimming do. */
const TELLING_JSON =
  '{ "type":"hookproof.probe", "z":1, "a":"Zo\u00eb </b> & co", "list":[1, 2.5, true, null] }';
const TELLING_TEXT = '{"type":"hookproof.probe","a":"Zo\u00eb M"}\n';

/** Where the first of these shows nothing, another may: one has line ends of Windows, one a byte order mark. */
const TELLING_TEXTS = [
  TELLING_TEXT,
  '{"type":"hookproof.probe",\r\n"a":1}',
  '\uFEFF{"type":"hookproof.probe"}',
];

/** Every body that a known mistake makes of a telling one. */
function otherBodies(): readonly OtherBody[] {
  const json = readJson(utf8(TELLING_JSON));
  const seen = new Set([TELLING_JSON, ...TELLING_TEXTS]);
  const isNew = (text: string) => !seen.has(text) && seen.add(text);
  const serialised = waysOf(SERIALISING_MISTAKES).flatMap(({ id, weight, repeat }) => {
    const text = repeat(json);
    if (text === undefined || !isNew(text)) return [];
    return { id, weight, sent: utf8(TELLING_JSON), signed: utf8(text) };
  });
  const encoded = waysOf(ENCODING_MISTAKES).flatMap(({ id, weight, repeat }) => {
    for (const text of TELLING_TEXTS) {
      const sent = utf8(text);
      const signed = repeat(sent);
      if (signed === undefined || latin1Text(signed) === latin1Text(sent)) continue;
      return isNew(latin1Text(signed)) ? { id, weight, sent, signed } : [];
    }
    return [];
  });
  return [...serialised, ...encoded];
}

/** A request without one header, which is there under all of its other names instead. */
function wrongNames<Kit extends RequestKit>(proof: string): readonly WrongRequest<Kit>[] {
  return Object.entries(OTHER_NAMES)
    .filter(([name]) => name === proof || (name !== SIGNATURE_HEADER && name !== AUTHORIZATION_HEADER))
    .map(([name, all]) => {
      const others = all.filter((other) => other.toLowerCase() !== name.toLowerCase());
      const under = (names: readonly string[]) => async (kit: Kit) => {
        const request = await kit.signed();
        const value = request.headers.find(([key]) => key === name)?.[1] ?? "";
        const bare = without(request, name);
        return { ...bare, headers: [...bare.headers, ...names.map((other) => [other, value] as const)] };
      };
      const mistakes = ["header-misnamed"];
      return {
        mistakes,
        weight: 1,
        build: under(others),
        variants: others.map((other) => ({
          mistakes,
          weight: 1,
          build: under([other]),
          detail: `it reads ${other} where ${name} belongs`,
        })),
      };
    });
}

/** Wrong requests whose signature is known before it is spelled. */
interface Signed {
  sign(kit: HmacKit): Promise<{ text: string; kit: HmacKit; sent: NonNullable<Wrongly["sent"]> } | undefined>;
}

function wrong(
  secret: string,
  id: string,
  weight: number,
  how: (kit: HmacKit) => Wrongly | undefined,
): WrongRequest<HmacKit> & Signed {
  const one: Signed = {
    async sign(kit) {
      const wrongly = how(kit);
      if (wrongly === undefined) return undefined;
      const { key = utf8(secret), layout = RIGHT_LAYOUT, sent = {}, signed = {} } = wrongly;
      const { timestamp, eventId, body } = partsOf(kit, { ...sent, ...signed });
      const [head, tail] = aroundBody(layout, { timestamp, eventId, url: kit.url });
      const digest = wrongly.digest ?? ((k, message) => hmacOf("sha256", k, message));
      return { text: digest(key, tail === undefined ? [head] : [head, body, tail]), kit, sent };
    },
  };
  return { ...respelled(one, id === "" ? [] : [id], weight, (text) => text), sign: one.sign };
}

const IMPOSSIBLE = { skip: "the mistake is impossible here" };

function respelled(
  one: Signed & { readonly mistakes?: readonly string[] },
  ids: readonly string[],
  weight: number,
  spell: (signature: string) => string,
): WrongRequest<HmacKit> {
  return {
    mistakes: [...(one.mistakes ?? []), ...ids],
    weight,
    async build(kit) {
      const signed = await one.sign(kit);
      return signed === undefined ? IMPOSSIBLE : kit.withSignature(spell(signed.text), signed.sent);
    },
  };
}

type Spelling = readonly [ids: readonly string[], weight: number, spell: (signature: string) => string];

const standard = (text: string) => encodeBase64(decodeBase64url(text) ?? new Uint8Array());
const PREFIXES = ["sha256=", "v1=", "v1,", "sha256:", "HMAC-SHA256 "];

/** The ways to write a signature, with the mistakes in each. */
const SPELLINGS: readonly Spelling[] = [
  [["signature-hex"], 1, hexOf],
  [["signature-hex"], 2, (text) => hexOf(text).toUpperCase()],
  [["signature-base64"], 1, standard],
  [["signature-padded"], 1, padded],
  [["signature-base64-of-hex"], 2, (text) => encodeBase64(utf8(hexOf(text)))],
  [["signature-base64-of-hex"], 2, (text) => encodeBase64url(utf8(hexOf(text)))],
  ...PREFIXES.flatMap((prefix, index): Spelling[] => [
    [["signature-prefixed"], index === 0 ? 1 : 2, (text) => prefix + text],
    [["signature-prefixed", "signature-hex"], index === 0 ? 1 : 2, (text) => prefix + hexOf(text)],
    [["signature-prefixed", "signature-base64"], index === 0 ? 1 : 2, (text) => prefix + standard(text)],
  ]),
];

/** The spellings that often come together with another mistake. */
const PAIRED = SPELLINGS.filter(
  ([[first = "", second], weight]) =>
    weight === 1 && (first === "signature-hex" || first === "signature-base64" || second === "signature-hex"),
);

function wrongKeys(secret: string) {
  const seen = new Set([latin1Text(utf8(secret))]);
  return waysOf(SECRET_MISTAKES).flatMap(({ id, weight, repeat }) => {
    const key = repeat(secret);
    if (key === undefined || seen.has(latin1Text(key))) return [];
    seen.add(latin1Text(key));
    return { id, weight, repeat: key };
  });
}

/** Every way of every mistake of a table but the rarest; of one that a listener can make at least the first. */
function waysOf<Repeat>(table: readonly RepeatableMistake<Repeat>[]) {
  return table.flatMap(({ id, ways, listener }) => {
    const likely = ways.filter(([weight]) => weight < 3);
    const tried = likely.length === 0 && listener ? ways.slice(0, 8) : likely;
    return tried.map(([weight, repeat]) => ({ id, weight, repeat }));
  });
}

type Claims = NonNullable<TokenChanges["claims"]>;

/** Every token with one known mistake, the likeliest first. */
export function wrongTokens(): readonly WrongRequest<TokenKit>[] {
  const claims = (id: string, weight: number, changes: (kit: TokenKit) => Claims) => ({
    mistakes: [id],
    weight,
    build: async (kit: TokenKit) => kit.withToken({ claims: changes(kit) }),
  });
  const bodyHash = (kit: TokenKit) => digestOf("sha256", [partsOf(kit).body]);
  const all: readonly WrongRequest<TokenKit>[] = [
    {
      mistakes: ["bearer-missing"],
      weight: 1,
      build: async (kit) => kit.withAuthorization(await kit.token()),
    },
    {
      mistakes: ["token-signature-der"],
      weight: 1,
      async build(kit) {
        if (kit.alg !== "ES256") return IMPOSSIBLE;
        const token = await kit.token();
        const at = token.lastIndexOf(".") + 1;
        const der = derFromRaw(decodeBase64url(token.slice(at)) ?? new Uint8Array(64));
        return kit.withAuthorization(`Bearer ${token.slice(0, at)}${encodeBase64url(der)}`);
      },
    },
    ...wrongNames<TokenKit>(AUTHORIZATION_HEADER),
    ...wrongUrls(),
    ...bearerInSmallLetters(),
    claims("claim-aud-list", 1, ({ url }) => ({ aud: [url] })),
    claims("claim-htm-case", 1, () => ({ htm: "post" })),
    claims("claim-jti-spelling", 2, ({ eventId }) => ({ jti: eventId.replaceAll("-", "") })),
    claims("claim-jti-spelling", 2, ({ eventId }) => ({ jti: eventId.toUpperCase() })),
    ...["at+jwt", "jwt", undefined].map((typ) => ({
      mistakes: ["demands-typ"],
      weight: 2,
      build: (kit: TokenKit) => kit.withToken({ header: { typ } }),
    })),
    claims("demands-iat", 1, ({ nowSeconds }) => ({ iat: nowSeconds })),
    claims("demands-nbf", 2, ({ nowSeconds }) => ({ nbf: nowSeconds })),
    claims("demands-iss", 2, ({ nowSeconds, baseUrl }) => ({ iat: nowSeconds, iss: baseUrl })),
    claims("claim-exp-too-far", 1, ({ nowSeconds }) => ({ exp: nowSeconds + 30 })),
    claims("claim-exp-milliseconds", 1, ({ nowSeconds }) => ({ exp: (nowSeconds + 300) * 1000 })),
    claims("claim-htb-hex", 1, (kit) => ({ htb_s256: hexOf(bodyHash(kit)) })),
    claims("claim-htb-base64", 1, (kit) => ({
      htb_s256: encodeBase64(decodeBase64url(bodyHash(kit)) ?? new Uint8Array()),
    })),
    ...[encodeBase64, encodeBase64url].map((encoded) =>
      claims("claim-htb-base64-of-hex", 2, (kit) => ({ htb_s256: encoded(utf8(hexOf(bodyHash(kit)))) })),
    ),
    claims("claim-htb-padded", 1, (kit) => ({ htb_s256: padded(bodyHash(kit)) })),
    claims("claim-htb-sha512", 2, (kit) => ({ htb_s256: digestOf("sha512", [partsOf(kit).body]) })),
    claims("claim-htb-of-signing-input", 2, (kit) => {
      const { timestamp, eventId, body } = partsOf(kit);
      return { htb_s256: digestOf("sha256", [signingHead(timestamp, eventId), body]) };
    }),
    ...wrongTokenBodies(),
    ...otherClocks((kit: TokenKit, timestamp) =>
      kit.withToken(
        { claims: { exp: timestamp + DEFAULT_TOKEN_LIFETIME_SECONDS } },
        { timestamp: String(timestamp) },
      ),
    ),
  ];
  return all.toSorted((a, b) => a.weight - b.weight);
}

/** The tokens that have the hash of another body than the one that is sent. */
export function wrongTokenBodies(): readonly WrongRequest<TokenKit>[] {
  return otherBodies().map(({ id, weight, sent, signed }) => ({
    mistakes: [id],
    weight,
    build: (kit) => kit.withToken({ claims: { htb_s256: digestOf("sha256", [signed]) } }, { body: sent }),
  }));
}
