// Names the types of events, as their bodies say them.
/** Event types by the beginning of their URIs, with the specification that defines them. */
const FAMILIES: Readonly<Record<string, string>> = {
  "https://schemas.openid.net/secevent/caep/event-type/": "CAEP",
  "https://schemas.openid.net/secevent/risc/event-type/": "RISC",
  "https://schemas.openid.net/secevent/ssf/event-type/": "SSF",
  "urn:ietf:params:SCIM:event:": "SCIM",
};

const LONGEST_TYPE = 80;

/** A type's name, such as `CAEP session-revoked`; undefined for one of nobody known. */
export function nameOfEventType(uri: string): string | undefined {
  const base = Object.keys(FAMILIES).find((one) => uri.startsWith(one) && uri.length > one.length);
  return base && `${FAMILIES[base]} ${uri.slice(base.length)}`;
}

/** The type of the first event in a security event token's claims, by its name where it has one. */
export function eventTypeIn(payload: unknown): string | undefined {
  const { events } = (payload ?? {}) as { events?: unknown };
  const [uri] = typeof events === "object" && events !== null ? Object.keys(events) : [];
  const type = uri && (nameOfEventType(uri) ?? uri);
  return type !== undefined && type.length <= LONGEST_TYPE ? type : undefined;
}

/** The type that a body names: its member `type`, or that of a security event; undefined where it is no short text. */
export function eventTypeOf(body: Uint8Array): string | undefined {
  try {
    const payload = JSON.parse(Buffer.from(body).toString("utf8")) as { type?: unknown } | null;
    const type = payload?.type;
    if (typeof type !== "string") return eventTypeIn(payload);
    return type !== "" && type.length <= LONGEST_TYPE ? type : undefined;
  } catch {
    return undefined;
  }
}
