// Rows of secrets that are encoded, decoded or hashed before they are used.
import { digestOf } from "#hash";
import { decodeBase64url, encodeBase64, encodeBase64url, utf8 } from "../../../core/bytes.js";
import type { RepeatableMistake } from "../../rows/mistake.js";
import { decodeAnyBase64, hexOf, parseHex } from "../../texts/rewrite.js";
import {
  AS_IT_IS,
  bare,
  decodedAnd,
  type KeyOfSecret,
  ofHex,
  ofText,
  percentDecoded,
  percentEncoded,
} from "./secret-keys.js";

/** The secret went through another encoding, or a hash. */
export const ENCODED_KEY_MISTAKES: readonly RepeatableMistake<KeyOfSecret>[] = [
  {
    id: "secret-encoded",
    title: "Secret encoded once more",
    message: "It matches if the secret is encoded as base64 or hex first. The key is the string itself.",
    fix: `${AS_IT_IS}, without encoding it again.`,
    listener: {
      family: "key",
      accepts: "signatures made with the secret encoded once more",
      bug: "it encodes the secret once more",
    },
    ways: [
      [2, (secret) => utf8(encodeBase64(utf8(secret)))],
      [3, (secret) => utf8(hexOf(utf8(secret)))],
      [3, decodedAnd((bytes) => utf8(hexOf(bytes)))],
      // echo "$SECRET" | base64, as for a Kubernetes Secret
      [3, (secret) => utf8(encodeBase64(utf8(`${secret}\n`)))],
      [4, (secret) => utf8(`${encodeBase64(utf8(secret))}\n`)],
      [4, (secret) => utf8(`${encodeBase64(utf8(`${secret}\n`))}\n`)],
      [4, (secret) => utf8(encodeBase64url(utf8(secret)))],
      [4, (secret) => utf8(hexOf(utf8(`${secret}\n`)))],
      [4, (secret) => utf8(hexOf(utf8(secret)).toUpperCase())],
      [4, decodedAnd((bytes) => utf8(hexOf(bytes).toUpperCase()))],
      [4, decodedAnd((bytes) => utf8(`${hexOf(bytes)}\n`))],
      [4, bare((secret) => utf8(encodeBase64(utf8(secret))))],
      [4, bare((secret) => utf8(hexOf(utf8(secret))))],
      [4, (secret) => ofHex(secret, (bytes) => utf8(encodeBase64(bytes)))],
      [4, (secret) => ofHex(secret, (bytes) => utf8(encodeBase64url(bytes)))],
    ],
  },
  {
    id: "secret-encoding-removed",
    title: "Secret decoded to the text inside",
    message:
      "It matches if the secret given here is decoded: it is the base64 or hex of the key's text, as a Kubernetes Secret has it.",
    fix: 'Give the text inside: echo "$SECRET" | base64 -d. The key is the string that the service shows.',
    ways: [
      [4, (secret) => ofText(decodeAnyBase64(secret), (text) => text.trim())],
      [4, (secret) => ofText(parseHex(secret), (text) => text.trim())],
    ],
  },
  {
    id: "secret-percent-encoded",
    title: "Secret percent-encoded",
    message: "It matches if the secret is percent-encoded, or if that is undone, as in a URL.",
    fix: `${AS_IT_IS}, without encodeURIComponent(secret).`,
    ways: [
      [4, (secret) => percentEncoded(secret)],
      [4, (secret) => percentDecoded(secret)],
    ],
  },
  {
    id: "secret-hashed",
    title: "Hash of the secret as key",
    message:
      "It matches if the key is a hash of the secret, mostly its SHA-256. The key is the string itself.",
    fix: `${AS_IT_IS}, without hashing it.`,
    listener: {
      family: "key",
      accepts: "signatures made with the hash of the secret",
      bug: "it hashes the secret",
    },
    ways: [
      [3, (secret) => decodeBase64url(digestOf("sha256", [utf8(secret)]))],
      [4, (secret) => utf8(digestOf("sha256", [utf8(secret)]))],
      [
        3,
        (secret) =>
          utf8(
            `${digestOf("sha256", [utf8(secret)])
              .replaceAll("-", "+")
              .replaceAll("_", "/")}=`,
          ),
      ],
      [4, decodedAnd((bytes) => decodeBase64url(digestOf("sha256", [bytes])))],
      ...(["md5", "sha1", "sha512"] as const).flatMap((hash) => [
        [4, (secret: string) => decodeBase64url(digestOf(hash, [utf8(secret)]))] as const,
        [
          3,
          (secret: string) =>
            utf8(hexOf(decodeBase64url(digestOf(hash, [utf8(secret)])) ?? new Uint8Array())),
        ] as const,
      ]),
    ],
  },
];
