import axe, { type AxeResults } from "axe-core";
import type { Page } from "playwright-core";

/** Everything that axe finds wrong in a part of a page, `within` the shadow of an element where one is named. */
export async function violations(page: Page, part = "body", within?: string): Promise<string[]> {
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(axe.source);
  const where = within === undefined ? part : { fromShadowDom: [within, part] };
  const found = await page.evaluate<AxeResults>(
    `axe.run(${JSON.stringify({ include: [where] })}, { resultTypes: ["violations"] })`,
  );
  return found.violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
  );
}
