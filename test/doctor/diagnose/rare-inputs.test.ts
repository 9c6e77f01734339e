// Signing inputs that few people make, with another timestamp, event id or layout, made by hand and named.
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { body, eventId, idsOf, mac, secret, timestamp, url } from "./signed-wrongly.js";

const path = new URL(url).pathname;
const bodyHash = createHash("sha256").update(body).digest("hex");
const text = JSON.stringify(body);

/** The first mistake of a request that is sent with these headers, and signed over another text. */
async function firstOf(
  input: string,
  sent: { stamp?: string; id?: string } = {},
): Promise<string | undefined> {
  return (await idsOf({ signature: mac(secret, input).toString("base64url"), ...sent }))[0];
}
const withStamp = (stamp: string | number) => `${stamp}.${eventId}.${body}`;
const withId = (id: string) => `${timestamp}.${id}.${body}`;

describe("a timestamp that was signed in another form is named:", () => {
  it.each<readonly [id: string, signed: string | number]>([
    ...["000", "000000", "000000000"].map(
      (end) => ["timestamp-signed-in-milliseconds", timestamp + end] as const,
    ),
    // date -u -d @1767225600, in the forms that programs write.
    ...[
      ...["2026-01-01T00:00:00.000Z", "2026-01-01T00:00:00Z", "2026-01-01T00:00:00+00:00"],
      ...["2026-01-01T00:00:00", "2026-01-01T00:00:00.000000Z", "2026-01-01T00:00:00+0000"],
      ...[
        "2026-01-01T00:00:00.000000+00:00",
        "2026-01-01T00:00:00.000+00:00",
        "2026-01-01T00:00:00.0000000Z",
      ],
      ...[
        "2026-01-01 00:00:00",
        "2026-01-01 00:00:00Z",
        "2026-01-01 00:00:00+00:00",
        "2026-01-01 00:00:00 UTC",
      ],
      ...["2026-01-01 00:00:00 +0000", "2026-01-01 00:00:00 +0000 UTC", "2026-01-01 00:00:00.000000+00:00"],
      ...["2026-01-01 00:00:00.000", "20260101T000000Z", "2026-01-01", "Thu, 01 Jan 2026 00:00:00 GMT"],
      ...[
        "Thu, 01 Jan 2026 00:00:00 +0000",
        "Thu Jan 01 2026 00:00:00 GMT+0000 (Coordinated Universal Time)",
      ],
    ].map((date) => ["timestamp-signed-as-date", date] as const),
    ...[".0", ".00", ".000", ".000000"].map(
      (end) => ["timestamp-signed-with-fraction", timestamp + end] as const,
    ),
    ...[-3, -2, -1, 1, 2, 3].map((away) => ["timestamp-of-another-second", 1_767_225_600 + away] as const),
    ...[-4, -10, -60, -300, -900].map(
      (away) => ["timestamp-of-another-attempt", 1_767_225_600 + away] as const,
    ),
    ...[-12, -5, 1, 5.75, 9.5, 13].map(
      (hours) => ["timestamp-of-another-zone", 1_767_225_600 + hours * 3600] as const,
    ),
    // printf %x 1767225600, and its minutes.
    ...["1.7672256e+09", "1.7672256E9", "6955b900", "29453760"].map(
      (form) => ["timestamp-signed-in-other-form", form] as const,
    ),
    ...["null", "None", "NaN", "[object Date]", "[object Object]", "\uFFFD"].map(
      (word) => ["timestamp-signed-in-other-form", word] as const,
    ),
    ...[`"${timestamp}"`, ` ${timestamp}`, `${timestamp}\n`, `-${timestamp}`, `t=${timestamp}`].map(
      (form) => ["timestamp-signed-in-other-form", form] as const,
    ),
  ])("%s: %j", async (id, signed) => {
    expect(await firstOf(withStamp(signed))).toBe(id);
  });

  it.each<readonly [id: string, sent: string]>([
    ["timestamp-signed-in-seconds", "1767225600000"],
    ["timestamp-signed-in-seconds", "1767225600.25"],
    ["timestamp-signed-in-seconds", "1767225600123456"],
    ["timestamp-signed-in-seconds", "1767225600123456789"],
    ["timestamp-signed-in-seconds", "2026-01-01T00:00:00Z"],
    ["timestamp-signed-in-seconds", "2026-01-01T01:00:00.250+01:00"],
    ["timestamp-signed-in-seconds", "Thu, 01 Jan 2026 00:00:00 GMT"],
    ["timestamp-signed-in-seconds", "2025-12-31 19:00:00 -0500"],
    ["timestamp-signed-in-seconds", "1,767,225,600"],
    ["timestamp-signed-in-seconds", "1'767'225'600"],
    ["timestamp-signed-in-other-form", `"${timestamp}"`],
    ["timestamp-signed-in-other-form", ` '${timestamp}' `],
  ])("%s, where the header has %j", async (id, sent) => {
    const ids = await idsOf({
      signature: mac(secret, withStamp(timestamp)).toString("base64url"),
      stamp: sent,
    });
    expect(ids).toContain(id);
    expect(ids).not.toContain("signature-unexplained");
  });

  it("a date without its zone is no time, and neither is a number of other groups", async () => {
    for (const stamp of ["2026-01-01T00:00:00.000", "1,7672,25,600", "17,672,256,00", "2026"])
      expect(
        await idsOf({ signature: mac(secret, withStamp(timestamp)).toString("base64url"), stamp }),
      ).not.toContain("timestamp-signed-in-seconds");
  });
});

