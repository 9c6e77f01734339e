import { type SeedOptions, seedDatabase } from "hookproof-service";
import type { Context } from "./command.js";
import { startProgress } from "./progress.js";
import { bucketOf, onDatabase } from "./service-database.js";

/** Fills the service's database and shows how far it is; gives the number of users. */
export async function fillDatabase(
  { io, global }: Pick<Context, "io" | "global">,
  options: SeedOptions,
): Promise<number> {
  const { fixture, users = 250 } = options;
  const progress = startProgress(io, global.quiet, fixture ? undefined : users);
  let seen = 0;
  const onProgress = (done: number) => {
    progress.advance(done - seen);
    seen = done;
  };
  await onDatabase(() => seedDatabase({ ...options, s3: bucketOf(io), onProgress })).finally(() =>
    progress.finish(),
  );
  return fixture ? (fixture.users?.length ?? 0) : users;
}
