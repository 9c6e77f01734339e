import { readdirSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryFolder } from "../kit/temporary-folder.js";
import { ask, startService } from "./running-service.js";

const UPLOAD = "/local/v1/secrets/upload";
const READER = "age1lggyhqrw2nlhcxprm67z43rta597azn8gknawjehu9d9dl0jq3yqqvfafg";

it.each(["memory", "a folder"])("a file of a secret may be of any size, kept in %s", async (place) => {
  const db = place === "memory" ? undefined : join(temporaryFolder("upload"), "service.db");
  const service = await startService({ db });
  const file = Buffer.alloc(9_000_000, "encrypted ");
  const headers = {
    Authorization: `Bearer ${service.controlToken}`,
    "Content-Type": "application/octet-stream",
  };
  const query = "filename=large.age&creatorUserId=user-ada&views=1";
  const answer = await fetch(`${service.url}${UPLOAD}?${query}`, {
    method: "POST",
    headers,
    body: file,
  });
  expect(answer.status).toBe(200);
  const { id } = (await answer.json()) as { id: string };
  const seen = await ask(service, "POST", `/api/v1/secrets/${id}/view`, {
    body: { readerRecipient: READER },
  });
  expect(seen.body).toMatchObject({
    filename: "large.age",
    secretType: "SECRET_TYPE_FILE",
    viewsRemaining: 0,
  });
  const downloaded = Buffer.from(await (await fetch(seen.body.downloadUrl)).arrayBuffer());
  expect(downloaded.equals(file)).toBe(true);
});

it("an upload that breaks off leaves no secret and no file", async () => {
  const folder = temporaryFolder("upload");
  const service = await startService({ db: join(folder, "service.db") });
  await new Promise<void>((resolve) => {
    const sent = request(`${service.url}${UPLOAD}?filename=a&creatorUserId=user-ada`, {
      method: "POST",
      headers: { Authorization: `Bearer ${service.controlToken}`, "Content-Length": 1_000_000 },
    });
    sent.on("error", () => {}).on("close", () => resolve());
    sent.write(Buffer.alloc(1_000), () => sent.destroy());
  });
  await expect
    .poll(
      () =>
        readdirSync(folder).includes("service.db.objects") && readdirSync(join(folder, "service.db.objects")),
    )
    .toEqual([]);
});

it.each<[query: string, field: string]>([
  ["creatorUserId=user-ada", "filename"],
  ["filename=&creatorUserId=user-ada", "filename"],
  ["filename=a", "creatorUserId"],
  ["filename=a&creatorUserId=nobody", "creatorUserId"],
  ["filename=a&creatorUserId=user-ada&views=-2", "views"],
  ["filename=a&creatorUserId=user-ada&access=PUBLIC", "access"],
])("an upload with ?%s is refused", async (query, field) => {
  const service = await startService();
  const answer = await ask(service, "POST", `${UPLOAD}?${query}`, { body: "x" });
  expect(answer.status).toBe(400);
  expect(answer.body.details[0].fieldViolations[0].field).toBe(field);
});
