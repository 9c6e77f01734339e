// Makes new ids.
import { randomBytes } from "node:crypto";

const LENGTH = 27;

/** A new id: 27 letters and digits. */
export function newId(): string {
  let id = "";
  while (id.length < LENGTH)
    id += randomBytes(LENGTH)
      .toString("base64")
      .replace(/[^A-Za-z0-9]/g, "");
  return id.slice(0, LENGTH);
}
