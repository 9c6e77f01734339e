import { afterAll, beforeAll } from "vitest";
import { describeInBrowser, openPage, type WatchedPage } from "./chromium.js";
import { openStage, type Stage } from "./stage.js";

/** What the tests of one file share, from the first of them on. */
export interface OnStage {
  readonly stage: Stage;
  /** The stage's page. */
  readonly open: WatchedPage;
}

/** Tests one after the other on one stage, with its page open all the time. */
export function describeOnStage(name: string, tests: (on: OnStage) => void): void {
  describeInBrowser(name, (browser) => {
    const on = {} as { stage: Stage; open: WatchedPage };
    beforeAll(async () => {
      on.stage = await openStage();
      on.open = await openPage(browser(), on.stage.pageUrl);
    });
    afterAll(async () => {
      await on.open?.context.close();
      await on.stage?.stop();
    });
    tests(on);
  });
}
