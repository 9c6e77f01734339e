// A scheme of one's own in one file: one header with a time, the event's id and a signature, as many senders have it:
// Acme-Signature: t=1767225600,id=0b0f2b3e-…,v1=5257a869…   (HMAC-SHA256 in hex, over {t}.{id}.{body})
import { createHmac, timingSafeEqual } from "node:crypto";
import { classifyAnswer, schemeChecks } from "hookproof/schemes";

/** @type {import("hookproof/schemes").Scheme} */
const scheme = {
  name: "acme",
  contentType: "application/json",
  proof: "attempt",
  ownHeaders: ["Acme-Signature"],
  classify: classifyAnswer,
};

/** @returns {import("hookproof").Signer} */
export function acmeSigner({ secret }) {
  return {
    scheme,
    sign({ timestamp, eventId, body }) {
      const signature = hmac(secret, timestamp, eventId, body).toString("hex");
      return { headers: [["Acme-Signature", `t=${timestamp},id=${eventId},v1=${signature}`]] };
    },
  };
}

/** @type {import("hookproof/schemes").SchemeCheck[]} */
const checks = [
  {
    step: "signature",
    rule: "Acme-Signature is one t=…,id=…,v1=… with the HMAC-SHA256 of {t}.{id}.{body}",
    codes: ["SIGNATURE_MISSING", "SIGNATURE_MALFORMED", "SIGNATURE_MISMATCH"],
  },
  { step: "window", rule: "t is at most 5 minutes from now", codes: ["TIMESTAMP_OUT_OF_WINDOW"] },
  { step: "body", rule: "the body is JSON", codes: ["BODY_NOT_JSON"] },
];
const { passed, failed } = schemeChecks(checks);
const FORM = /^t=([0-9]{1,15}),id=([\w-]{1,64}),v1=([0-9a-f]{64})$/;

/** @returns {import("hookproof/schemes").Verifier} */
export function acmeVerifier({ secret }) {
  return {
    scheme,
    checks,
    answers: { statuses: { EVENT_DUPLICATE: 200 } },
    verify({ headers, body, nowSeconds }) {
      const [line, ...more] = headers.all("Acme-Signature");
      if (line === undefined) return refused(failed("signature", "SIGNATURE_MISSING"));
      const [, timestamp, id, signature] = (more.length === 0 && FORM.exec(line)) || [];
      if (signature === undefined) return refused(failed("signature", "SIGNATURE_MALFORMED"));
      if (!timingSafeEqual(hmac(secret, timestamp, id, body), Buffer.from(signature, "hex")))
        return refused(failed("signature", "SIGNATURE_MISMATCH"));
      if (Math.abs(nowSeconds() - Number(timestamp)) > 300)
        return refused(failed("window", "TIMESTAMP_OUT_OF_WINDOW", timestamp));
      let payload;
      try {
        payload = JSON.parse(Buffer.from(body).toString("utf8"));
      } catch {
        return refused(failed("body", "BODY_NOT_JSON"));
      }
      const all = [passed("signature"), passed("window"), passed("body")];
      return { ok: true, checks: all, id, timestamp: Number(timestamp), payload };
    },
  };
}

function refused(check) {
  return { ok: false, checks: [check] };
}

function hmac(secret, timestamp, id, body) {
  return createHmac("sha256", secret).update(`${timestamp}.${id}.`).update(body).digest();
}
