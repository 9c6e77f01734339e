import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { openStage, requireBuild, type Stage } from "../../test/kit/transcript.js";

const ESC = "\u001b[";

beforeAll(requireBuild);

describe("in a terminal, and out of one", () => {
  it("shows colour and a progress bar on a terminal only", async () => {
    await onStage(async (stage) => {
      const events = Array.from({ length: 1200 }, (_, n) => JSON.stringify({ n })).join("\n");
      writeFileSync(join(stage.folder, "work", "events.jsonl"), events);
      const command = "hookproof send :4400 --batch --data @events.jsonl --concurrency 1";
      const terminal = (await stage.run(`script -qec '${command}' /dev/null`)).join("\n");
      expect(terminal).toContain(`${ESC}32m✔${ESC}39m 200 `);
      expect(terminal).toMatch(/\[#+-+\] \d+\/1200 {2}\d+\/s {2}\d+ s left/);
      expect(terminal).toContain("1200 events: 1200 accepted, 0 duplicates, 0 failed");

      const piped = (await stage.run(`${command} | cat`, true)).join("\n");
      expect(piped).not.toContain("\u001b");
      expect(piped).not.toContain("\r");
    });
  });

  it("obeys NO_COLOR, --no-color and TERM=dumb on a terminal, and FORCE_COLOR in a pipe", async () => {
    await onStage(async (stage) => {
      const command = "hookproof replay last";
      await stage.run("hookproof send :4400 --data 1");
      for (const plain of [`NO_COLOR=1 ${command}`, `${command} --no-color`, `TERM=dumb ${command}`]) {
        expect((await stage.run(`script -qec '${plain}' /dev/null`)).join("\n")).not.toContain(ESC);
      }
      expect((await stage.run(`FORCE_COLOR=1 ${command}`)).join("\n")).toContain(ESC);
    });
  });

  it("survives a reader that goes away", async () => {
    await onStage(async (stage) => {
      await stage.run("seq 200 > numbers.jsonl");
      const seen = await stage.run(
        "set -o pipefail; hookproof send :4400 --batch --data @numbers.jsonl --quiet | head -1",
      );
      expect(seen).toEqual([expect.stringMatching(/^✔ 200 /)]);
    });
  });

  it("ends with 130 when it is interrupted, and a server with 0", async () => {
    await onStage(async (stage) => {
      const sent = await stage.run(
        "HOOKPROOF_SECRET=QSBrZXkgZm9yIEhvb2twcm9vZiB0ZXN0cyBvbmx5ISE timeout --preserve-status --signal=INT 1 hookproof send http://127.0.0.1:4410/api/v1/webhooks/incoming/lst_1 --data 1 --quiet",
      );
      expect(sent.at(-1)).toBe("? 130");
      const listened = await stage.run(
        "set -m; hookproof listen --port 0 > said & until [ -s said ]; do sleep 0.05; done; kill -INT $!; wait $!",
      );
      expect(listened.filter((line) => line.startsWith("?"))).toEqual([]);
    });
  });
});

async function onStage(play: (stage: Stage) => Promise<void>): Promise<void> {
  const stage = await openStage();
  try {
    await stage.run("hookproof listen &");
    await play(stage);
  } finally {
    await stage.close();
  }
}
