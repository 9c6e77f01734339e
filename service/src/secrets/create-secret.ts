// Prepares a paper secret and its content.
import { invalidField } from "../api/errors.js";
import type { Schemas } from "../api/validation.js";
import { instant } from "../storage/document.js";
import type { ObjectStore } from "../storage/object-store.js";
import type { PaperSecret } from "../storage/paper-secrets.js";
import type { SecretVault } from "./age.js";

/** Where the contents of paper secrets go. */
export interface SecretTools {
  readonly vault: SecretVault;
  readonly objects: ObjectStore;
}

type Input = Schemas["SecretInput"];

/** A paper secret to be created. */
type NewSecret = {
  readonly [Field in Exclude<keyof Input, "creatorUserId">]?: Input[Field] | undefined;
} & {
  id: string;
  creatorUserId: string;
  createdAt: number;
  revokedAt?: number | undefined;
  /** It is revoked or used up, and needs no content. */
  isErased?: boolean | undefined;
  /** A file as it arrives, in the place of `file`. */
  upload?: { filename: string; content: AsyncIterable<Uint8Array> } | undefined;
};

/**
 * A paper secret ready to be kept: its text is encrypted, its file in the object store.
 *
 * @throws {ApiError} 400 unless there is either a text or a file
 */
export async function prepareSecret({ vault, objects }: SecretTools, given: NewSecret): Promise<PaperSecret> {
  const { id, text, expiresAt, upload, isErased = false } = given;
  const file = given.file ?? upload;
  const hasBothOrNone = (text === undefined) === (file === undefined);
  if (hasBothOrNone && !(isErased && text === undefined))
    throw invalidField("text", "or file is set, and not both");
  if (given.file) await objects.put(id, Buffer.from(given.file.contentBase64, "base64"));
  else if (upload) await objects.put(id, upload.content);
  return {
    id,
    createdAt: given.createdAt,
    creatorUserId: given.creatorUserId,
    access: given.access ?? "EXTERNAL",
    allowedUserIds: given.allowedUserIds ?? [],
    content: text === undefined ? file && { objectKey: id } : { ciphertext: await vault.seal(text) },
    inputFormat: file
      ? "SECRET_INPUT_FORMAT_UNSPECIFIED"
      : (given.inputFormat ?? "SECRET_INPUT_FORMAT_PLAINTEXT"),
    filename: file?.filename ?? "",
    viewsRemaining: given.views ?? -1,
    expiresAt: expiresAt === undefined ? undefined : instant(expiresAt),
    revokedAt: given.revokedAt,
  };
}
