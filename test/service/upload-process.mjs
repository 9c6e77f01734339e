// @ts-check
// A service of its own, by options as JSON, that says whenever it is asked how many bytes its buffers hold.
// Plain JavaScript, so that it is the built package that is started.
import { createService } from "hookproof-service";
import { heldMemory } from "../kit/held-memory.mjs";

const service = await createService({
  ...JSON.parse(process.argv[2] ?? ""),
  // A file may take its time.
  limits: { requestMs: 600_000 },
});
process.on("message", async () => process.send?.((await heldMemory()).buffers));
process.send?.({ url: service.url, token: await service.token() });
process.once("disconnect", () => process.exit());
