// Rows of what goes wrong with a token besides its claims.
import type { MistakeRow } from "../../rows/mistake.js";

const SIGNER = "jwtSigner({ key, kid, alg })";

/** What goes wrong with a token except for its claims: Authorization, form, header, key, signature (specification 5.2). */
export const TOKEN_MISTAKES = {
  bearerMissing: {
    id: "bearer-missing",
    title: "No Bearer before the token",
    message: "Authorization holds the token alone, without Bearer before it.",
    fix: "Send headers.Authorization = 'Bearer ' + token.",
    listener: {
      family: "token",
      accepts: "tokens without Bearer in front",
      bug: "it does not take the scheme off Authorization, or does not want one",
    },
  },
  otherScheme: {
    id: "bearer-other-scheme",
    title: "Another scheme than Bearer",
    message: "Authorization has another scheme, or more than Bearer and one token.",
    fix: "Send headers.Authorization = 'Bearer ' + token: no colon, no quotes, no second word.",
  },
  inOtherHeader: {
    id: "token-in-signature-header",
    title: "Token in Webhook-Signature",
    message: "The token is in Webhook-Signature. It belongs in Authorization.",
    fix: "Send headers.Authorization = 'Bearer ' + token.",
  },
  nothing: {
    id: "token-not-text",
    title: "No token after Bearer",
    message:
      "There is no token after Bearer, or a variable that was not filled in, or the text of a value that is none: undefined, null, [object Promise].",
    fix: "Await the token before it is sent: headers.Authorization = 'Bearer ' + (await makeToken()).",
  },
  moved: {
    id: "token-in-other-header",
    title: "Token in another header",
    message: "Authorization is missing, and the token is in another header: a gateway has moved it.",
    fix: "Let the gateway pass Authorization on as it came, or copy the value back before the listener reads it, and only from this gateway.",
  },
  dpopHeader: {
    id: "token-in-dpop-header",
    title: "Token in the header DPoP",
    message: "The token is in the header DPoP. These webhooks have theirs in Authorization.",
    fix: `Send headers.Authorization = 'Bearer ' + token, with the claims that ${SIGNER} makes.`,
  },
  dpop: {
    id: "token-dpop",
    title: "A proof of DPoP",
    message:
      "The token is a proof of DPoP (RFC 9449), with htu or ath. A library for DPoP makes other claims than these.",
    fix: `Sign sub, aud, exp, jti, htm and htb_s256, without htu and ath: ${SIGNER}.`,
  },
  signatureRemoved: {
    id: "token-signature-replaced",
    title: "The token's signature was removed",
    message:
      "A word stands in the place of the token's signature: a gateway has checked the token and removed it.",
    fix: "Let the gateway pass Authorization on as it came, and give the gateway a token of its own in another header, such as X-Serverless-Authorization.",
  },
  ofOtherSystem: {
    id: "token-of-another-system",
    title: "A token of another system",
    message:
      "The token is a login of another system, without jti, htm and htb_s256: a gateway has put its own in place of the sender's, or the sender used its API token.",
    fix: `Send the token that ${SIGNER} makes for this event, and let the gateway pass Authorization on as it came.`,
  },
  reused: {
    id: "token-reused",
    title: "The token of another event",
    message:
      "The token was made for another event: neither jti nor the body's hash is of this one. It was kept and reused.",
    fix: `Make a token for each event and each attempt: ${SIGNER}, without a cache around it.`,
  },
  wrapped: {
    id: "token-quoted",
    title: "Something around the token",
    message: "There are quotes, brackets or other characters around the token.",
    fix: "Send headers.Authorization = 'Bearer ' + token, and nothing more. In Python token.decode() for bytes; in a shell jq -r.",
  },
  brokenUp: {
    id: "token-broken-up",
    title: "White space inside of the token",
    message: "There is white space inside of the token: it was broken into lines, or joined with spaces.",
    fix: "Send the token in one piece: base64 -w0 in a shell, and no line breaks in what was copied.",
  },
  malformed: {
    id: "token-malformed",
    title: "Not a token",
    message: "Authorization does not hold a JWT: three parts of base64url with periods between them.",
    fix: `Send the compact form that ${SIGNER} or any JWT library gives.`,
  },
  padded: {
    id: "token-not-base64url",
    title: "Token in another base64",
    message:
      "A part of the token has padding (=) or the standard alphabet (+ and /). It must be base64url without padding.",
    fix: "Encode each part as base64url: Buffer.from(part).toString('base64url'). In Python urlsafe_b64encode(part).rstrip(b'=').",
  },
  algHmac: {
    id: "token-alg-hmac",
    title: "Token signed with a secret",
    message: "The token's alg is of the HMAC family. The service accepts RS256, ES256 and EdDSA.",
    fix: `Sign with a private key whose public half is in your key set: ${SIGNER}.`,
  },
  algHmacPublic: {
    id: "token-alg-hmac-public-key",
    title: "The public key as a secret",
    message:
      "The token's alg is of the HMAC family, and its key is the published one: everybody could have signed it.",
    fix: `Sign with the private key, by RS256, ES256 or EdDSA: ${SIGNER}. Set the algorithm where the library is called.`,
  },
  algNone: {
    id: "token-alg-none",
    title: "Token without a signature",
    message: "The token's alg is none: it is not signed.",
    fix: `Sign it: ${SIGNER}.`,
  },
  alg: {
    id: "token-alg-other",
    title: "Another algorithm",
    message: "The token's alg is not RS256, ES256 or EdDSA, in this spelling.",
    fix: `Sign with one of the three: ${SIGNER}.`,
  },
  kidMissing: {
    id: "token-kid-missing",
    title: "No kid in the token",
    message: "The token's header has no kid, so its key cannot be found.",
    fix: `Name the key: ${SIGNER}. In Python jwt.encode(claims, key, algorithm=alg, headers={"kid": kid}).`,
  },
  kidElsewhere: {
    id: "token-kid-elsewhere",
    title: "The kid in another place",
    message: "The token's header has no kid; it stands in another place, where no listener looks for it.",
    fix: `Name it kid, in the header: ${SIGNER}. In Python jwt.encode(claims, key, algorithm=alg, headers={"kid": kid}).`,
  },
  headerMember: {
    id: "token-header-member",
    title: "A member the token's header must not have",
    message: "The token's header has crit, b64, jwk, jku, x5u or x5c. A token does not bring its own key.",
    fix: 'Leave alg, kid and typ: { "alg": "ES256", "kid": "…", "typ": "JWT" }.',
  },
  keySetMalformed: {
    id: "key-set-malformed",
    title: "Not a key set",
    message: 'The key set is not an object with a list named "keys".',
    fix: 'Serve { "keys": [publicJwk] }: jwksHandler(createKeySet(records)).',
  },
  keySetPrivate: {
    id: "key-set-private",
    title: "A private key in the key set",
    message:
      "The key set has a private or symmetric key. The whole set is refused, and everybody who fetched it knows that key.",
    fix: "Make new keys, and publish their public halves alone: jwksHandler(createKeySet(records)).",
  },
  keyMembers: {
    id: "key-members-missing",
    title: "A key without use or alg",
    message: 'The token\'s key does not say "use": "sig" and its own alg, or says something else.',
    fix: 'Publish kty, use, kid, alg and the key material: { "use": "sig", "alg": "ES256", "kid": "…", … }.',
  },
  kidTwice: {
    id: "kid-twice",
    title: "Two keys with one kid",
    message: "Two keys of the key set have the token's kid.",
    fix: "Give each key a kid of its own: generateKey({ alg }).",
  },
  kidUnknown: {
    id: "kid-unknown",
    title: "The token's kid is not in the key set",
    message: "No key of the key set has the token's kid, and none made its signature.",
    fix: "Publish the key 15 minutes before it signs: next, then active. Compare the kid with the served document.",
  },
  kidOfOtherKey: {
    id: "kid-of-other-key",
    title: "The kid of another key",
    message: "Another key of the key set made the signature than the one its kid names.",
    fix: `Take the private key and its kid from one record: ${SIGNER}.`,
  },
  algOfOtherKey: {
    id: "token-alg-of-other-key",
    title: "alg and key do not fit",
    message: "The token's alg is not the one of the key that its kid names.",
    fix: `Take kid, alg and key from one record: ${SIGNER}.`,
  },
  der: {
    id: "token-signature-der",
    title: "ES256 signature in DER",
    message:
      "The signature is in DER, as key services and OpenSSL write it. In a token it must be 64 bytes: r and s.",
    fix: "Convert it: sign('sha256', input, { key, dsaEncoding: 'ieee-p1363' }). jwtSigner converts what a key service returns.",
    listener: {
      family: "token",
      accepts: "tokens with an ES256 signature in DER",
      bug: "it verifies DER and not 64 bytes",
    },
  },
  prehashed: {
    id: "token-signature-prehashed",
    title: "Hash signed instead of the token",
    message:
      "The signature matches the hash of the signing input, hashed once more: the digest was signed as if it were the message.",
    fix: "Give the signer the message and let it hash, or say that it is a digest: in AWS KMS MessageType: 'DIGEST'.",
  },
  signature: {
    id: "token-signature-unexplained",
    title: "The token's signature does not match",
    message:
      "No key of the key set made the token's signature: another private key, or the token was changed after it was signed.",
    fix: "Compare the public half of the signing key with the key set: jwk.x, or jwk.n for RSA.",
  },
  claimsMalformed: {
    id: "token-claims-malformed",
    title: "No claims",
    message: "The token's claims are not one JSON object without repeated names.",
    fix: "Sign the claims as a JSON object: sub, aud, exp, jti, htm and htb_s256.",
  },
  signatureMissing: {
    id: "signature-missing",
    title: "No Webhook-Signature",
    message: "The header Webhook-Signature is missing.",
    fix: "Send what signHmac({ secret, timestamp, eventId, body }) gives. Look for a proxy that drops headers.",
  },
  tokenMissing: {
    id: "token-missing",
    title: "No Authorization",
    message: "The header Authorization is missing.",
    fix: "Send headers.Authorization = 'Bearer ' + token. Some clients and proxies drop it on redirects.",
  },
  otherMethod: {
    id: "credential-of-other-method",
    title: "The other method's credential",
    message:
      "The request uses another method than the listener demands: a token where a signature belongs, or the other way round.",
    fix: "Use the method the trigger is configured with: hmacSigner({ secret }) or jwtSigner({ key, kid, alg }).",
  },
} satisfies Record<string, MistakeRow>;
