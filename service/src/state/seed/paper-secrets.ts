// The paper secrets of a seed.
import type { FixtureSecret } from "../fixture.js";
import { idsOf } from "./draw.js";

/** The paper secrets of a seed: one without a limit, and one for the client's own user with 5 views. */
export function paperSecrets(seed: number, start: number): FixtureSecret[] {
  const idOf = idsOf(seed);
  const creatorUserId = idOf("user");
  const at = (seconds: number) => new Date(start + seconds * 1_000).toISOString();
  return [
    {
      id: idOf("secret"),
      access: "EXTERNAL",
      text: "This text can be viewed as often as you like.",
      inputFormat: "SECRET_INPUT_FORMAT_PLAINTEXT",
      creatorUserId,
      createdAt: at(0),
    },
    {
      id: idOf("secret", 1),
      access: "INTERNAL",
      allowedUserIds: [creatorUserId],
      text: '{"user":"billing","password":"correct horse battery staple"}',
      inputFormat: "SECRET_INPUT_FORMAT_JSON",
      views: 5,
      creatorUserId,
      createdAt: at(1),
    },
  ];
}
