// Tokens with one known mistake in their URLs or in Authorization, to find a listener that makes it too.
import { URL_MISTAKES } from "../diagnose/mistakes/claim-url.js";
import type { TokenKit } from "./requests.js";
import type { WrongRequest } from "./wrong-request.js";

/** The tokens with a URL in `sub` or `aud` that is nearly right. */
export function wrongUrls(): readonly WrongRequest<TokenKit>[] {
  const rewritten: readonly WrongRequest<TokenKit>[] = (["sub", "aud"] as const).flatMap((claim) =>
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
  return [
    ...rewritten,
    {
      mistakes: ["claim-aud-id-alone"],
      weight: 2,
      build: (kit) => kit.withToken({ claims: { aud: kit.url.slice(kit.url.lastIndexOf("/") + 1) } }),
    },
    {
      mistakes: ["claim-sub-swapped", "claim-aud-swapped"],
      weight: 2,
      build: (kit) => kit.withToken({ claims: { sub: kit.url, aud: kit.baseUrl } }),
    },
  ];
}

/** A right token behind the name of the scheme in other letters, which are all the same (RFC 9110 section 11.1). */
export function bearerInSmallLetters(): readonly WrongRequest<TokenKit>[] {
  return ["bearer", "BEARER"].map((name) => ({
    mistakes: ["demands-bearer-case"],
    weight: 2,
    build: async (kit) => kit.withAuthorization(`${name} ${await kit.token()}`),
  }));
}
