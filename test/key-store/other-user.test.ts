// A key store that another user of the machine could change is refused.
import { chownSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { openKeyStore } from "hookproof/node";
import { beforeEach, expect, it } from "vitest";
import { describeWith, ROOT } from "../kit/needs.js";
import { temporaryFolder } from "../kit/temporary-folder.js";

let dir: string;
beforeEach(() => {
  dir = join(temporaryFolder("keys"), "keys");
});

const OTHER_UID = 65_534;

describeWith(...ROOT)("a store that belongs to another user", () => {
  const refused = async () => {
    const store = openKeyStore(dir);
    for (const call of [
      () => store.load(),
      () => store.generate({ alg: "EdDSA" }),
      () => store.setMaxAge(60),
    ])
      await expect(call()).rejects.toMatchObject({
        code: "KEY_STORE_EXPOSED",
        message: expect.stringContaining("65534"),
      });
  };

  it("is refused: its owner could swap the keys, whatever its modes", async () => {
    await openKeyStore(dir).generate({ alg: "EdDSA" });
    chownSync(dir, OTHER_UID, OTHER_UID);
    await refused();
    chownSync(dir, 0, 0);
    chownSync(join(dir, "keys.json"), OTHER_UID, OTHER_UID);
    await expect(openKeyStore(dir).load()).rejects.toMatchObject({ code: "KEY_STORE_EXPOSED" });
    chownSync(join(dir, "keys.json"), 0, 0);
    expect(await openKeyStore(dir).load()).toHaveLength(1);
  });

  it("is refused when it is still empty", async () => {
    mkdirSync(dir, { mode: 0o700 });
    chownSync(dir, OTHER_UID, OTHER_UID);
    await expect(openKeyStore(dir).generate({ alg: "EdDSA" })).rejects.toMatchObject({
      code: "KEY_STORE_EXPOSED",
    });
    expect(readdirSync(dir)).toEqual([]);
  });
});
