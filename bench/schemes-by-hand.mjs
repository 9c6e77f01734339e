// What a receiver has to do by each specification, written by hand for one sender: no verdict, and no reason for a refusal.
import { createHash, createHmac, timingSafeEqual, verify } from "node:crypto";
import { jwtVerify } from "jose";

const decoder = new TextDecoder("utf-8", { fatal: true });
const TOLERANCE_SECONDS = 300;

const only = (headers, name) => {
  const lines = headers.all(name);
  return lines.length === 1 ? lines[0] : undefined;
};
const isNear = (seconds, now) => Math.abs(now - seconds) <= TOLERANCE_SECONDS;
const parsed = (body) => JSON.parse(decoder.decode(body));
const isEqual = (a, b) => a.length === b.length && timingSafeEqual(a, b);

/** Standard Webhooks: three headers, each once; the time; the list of signatures. */
export function standardWebhooksByHand({ key, publicKey }) {
  const expectedBy = (head, body) =>
    Buffer.from(createHmac("sha256", key).update(head).update(body).digest("base64"));
  return ({ headers, body, nowSeconds }) => {
    const [id, timestamp] = [only(headers, "webhook-id"), only(headers, "webhook-timestamp")];
    const list = only(headers, "webhook-signature");
    if (!id || !list || !/^[0-9]{1,15}$/.test(timestamp)) return undefined;
    if (!isNear(Number(timestamp), nowSeconds())) return undefined;
    const head = `${id}.${timestamp}.`;
    for (const one of list.split(" ")) {
      const [version, signature = ""] = one.split(",");
      const isRight =
        version === "v1"
          ? key && isEqual(Buffer.from(signature), expectedBy(head, body))
          : publicKey &&
            version === "v1a" &&
            verify(
              null,
              Buffer.concat([Buffer.from(head), body]),
              publicKey,
              Buffer.from(signature, "base64"),
            );
      if (isRight) return parsed(body);
    }
    return undefined;
  };
}

const INPUT = /^sig1=(\(("[^"]+"(?: "[^"]+")*)\);created=(\d+);keyid="([^"]+)";alg="([^"]+)")$/;
const SIGNATURE = /^sig1=:([A-Za-z0-9+/]+=*):$/;
const COVERED = ["@method", "@target-uri", "content-type", "content-digest", "webhook-event-id"];

/** RFC 9421 and RFC 9530: the body's digest, what is covered, the time, the text that is signed; one form of the headers. */
export function httpSignatureByHand({ url, alg, isRight }) {
  const own = { "@method": "POST", "@target-uri": new URL(url).href };
  return ({ headers, body, nowSeconds }) => {
    const digest = createHash("sha256").update(body).digest("base64");
    if (only(headers, "content-digest") !== `sha-256=:${digest}:`) return undefined;
    const [, shown, names, created, , usedAlg] = INPUT.exec(only(headers, "signature-input")) ?? [];
    const [, signature] = SIGNATURE.exec(only(headers, "signature")) ?? [];
    if (!shown || !signature || usedAlg !== alg || !isNear(Number(created), nowSeconds())) return undefined;
    const covered = names.slice(1, -1).split('" "');
    if (!COVERED.every((name) => covered.includes(name))) return undefined;
    const lines = covered.map((name) => `"${name}": ${own[name] ?? only(headers, name)}\n`);
    const base = `${lines.join("")}"@signature-params": ${shown}`;
    return isRight(base, signature) ? parsed(body) : undefined;
  };
}

/** RFC 8417 and RFC 8935: the media type, the claims that say from whom, for whom and what. */
export function securityEventByHand({ key, issuer, audience, algorithms }) {
  const rules = {
    issuer,
    audience,
    algorithms,
    typ: "secevent+jwt",
    requiredClaims: ["jti", "iat", "events"],
  };
  return async ({ headers, body }) => {
    if (only(headers, "content-type") !== "application/secevent+jwt") return undefined;
    const { payload } = await jwtVerify(decoder.decode(body), key, rules);
    const types = Object.values(payload.events);
    return types.length > 0 && types.every((one) => typeof one === "object") ? payload : undefined;
  };
}
