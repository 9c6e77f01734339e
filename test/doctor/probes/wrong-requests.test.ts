// Each request that is made wrongly on purpose has the mistake that it stands for: diagnose, which is told the secret, names it.
import { generateKeyPairSync } from "node:crypto";
import { diagnose } from "hookproof/diagnose";
import type { Jwks } from "hookproof/jwks";
import { fixedClock } from "hookproof/testing";
import { expect, it } from "vitest";
import { hmacKits, tokenKits } from "../../../src/doctor/probes/requests.js";
import type { WrongRequest } from "../../../src/doctor/probes/wrong-request.js";
import { wrongSignatures, wrongTokens } from "../../../src/doctor/probes/wrong-requests.js";

const SECRET = "QSBrZXkgZm9yIEhvb2twcm9vZiB0ZXN0cyBvbmx5ISE";
const NOW = 1_767_225_600;
const baseUrl = "https://tenant.example.com/id";
const url = `${baseUrl}/api/v1/webhooks/incoming/lst_1`;
const FACTS = { url, baseUrl, nowSeconds: NOW, eventId: "0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10" };

/** What else a mistake may be called: which hash it is, and base64 in which no other sign shows. */
const ALSO: Readonly<Record<string, RegExp>> = {
  "signature-other-hash": /^signature-sha(?:1|384|512)$/,
  "signature-base64": /^signature-padded$/,
};

/** Of these one request each is right, and shows a listener that demands more: a short life, an id in one case. */
const RIGHT_TOO = new Set(["claim-exp-too-far", "claim-jti-spelling"]);

interface Made {
  readonly mistakes: readonly string[];
  /** Undefined where the request cannot be made. */
  readonly named: readonly string[] | undefined;
}

async function madeOf<Kit extends typeof FACTS>(
  requests: readonly Pick<WrongRequest<never>, "mistakes" | "build" | "variants">[],
  kit: Kit,
  known: { secret: string } | { jwks: Jwks },
): Promise<Made[]> {
  const made: Made[] = [];
  for (const { mistakes, build } of requests.flatMap((one) => [one, ...(one.variants ?? [])])) {
    const request = await build(kit as never);
    if ("skip" in request) made.push({ mistakes, named: undefined });
    else {
      const listener = { id: "lst_1", baseUrl };
      const found = await diagnose({ request, listener, clock: fixedClock(NOW * 1000), ...known });
      made.push({ mistakes, named: found.mistakes.map(({ id }) => id) });
    }
  }
  return made;
}

/** Those in which a mistake is not named; what a listener demands beyond the specification is none. */
function misnamed(made: readonly Made[]): string[] {
  const isNamed = (id: string, named: readonly string[]) =>
    id.startsWith("demands-") ||
    (named.length === 0 && RIGHT_TOO.has(id)) ||
    named.some((one) => one === id || ALSO[id]?.test(one));
  return made.flatMap(({ mistakes, named }) =>
    named === undefined || mistakes.every((id) => isNamed(id, named))
      ? []
      : `${mistakes.join(" and ")}, named ${named.join(" and ")}`,
  );
}
const kindsOf = (made: readonly Made[]) =>
  new Set(made.filter(({ named }) => named).flatMap(({ mistakes }) => mistakes));

it("signatures", async () => {
  const made = await madeOf(wrongSignatures(SECRET), hmacKits(SECRET)(FACTS), { secret: SECRET });
  expect(misnamed(made)).toEqual([]);
  const kinds = kindsOf(made);
  for (const kind of [
    ...["secret-base64url-decoded", "input-id-first", "timestamp-signed-as-date", "timestamp-stale"],
    ...[
      "event-id-signed-in-other-case",
      "body-keys-sorted",
      "body-bom",
      "body-line-endings",
      "header-misnamed",
    ],
    ...["signature-other-hash", "signature-hex", "timestamp-milliseconds", "timestamp-ahead"],
  ])
    expect(kinds, kind).toContain(kind);
  // A second is told by no listener whose clock goes on while it is asked.
  expect(kinds).not.toContain("timestamp-of-another-second");
});

it.each(["ES256", "EdDSA", "RS256"] as const)("tokens of %s", async (alg) => {
  const { privateKey, publicKey } =
    alg === "RS256"
      ? generateKeyPairSync("rsa", { modulusLength: 2_048 })
      : alg === "ES256"
        ? generateKeyPairSync("ec", { namedCurve: "P-256" })
        : generateKeyPairSync("ed25519");
  const named = { kid: "k1", alg, use: "sig" };
  const key = { ...privateKey.export({ format: "jwk" }), ...named };
  const kit = (await tokenKits({ key, kid: "k1", alg } as never))(FACTS);
  const jwks = { keys: [{ ...publicKey.export({ format: "jwk" }), ...named }] } as unknown as Jwks;
  const made = await madeOf(wrongTokens(), kit, { jwks });
  expect(misnamed(made)).toEqual([]);
  const kinds = kindsOf(made);
  for (const kind of [
    "claim-aud-swapped",
    "claim-sub-trailing-slash",
    "claim-htb-hex",
    "body-compact",
    "bearer-missing",
  ])
    expect(kinds, kind).toContain(kind);
  expect(kinds.has("token-signature-der")).toBe(alg === "ES256");
  // The public half comes from the key that was given, and has nothing of the private one.
  expect(await kit.publicJwk()).toEqual(expect.objectContaining(publicKey.export({ format: "jwk" })));
  expect(JSON.stringify(await kit.publicJwk())).not.toMatch(/"(?:d|p|q)":/);
});