describe("an event id that was signed in another form is named:", () => {
  const bare = eventId.replaceAll("-", "");
  it.each<readonly [id: string, signed: string]>([
    ["event-id-signed-in-other-case", eventId.toUpperCase()],
    ["event-id-signed-without-hyphens", bare],
    ["event-id-signed-without-hyphens", bare.toUpperCase()],
    ...[
      ...[`{${eventId}}`, `"${eventId}"`, `urn:uuid:${eventId}`, `UUID('${eventId}')`, `(${eventId})`],
      ...[`{${eventId.toUpperCase()}}`, `'${eventId}'`, `evt_${eventId}`, `msg_${eventId}`, `${eventId}\n`],
      ...[`${eventId} `, ` ${eventId}`],
    ].map((form) => ["event-id-signed-wrapped", form] as const),
  ])("%s: %j", async (id, signed) => {
    expect(await firstOf(withId(signed))).toBe(id);
  });

  it.each([
    ["event-id-signed-in-other-case", eventId.toUpperCase(), eventId],
    ["event-id-signed-wrapped", `{${eventId}}`, eventId],
    ["event-id-signed-wrapped", `URN:uuid:${eventId}`, eventId],
    ["event-id-signed-wrapped", `"${eventId}"`, eventId],
    ["event-id-signed-wrapped", `('${eventId}')`, `'${eventId}'`],
    ["event-id-signed-wrapped", `evt_${eventId}`, eventId],
  ])("%s, where the header has %j", async (id, sent, signed) => {
    expect(await idsOf({ signature: mac(secret, withId(signed)).toString("base64url"), id: sent })).toContain(
      id,
    );
  });
});

