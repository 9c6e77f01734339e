import { listenerIdOf } from "../protocol/listener-url.js";
import type { Finding, Mistake } from "./mistake.js";

/** Where and how a request was sent (specification 4.10). */
export const TARGET_MISTAKES = {
  method: {
    id: "method-not-post",
    title: "Another method than POST",
    message: "The request is not a POST.",
    fix: "Use fetch(url, { method: 'POST', headers, body }). A redirect that was followed turns a POST into a GET.",
  },
  path: {
    id: "url-not-of-listener",
    title: "Another path than the listener's",
    message:
      "The path is not the listener's: /api/v1/webhooks/incoming/ and the listener's id, without a slash at its end.",
    fix: "Copy the URL from the trigger's configuration, character by character.",
  },
} satisfies Record<string, Mistake>;

/** What is wrong about method and path, as far as both sides are known. */
export function explainTarget(
  { method, url }: { method?: string | undefined; url?: string | undefined },
  listenerId: string | undefined,
): Finding[] {
  const findings: Finding[] = [];
  if (method !== undefined && method !== "POST") findings.push({ mistake: TARGET_MISTAKES.method });
  if (url !== undefined && listenerId !== undefined && listenerIdOf(url) !== listenerId)
    findings.push({ mistake: TARGET_MISTAKES.path });
  return findings;
}
