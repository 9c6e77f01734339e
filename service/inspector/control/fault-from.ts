// The fields of the form for faults, and the fault they make.
/** What can go wrong, and how the page says it. */
export const KINDS = [
  ["status", "a status"],
  ["wait", "a wait"],
  ["disconnect", "the connection is cut"],
  ["malformed", "JSON that ends in the middle"],
  ["sequence", "one after another"],
  ["rateLimit", "a rate limit"],
] as const;

export type FaultKind = (typeof KINDS)[number][0];

/** The fields of the form, as they were typed. */
export const NO_FAULT = {
  kind: "status" as FaultKind,
  status: "503",
  retryAfter: "",
  waitSeconds: "",
  times: "",
  sequence: "",
  requests: "10",
  windowSeconds: "60",
};

const PARTS: Record<string, object> = { ok: {}, cut: { disconnect: true }, malformed: { malformed: true } };

/** The fault that the service takes; a field that is empty is left out. */
export function faultFrom(form: typeof NO_FAULT): object {
  const { kind } = form;
  if (kind === "sequence")
    return {
      sequence: form.sequence.split(",").map((part) => PARTS[part.trim()] ?? { status: Number(part) }),
    };
  if (kind === "rateLimit")
    return {
      rateLimit: { requests: Number(form.requests), windowMs: Math.round(Number(form.windowSeconds) * 1000) },
    };
  return {
    ...(kind === "status"
      ? { status: Number(form.status), ...given("retryAfterSeconds", form.retryAfter) }
      : {}),
    ...(kind === "disconnect" || kind === "malformed" ? { [kind]: true } : {}),
    ...given("delayMs", form.waitSeconds, 1000),
    ...given("times", form.times),
  };
}

function given(name: string, text: string, factor = 1): object {
  return text === "" ? {} : { [name]: Math.round(Number(text) * factor) };
}
