/** How long a download URL is valid (specification 8). */
export const DOWNLOAD_VALID_SECONDS = 300;

/** Where the files of paper secrets are kept; they were encrypted by their creators and stay so. */
export interface ObjectStore {
  /** Stores an object under a key of letters and digits; one of the same key is replaced. */
  put(key: string, content: Uint8Array): Promise<void>;
  /** A URL that anybody can download the object from for 5 minutes. `reader` is who asked for it. */
  downloadUrl(key: string, reader: string): Promise<string>;
}
