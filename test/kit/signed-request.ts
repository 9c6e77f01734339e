import { createEvent, hmacSigner, signRequest } from "hookproof";
import type { ListenerOptions, ReceivedRequest } from "hookproof/receiver";

export const SECRET = "QSBrZXkgZm9yIEhvb2twcm9vZiB0ZXN0cyBvbmx5ISE";

/** The listener the requests of this file are for. */
export const LISTENER: ListenerOptions = {
  id: "lst_offboarding",
  baseUrl: "https://tenant.example.com",
  auth: { method: "hmac", secret: SECRET },
};

/** A correctly signed request with a new event id, as a server hands it over. */
export async function signedRequest(payload: unknown = { user: "u_1" }): Promise<ReceivedRequest> {
  const url = `${LISTENER.baseUrl}/api/v1/webhooks/incoming/${LISTENER.id}`;
  return signRequest({ url, signer: hmacSigner({ secret: SECRET }), event: createEvent(payload) });
}