describe("parts that were put together in another way are named:", () => {
  const [t, i, b] = [timestamp, eventId, body];
  it.each<readonly [id: string, input: string]>([
    ...[`${i}.${t}.${b}`, `${i}:${t}:${b}`, `${i}\n${t}\n${b}`, `${i}|${t}|${b}`, `${i}, ${t}, ${b}`].map(
      (input) => ["input-id-first", input] as const,
    ),
    ...[
      ...[
        `${t}.${b}`,
        `${t}${b}`,
        `${t}..${b}`,
        `${b}.${t}`,
        `${t}:${b}`,
        `v0:${t}:${b}`,
        `${t}\n${b}`,
        `${b}${t}`,
      ],
      ...[`t=${t}.${b}`, `${t};${b}`, `${b}\r\n${t}`, t],
    ].map((input) => ["input-without-id", input] as const),
    ["input-body-only", b],
    ...[bodyHash, `${t}.${bodyHash}`, `${i}.${bodyHash}`, `${t}${bodyHash}`, `${t}\n${bodyHash}`].map(
      (input) => ["input-of-body-hash", input] as const,
    ),
    ...[`${i}.${t}.${bodyHash}`, `${t}\n${i}\n${bodyHash}`, `${t}:${i}:${bodyHash}`].map(
      (input) => ["input-of-body-hash", input] as const,
    ),
    ...[`${i}.${b}`, `.${i}.${b}`, `${i}${b}`, `${b}${i}`, `${i}&${b}`, `${b}\t${i}`, i].map(
      (input) => ["input-without-timestamp", input] as const,
    ),
    ["input-without-body", `${t}.${i}`],
    ...[`${t}.${b}.${i}`, `${b}.${t}.${i}`, `${b}.${i}.${t}`, `${i}.${b}.${t}`, `${b}:${t}:${i}`].map(
      (input) => ["input-other-order", input] as const,
    ),
    ...[
      ...[`${t}${i}${b}`, `${t}.${i}${b}`, `${t}${i}.${b}`, `${i}${t}${b}`, `${b}${t}${i}`, `${b}${i}${t}`],
      ...[`${t}${b}${i}`, `${i}${b}${t}`],
    ].map((input) => ["input-no-separator", input] as const),
    ...[
      ...[":", "\n", "|", ",", "-", " ", "_", ";", "/", "\r\n", ". ", " . ", "::", "||", "&", "+", "#", "\t"],
      ...["\\n", "\0", "..", ", "],
    ].map((joint) => ["input-other-separator", [t, i, b].join(joint)] as const),
    ...[`${t}.${i}:${b}`, `${t}:${i}.${b}`, `${t}.${i}\n${b}`, `${t}\n${i}.${b}`, `${t} ${i} ${b}\n`].map(
      (input) => ["input-other-separator", input] as const,
    ),
    ...[
      ...["v1.", "v0.", "sha256.", "1.", "v1,", "v1=", "sha256=", "lst_1."].map(
        (start) => `${start}${t}.${i}.${b}`,
      ),
      ...[`v1:${t}:${i}:${b}`, `sha256:${t}:${i}:${b}`, `v1.${i}.${t}.${b}`, `v1:${t}:${b}`, `v1.${t}.${b}`],
      ...["lst_1", "application/json", "POST"].map((more) => `${t}.${i}.${more}.${b}`),
    ].map((input) => ["input-prefix", input] as const),
    ...[`${t}.${i}.${b}.`, `.${t}.${i}.${b}`, `${t}.${i}.${b}undefined`].map(
      (input) => ["input-with-end", input] as const,
    ),
    ...[
      ...[`$${t}.$${i}.$${b}`, `{${t}}.{${i}}.{${b}}`, `#${t}.#${i}.#${b}`, `<${t}>.<${i}>.<${b}>`],
      ...[
        "{timestamp}.{event_id}.",
        `\${timestamp}.\${eventId}.`,
        "{timestamp}.{eventId}.",
        "{timestamp}.{id}.",
      ].map((start) => start + b),
      ...[
        "{timestamp}.{event_id}.{body}",
        `\${timestamp}.\${eventId}.\${body}`,
        `\${timestamp}.\${id}.\${body}`,
      ],
      ...["$timestamp.$eventId.$body", "$ts.$id.$body", "$T.$E.$B", "#{timestamp}.#{event_id}.#{body}"],
      ...["{{timestamp}}.{{event_id}}.{{body}}", `{{$timestamp}}.{{$guid}}.${b}`, "%s.%s.%s", `%s.%s.${b}`],
      ...[
        `undefined.${i}.${b}`,
        `${t}.undefined.${b}`,
        `undefined.undefined.${b}`,
        `None.None.${b}`,
        `..${b}`,
      ],
    ].map((input) => ["input-placeholders", input] as const),
    ...[
      ...[
        `{"timestamp":${t},"eventId":"${i}","body":${b}}`,
        `{"timestamp":"${t}","id":"${i}","payload":${b}}`,
      ],
      ...[
        `{"timestamp":${t},"event_id":"${i}","body":${text}}`,
        `{"timestamp":"${t}","eventId":"${i}","data":${text}}`,
      ],
      ...[
        `["${t}","${i}",${text}]`,
        `["${t}", "${i}", ${text}]`,
        `[${t},"${i}",${b}]`,
        `["${t}","${i}",${b}]`,
      ],
    ].map((input) => ["input-as-json", input] as const),
    ...[
      ...[
        `timestamp=${t}&event_id=${i}&body=${b}`,
        `timestamp=${t}&eventId=${i}&body=${b}`,
        `t=${t}&id=${i}&body=${b}`,
      ],
      ...[
        `Webhook-Timestamp: ${t}\nWebhook-Event-Id: ${i}\n${b}`,
        `webhook-timestamp:${t}\nwebhook-event-id:${i}\n${b}`,
      ],
    ].map((input) => ["input-as-form", input] as const),
    ...[path, url, "tenant.example.com"].flatMap((where) =>
      [
        ...[
          `${where}${b}`,
          `${where}.${b}`,
          `${t}.${where}.${b}`,
          `${t}${where}${b}`,
          `${t}.${i}.${where}.${b}`,
        ],
        ...[`POST\n${where}\n${t}\n${b}`, `POST\n${where}\n${t}\n${i}\n${b}`, `${t}POST${where}${b}`, where],
        ...[
          `POST:${where}:${t}:${b}`,
          `POST|${where}|${t}|${bodyHash}`,
          `post\n${where}\n${b}`,
          `POST ${where}`,
        ],
        ...[
          `${b}|${where}`,
          `${t}|${i}|${b}|${where}`,
          `${t}POST${where}${bodyHash}`,
          `${t}|${i}|POST|${where}|${b}`,
        ],
        ...[`POST ${where} HTTP/1.1`, `POST\n${where}\n${i}\n${t}\n${bodyHash}`],
      ].map((input) => ["input-with-url", input] as const),
    ),
    ...[`POST${b}`, `POST\n${b}`, `POST.${t}.${i}.${b}`].map((input) => ["input-with-url", input] as const),
  ])("%s: %j", async (id, input) => {
    expect(await firstOf(input)).toBe(id);
  });
});
