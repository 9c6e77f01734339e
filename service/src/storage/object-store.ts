// What an object store does with the files of paper secrets.
/** How long a download URL is valid (specification 8). */
export const DOWNLOAD_VALID_SECONDS = 300;

/** What is stored: bytes, or bytes as they arrive. */
export type Content = Uint8Array | AsyncIterable<Uint8Array>;

/** All bytes of a content, for a store that takes them at once. */
export async function wholeContent(content: Content): Promise<Uint8Array> {
  if (content instanceof Uint8Array) return content;
  const chunks: Uint8Array[] = [];
  for await (const chunk of content) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** The bytes of what arrives, up to so many. */
export async function boundedContent(
  content: AsyncIterable<Uint8Array>,
  max: number,
): Promise<Uint8Array | "too large"> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of content) {
    length += chunk.length;
    if (length > max) return "too large";
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

const KEY = /^[A-Za-z0-9_-]{1,64}$/;

/** Whether a text can be an object's key. Any other could lead elsewhere: it is a part of a path, or of an address. */
export function isObjectKey(text: string): boolean {
  return KEY.test(text);
}

/** What `isObjectKey` takes, in words. */
export const OBJECT_KEY_WORDS = "1 to 64 letters, digits, - and _";

/** Where the files of paper secrets are kept; they were encrypted by their creators and stay so. */
export interface ObjectStore {
  /** Stores an object under a key (`isObjectKey`); one of the same key is replaced. */
  put(key: string, content: Content): Promise<void>;
  /** The bytes of an object, up to so many; undefined if there is none. */
  read(key: string, max: number): Promise<Uint8Array | "too large" | undefined>;
  /** A URL that anybody can download the object from for 5 minutes. `reader` is who asked for it. */
  downloadUrl(key: string, reader: string): Promise<string>;
}
