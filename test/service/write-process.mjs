// @ts-check
// Updates a resource type over and over through a service of its own, and says each name once it was answered.
import { createService } from "hookproof-service";

const service = await createService({
  db: process.argv[2],
  fixture: { apps: [{ id: "app-1", resourceTypes: [{ id: "rt-1" }] }], bridges: [{ id: "bridge-1" }] },
});
const headers = { Authorization: `Bearer ${await service.token()}`, "Content-Type": "application/json" };
for (let number = Number(process.argv[3]); ; number++) {
  const displayName = `${number} ${"x".repeat(900)}`;
  const traitIds = Array.from({ length: 100 }, (_, index) => `${number}-${index}`);
  const body = JSON.stringify({ appResourceType: { displayName, traitIds } });
  const answer = await fetch(`${service.url}/api/v1/apps/app-1/resource_types/rt-1`, {
    method: "POST",
    headers,
    body,
  });
  if (answer.status !== 200) throw new Error(await answer.text());
  process.stdout.write(`${number}\n`);
  await service.rotateSigningKey();
}
