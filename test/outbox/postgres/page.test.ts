import { afterAll, expect, it, onTestFinished } from "vitest";
import { TOKEN_HEADER } from "../../../service/src/inspector/contract.js";
import type { DeadLetters, EventView, Overview } from "../../../service/src/outbox/contract.js";
import { describeWith } from "../../kit/needs.js";
import { testPostgres } from "../../kit/postgres.js";
import { testOutbox } from "../../kit/postgres-outbox.js";
import { shownOutbox } from "../../kit/shown-outbox.js";

const postgres = await testPostgres();
afterAll(() => postgres?.stop());

describeWith("postgresql", postgres)("the page of an outbox on PostgreSQL", () => {
  it("shows listeners, dead letters and events as it does on the other engines", async () => {
    const database = testOutbox(postgres?.url ?? "");
    const { page, token, stop } = await shownOutbox(database.store());
    onTestFinished(async () => {
      await stop();
      await database.drop();
    });
    const get = async <Value>(path: string) =>
      (await (
        await fetch(`${page.url}/api/${path}`, { headers: { [TOKEN_HEADER]: token } })
      ).json()) as Value;
    const { listeners } = await get<Overview>("overview");
    expect(
      listeners.map(({ listener, pending, delivered, dead }) => [listener, pending, delivered, dead]),
    ).toEqual([
      ["refusing", 0, 0, 3],
      ["down", 3, 0, 0],
      ["well", 0, 3, 0],
    ]);
    expect(listeners[1]?.failure).toMatchObject({ status: 503, eventId: expect.any(String) });
    const { groups } = await get<DeadLetters>("dead-letters");
    expect(groups).toMatchObject([{ listener: "refusing", code: "REQUEST_REFUSED", count: 3 }]);
    const [event] = await get<EventView[]>(`events/${groups[0]?.ids[0]}`);
    expect(event).toMatchObject({ state: "dead", attempts: [{ number: 1, status: 400 }] });
  });
});
