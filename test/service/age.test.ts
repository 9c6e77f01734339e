import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  Decrypter,
  generateHybridIdentity,
  generateX25519Identity,
  identityToRecipient,
} from "age-encryption";
import { afterAll, describe, expect, it } from "vitest";
import { newIdentity, openVault } from "../../service/src/secrets/age.js";
import { itWith } from "../kit/needs.js";
import { hasTool } from "../kit/outside-tool.js";

const hasAge = hasTool("age", "--version");
const folder = mkdtempSync(join(tmpdir(), "hookproof-age-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** The programs know hybrid keys from 1.3 on; Debian 12 has 1.1. */
const knowsHybrid = hasAge && canReadHybrid();

function canReadHybrid(): boolean {
  try {
    execFileSync("age-keygen", ["-pq"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** What `age -d` makes of a file with an identity. */
function decrypted(identity: string, file: string): string {
  writeFileSync(join(folder, "identity"), `${identity}\n`, { mode: 0o600 });
  return execFileSync("age", ["-d", "-i", join(folder, "identity")], {
    input: Buffer.from(file, "base64"),
    encoding: "utf8",
  });
}

const TEXTS = ["hunter2", "", "zeile eins\nzeile zwei\n", "café 🔐", "x".repeat(200_000)];

describe("the vault of text secrets", () => {
  it("stores nothing of the text, and two copies of one text differ", async () => {
    const vault = await openVault(await newIdentity());
    const [one, other] = [await vault.seal("correct horse"), await vault.seal("correct horse")];
    expect(Buffer.from(one).includes("correct horse")).toBe(false);
    expect(Buffer.from(one).subarray(0, 21).toString()).toBe("age-encryption.org/v1");
    expect(Buffer.compare(one, other)).not.toBe(0);
  });

  itWith("age", hasAge)("is read by age -d with an identity of age-keygen", async () => {
    const made = execFileSync("age-keygen", { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
    const recipient = /# public key: (age1\S+)/.exec(made)?.[1] ?? "";
    const vault = await openVault(await newIdentity());
    for (const text of TEXTS) {
      const answered = await vault.sealFor(recipient, await vault.seal(text));
      expect(answered).toMatch(/^(?:[A-Za-z0-9+/]{4})+(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/);
      expect(decrypted(made, answered ?? "")).toBe(text);
    }
  });

  itWith("age 1.3", knowsHybrid)("is read by an age program that knows hybrid keys", async () => {
    const identity = await generateHybridIdentity();
    const vault = await openVault(await newIdentity());
    const answered = await vault.sealFor(await identityToRecipient(identity), await vault.seal("both"));
    expect(decrypted(identity, answered ?? "")).toBe("both");
  });

  it("is read with a hybrid identity, and by nobody else", async () => {
    const identity = await generateHybridIdentity();
    const vault = await openVault(await newIdentity());
    const answered = await vault.sealFor(await identityToRecipient(identity), await vault.seal("both"));
    const file = new Uint8Array(Buffer.from(answered ?? "", "base64"));
    expect(Buffer.from(file).toString("latin1")).toContain("-> mlkem768x25519 ");
    const reader = new Decrypter();
    reader.addIdentity(identity);
    expect(await reader.decrypt(file, "text")).toBe("both");
    const stranger = new Decrypter();
    stranger.addIdentity(await generateHybridIdentity());
    await expect(stranger.decrypt(file)).rejects.toThrow();
  });
});

describe("recipients", async () => {
  const { isRecipient, seal, sealFor } = await openVault(await newIdentity());

  it("are X25519 and hybrid ones", async () => {
    expect(await isRecipient(await identityToRecipient(await generateX25519Identity()))).toBe(true);
    expect(await isRecipient(await identityToRecipient(await generateHybridIdentity()))).toBe(true);
  });

  const good = "age1lggyhqrw2nlhcxprm67z43rta597azn8gknawjehu9d9dl0jq3yqqvfafg";
  it("includes the one of the age test suite", async () => expect(await isRecipient(good)).toBe(true));

  it.each([
    ["nothing", ""],
    ["an identity", "AGE-SECRET-KEY-1XRQXSKMVH7MGSDVZDEK0VS0K7XNL2NL8PHNPE0Y0PZS2KS4X2SAQRWZEXX"],
    ["an SSH key", "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIDw/wAzRRfuAfWxfDY6ybuSiIpZyMcrVgZvTpNjWBQjB"],
    ["a changed character", good.replace("lggy", "lggz")],
    ["capitals", good.toUpperCase()],
    ["one character too few", good.slice(0, -1)],
    ["a space before it", ` ${good}`],
    ["two of them", `${good}\n${good}`],
    ["a hardware key", "age1tag1qwe0kafsjrar4txm6heqnhpfuggzr0gvznz7fvygxrlq90u5mq2pysxtw6h"],
    ["a million characters", `age1${"q".repeat(1_000_000)}`],
  ])("are refused: %s", async (_, text) => expect(await isRecipient(text)).toBe(false));

  it("that no secret can be agreed on with give nothing", async () => {
    // 32 zero bytes with their checksum: a point whose every multiple is zero.
    const zero = `age1${"q".repeat(52)}5cu47z`;
    expect(await isRecipient(zero)).toBe(true);
    expect(await sealFor(zero, await seal("text"))).toBeUndefined();
  });
});
