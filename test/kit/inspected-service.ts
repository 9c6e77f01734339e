import { createInspector, createService, type Fixture, startInspector } from "hookproof-service";

/** The path of the auth config that every fixture here has. */
export const CONFIG_PATH = "/api/v1/auth-configs/ac_1";

/** A service with the inspector's page beside it. */
export async function inspectedService(fixture: Fixture = { authConfigs: [{ id: "ac_1" }] }) {
  const inspector = await createInspector();
  const service = await createService({ inspector, fixture });
  const page = await startInspector(inspector, { port: 0 });
  return {
    inspector,
    service,
    page,
    /** What the page shows to read anything. */
    token: new URL(page.pageUrl).hash.slice("#t=".length),
    async stop() {
      await page.stop();
      await service.stop();
    },
  };
}

export type InspectedService = Awaited<ReturnType<typeof inspectedService>>;
