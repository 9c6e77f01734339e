import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";

it("failed attempts at the token endpoint cost the same memory, however long the names are that nobody has proved", async () => {
  const script = `
    import { createService } from "hookproof-service";
    const service = await createService();
    const part = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const ask = async (sub) => {
      const answer = await fetch(service.url + "/auth/v1/token", { method: "POST", body: new URLSearchParams({
        grant_type: "client_credentials",
        client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
        client_assertion: part({ alg: "EdDSA" }) + "." + part({ sub }) + ".c2ln",
      }) });
      await answer.text();
      return answer.status;
    };
    const many = async (from, to, more) => {
      for (let n = from; n < to; n += 20)
        await Promise.all(Array.from({ length: 20 }, (_, i) => ask((n + i) + "x".repeat(more))));
    };
    const heap = () => { gc(); gc(); return process.memoryUsage().heapUsed; };
    await many(0, 400, 5_900);
    const before = heap();
    await many(400, 1_900, 5);
    const between = heap();
    await many(1_900, 3_400, 5_900);
    console.log(JSON.stringify([between - before, heap() - between]));
    await service.stop();`;
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ["--expose-gc", "--input-type=module", "-e", script],
    { cwd: fileURLToPath(new URL("../../", import.meta.url)) },
  );
  const [short, long] = JSON.parse(stdout);
  // The long names alone are 8,850,000 bytes.
  expect(long - short).toBeLessThan(4_000_000);
});
