// Makes pages of lists and the signed tokens between them.
import { createHmac, timingSafeEqual } from "node:crypto";
import { invalidField } from "./errors.js";

const DEFAULT_SIZE = 25;
const MIN_SIZE = 10;
const MAX_SIZE = 100;

/** How many entries a page has (specification 8): nothing asked for is 25, and 0 is a number below 10. */
function pageSize(asked = DEFAULT_SIZE): number {
  return Math.min(Math.max(asked, MIN_SIZE), MAX_SIZE);
}

/** Where a page starts: the columns of the order, of the last entry of the page before. */
type Position = readonly (string | number)[];

/** A page of a list, as it is answered. */
interface Page<Item> {
  list: Item[];
  nextPageToken: string;
}

/** A query that is paged through. */
interface PagedQuery<Item, At extends Position> {
  /** What the token is bound to: the operation and everything that decides what is found. */
  readonly of: readonly unknown[];
  readonly pageSize: number | undefined;
  readonly pageToken: string | undefined;
  /** Sorts before every entry. */
  readonly start: At;
  /** Up to `limit` entries behind a position, in an order that does not change. */
  find(after: At, limit: number): Item[];
  /** The position of an entry. */
  position(item: Item): At;
}

/** Makes pages, and the signed tokens that lead from one to the next. */
export interface PageTokens {
  /** @throws {ApiError} 400 for a token that is altered, or of another query */
  page<Item, At extends Position>(query: PagedQuery<Item, At>): Page<Item>;
}

/** Page tokens signed with a key. */
export function pageTokens(key: string): PageTokens {
  const sign = (of: readonly unknown[], position: string): Buffer =>
    createHmac("sha256", key)
      .update(JSON.stringify([of, position]))
      .digest()
      .subarray(0, 16);

  const positionIn = (token: string, of: readonly unknown[]): unknown => {
    const [position = "", signature = "", ...rest] = token.split(".");
    const given = Buffer.from(signature, "base64url");
    const expected = sign(of, position);
    const isOurs = given.length === expected.length && timingSafeEqual(given, expected) && rest.length === 0;
    // Only what is spelled as it was given out: a decoder takes more than one spelling.
    if (!isOurs || given.toString("base64url") !== signature) {
      throw invalidField("pageToken", "is not a token of this query");
    }
    return JSON.parse(Buffer.from(position, "base64url").toString());
  };

  return {
    page({ of, pageSize: asked, pageToken, start, find, position }) {
      const size = pageSize(asked);
      const after = pageToken ? (positionIn(pageToken, of) as typeof start) : start;
      const found = find(after, size + 1);
      const list = found.slice(0, size);
      const last = list.at(-1);
      if (found.length <= size || last === undefined) return { list, nextPageToken: "" };
      const at = Buffer.from(JSON.stringify(position(last))).toString("base64url");
      return { list, nextPageToken: `${at}.${sign(of, at).toString("base64url")}` };
    },
  };
}
