import { importJWK, type JWK, SignJWT } from "jose";

/**
 * A stand-in for the published SDK of this kind of API, made from what is known of it: the secret carries a private
 * JWK, an assertion is made with the host of the client's id as audience, a token is kept for an hour and never renewed
 * on a 401, names in queries are in snake_case, and nullable fields are sent as null.
 */
export class PublishedClient {
  #token: { value: string; until: number } | undefined;
  readonly refused: string[] = [];

  constructor(
    private readonly serverUrl: string,
    private readonly clientId: string,
    private readonly clientSecret: string,
    private readonly now: () => number,
  ) {}

  async call(method: string, path: string, body?: unknown): Promise<number> {
    const answer = await fetch(this.serverUrl + path, {
      method,
      headers: { Authorization: `Bearer ${await this.#bearer()}`, "Content-Type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!answer.ok) this.refused.push(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return answer.status;
  }

  async #bearer(): Promise<string> {
    if (this.#token && this.now() < this.#token.until) return this.#token.value;
    const [kind, , version, encoded = ""] = this.clientSecret.split(":");
    if (kind !== "secret-token" || version !== "v1") throw new Error("not a secret of this kind");
    const jwk = JSON.parse(Buffer.from(encoded, "base64").toString()) as JWK;
    const host = /@([^:/]+)/.exec(this.clientId)?.[1] ?? "";
    const seconds = Math.floor(this.now() / 1000);
    const assertion = await new SignJWT()
      .setProtectedHeader({ alg: "EdDSA" })
      .setIssuer(this.clientId)
      .setSubject(this.clientId)
      .setAudience(host)
      .setIssuedAt(seconds)
      .setNotBefore(seconds - 120)
      .setExpirationTime(seconds + 120)
      .sign(await importJWK(jwk, "EdDSA"));
    const answer = await fetch(`${this.serverUrl}/auth/v1/token`, {
      method: "POST",
      body: new URLSearchParams({
        grant_type: "client_credentials",
        client_id: this.clientId,
        client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
        client_assertion: assertion,
      }),
    });
    if (!answer.ok) throw new Error(`no token: ${await answer.text()}`);
    const { access_token } = (await answer.json()) as { access_token: string };
    this.#token = { value: access_token, until: this.now() + 3_600_000 };
    return access_token;
  }
}
