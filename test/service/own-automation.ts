import { waitFor } from "hookproof/testing";
import type { Service } from "hookproof-service";
import type { components } from "../../service/src/api/openapi.js";
import { clientOf } from "./running-service.js";

type Schemas = components["schemas"];

/** An automation through the administration: an HMAC trigger unless told otherwise, and its secret. */
export async function ownAutomation(
  service: Pick<Service, "url" | "token">,
  change: Partial<Schemas["AutomationInput"]> = {},
): Promise<Schemas["Automation"] & { signingSecret: string }> {
  const client = await clientOf(service);
  const { data, error } = await client.POST("/local/v1/automations", {
    body: { trigger: { hmac: {} }, ...change },
  });
  if (!data) throw new Error(JSON.stringify(error));
  return { ...data.automation, signingSecret: data.signingSecret };
}

/** The runs of an automation in order, once there are so many and all have ended. */
export async function endedRuns(
  service: Pick<Service, "url" | "token">,
  automationId: string,
  count = 1,
): Promise<Schemas["AutomationRun"][]> {
  const client = await clientOf(service);
  const heads = await waitFor(
    async () => {
      const { data } = await client.GET("/local/v1/automations/{automation_id}/runs", {
        params: { path: { automation_id: automationId }, query: { page_size: 100 } },
      });
      const all = data?.list ?? [];
      return all.length === count && all.every((run) => run.finishedAt !== undefined) ? all : undefined;
    },
    { timeoutMs: 60_000, intervalMs: 25 },
  );
  return Promise.all(
    heads.map(async ({ id }) => {
      const { data } = await client.GET("/local/v1/automations/{automation_id}/runs/{run_id}", {
        params: { path: { automation_id: automationId, run_id: id } },
      });
      return (data as Schemas["GetAutomationRunResponse"]).run;
    }),
  );
}
