import { waitFor } from "hookproof/testing";
import { expect, it } from "vitest";

it("resolves with the first truthy value", async () => {
  let looks = 0;
  expect(await waitFor(() => ++looks === 3 && "there", { intervalMs: 1 })).toBe("there");
  expect(looks).toBe(3);
});

it("takes a promise, and a throw for not yet", async () => {
  let looks = 0;
  const seen = await waitFor(
    async () => {
      if (++looks < 3) throw new Error("not yet");
      return { looks };
    },
    { intervalMs: 1 },
  );
  expect(seen).toEqual({ looks: 3 });
});

it("gives up in the end, with the last reason", async () => {
  const reason = new Error("no row");
  const waiting = waitFor(() => Promise.reject(reason), { timeoutMs: 5, intervalMs: 1 });
  await expect(waiting).rejects.toMatchObject({ message: "waited 5 ms in vain", cause: reason });
});
