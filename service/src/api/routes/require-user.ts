// Refuses a field that names no user.
import type { Storage } from "../../storage/storage.js";
import { invalidField } from "../errors.js";

/**
 * Refuses a field that names no user. To be called again where the row is written: a reset or a snapshot may have
 * taken the user away while a secret was encrypted or a file arrived.
 *
 * @throws {ApiError} 400
 */
export function requireUser({ users }: Pick<Storage, "users">, field: string, id: string): void {
  if (!users.get(id)) throw invalidField(field, "is not a user");
}
