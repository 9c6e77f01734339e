import { digestOf } from "#hash";
import { decodeBase64url, encodeBase64 } from "../core/bytes.js";
import { AUTHORIZATION_HEADER } from "../core/headers.js";
import { signingHead } from "../core/protocol.js";
import { URL_MISTAKES } from "../diagnose/tables/claim-mistakes.js";
import { hexOf, partsOf, type TokenChanges, type TokenKit } from "./requests.js";
import { otherBodies, type WrongRequest, wrongNames } from "./wrong-requests.js";

/** Every token with one known mistake, the likeliest first. */
export function wrongTokens(): readonly WrongRequest<TokenKit>[] {
  const claims = (id: string, weight: number, changes: (kit: TokenKit) => TokenChanges["claims"]) => ({
    mistakes: [id],
    weight,
    build: (kit: TokenKit) => kit.withToken({ claims: changes(kit) ?? {} }),
  });
  const bodyHash = (kit: TokenKit) => digestOf("sha256", [partsOf(kit).body]);
  const all: readonly WrongRequest<TokenKit>[] = [
    {
      mistakes: ["bearer-missing"],
      weight: 1,
      build: async (kit) => kit.withAuthorization(await kit.token()),
    },
    ...wrongNames<TokenKit>(AUTHORIZATION_HEADER),
    ...wrongUrls(),
    claims("claim-aud-list", 1, ({ url }) => ({ aud: [url] })),
    claims("claim-htm-case", 1, () => ({ htm: "post" })),
    claims("claim-jti-spelling", 2, ({ eventId }) => ({ jti: eventId.replaceAll("-", "") })),
    claims("claim-exp-milliseconds", 1, ({ nowSeconds }) => ({ exp: (nowSeconds + 300) * 1000 })),
    claims("claim-htb-hex", 1, (kit) => ({ htb_s256: hexOf(bodyHash(kit)) })),
    claims("claim-htb-base64", 1, (kit) => ({
      htb_s256: encodeBase64(decodeBase64url(bodyHash(kit)) ?? new Uint8Array()),
    })),
    claims("claim-htb-of-signing-input", 2, (kit) => {
      const { timestamp, eventId, body } = partsOf(kit);
      return { htb_s256: digestOf("sha256", [signingHead(timestamp, eventId), body]) };
    }),
    ...wrongTokenBodies(),
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

/** The tokens with a URL in `sub` or `aud` that is nearly right. */
function wrongUrls(): readonly WrongRequest<TokenKit>[] {
  return (["sub", "aud"] as const).flatMap((claim) =>
    URL_MISTAKES.flatMap(({ id, ways }) =>
      ways.map(([weight, rewrite]) => ({
        mistakes: [`claim-${claim}-${id}`],
        weight,
        build(kit: TokenKit) {
          const [url, counterpart] = claim === "sub" ? [kit.baseUrl, kit.url] : [kit.url, kit.baseUrl];
          const seen = rewrite({ url, counterpart });
          return seen === undefined || seen === url
            ? { skip: "the mistake is impossible here" }
            : kit.withToken({ claims: { [claim]: seen } });
        },
      })),
    ),
  );
}
