import { existsSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { fencedBlocks, markdownIn, ROOT } from "../kit/markdown.js";
import { BASE, type BuiltSite, describeSite, openSite, REPOSITORY } from "./built-site.js";

describeSite("the site as it is built", () => {
  let site: BuiltSite;
  beforeAll(async () => {
    site = await openSite();
  });
  afterAll(() => site?.close());

  it("has every page of docs/", () => {
    const addresses = markdownIn("docs").map((page) =>
      relative(join(ROOT, "docs"), page)
        .replace(/(?:^|\/)README\.md$/, "/")
        .replace(/^\/$/, "")
        .replace(/\.md$/, "/"),
    );
    expect(addresses.length).toBeGreaterThan(50);
    expect(addresses.filter((address) => !site.pages.has(address))).toEqual([]);
  });

  it("has a page for each command, language and code", () => {
    for (const page of ["cli/send/", "cli/keys-rotate/", "snippets/python/", "errors/signature_mismatch/"])
      expect(site.pages.has(page), page).toBe(true);
    expect(site.pages.get("cli/send/")).toContain(`href="${BASE}cli/"`);
    const commands = site.pages.get("cli/") ?? "";
    expect(commands.match(new RegExp(`href="${BASE}cli/send/"`, "g"))).toHaveLength(1);
    expect(commands).toMatch(/Find a mistake[\s\S]*check a captured request and explain why it fails/);
    expect(site.pages.get("cli/")?.length).toBeLessThan(150_000);
  });

  it("has no link, picture or script that leads nowhere, and no anchor without its heading", () => {
    const broken: string[] = [];
    let checked = 0;
    for (const [address, html] of site.pages)
      for (const [, target = ""] of html.matchAll(/<[^>]+\s(?:href|src)="([^"]*)"/g)) {
        checked += 1;
        if (!leadsSomewhere(address, unescaped(target))) broken.push(`${address}: ${target}`);
      }
    expect(checked).toBeGreaterThan(5_000);
    expect(broken).toEqual([]);
  });

  it("names no id twice on a page", () => {
    for (const [address, html] of site.pages) {
      const ids = [...html.matchAll(/<[a-z][^>]*\sid="([^"]*)"/g)].map(([, id]) => id);
      expect(
        ids.filter((id, index) => ids.indexOf(id) !== index),
        address,
      ).toEqual([]);
    }
  });

  it("shows the version, and where each page can be edited", () => {
    for (const [address, html] of site.pages) {
      expect(html, address).toContain(`<small>${manifest.version}</small>`);
      if (address !== "") expect(html, address).toContain(`href="${REPOSITORY}/edit/main/`);
    }
    expect(site.pages.get("guides/outbox/")).toContain(`"${REPOSITORY}/edit/main/docs/guides/outbox.md"`);
  });

  it("lets the reader copy the commands of a transcript without what they print", () => {
    const [block] = fencedBlocks(join(ROOT, "docs/guides/quick-start.md")).filter(
      ({ language, text }) => language === "console" && text.startsWith("$ hookproof send"),
    );
    const commands = block?.text.split("\n").filter((line) => line.startsWith("$ ")) ?? [];
    expect(commands).toHaveLength(2);
    const copied = commands.map((line) => line.slice(2)).join("\u007f");
    const codes = [...(site.pages.get("guides/quick-start/") ?? "").matchAll(/data-code="([^"]*)"/g)];
    expect(codes.map(([, code = ""]) => unescaped(code))).toContain(copied);
  });

  it("has in its menu what people do, and of the evidence one page, which the search leaves out", () => {
    const html = site.pages.get("guides/outbox/") ?? "";
    const [menu = ""] = /<sl-sidebar-pane[\s\S]*?<\/sl-sidebar-pane>/.exec(html) ?? [];
    const jobs = ["Send", "Keep until delivered", "Receive", "Find out why", "Test", "Run"];
    const groups = [...menu.matchAll(/<summary[\s\S]*?<\/summary>/g)].map(([one]) =>
      one.replace(/<[^>]+>/g, "").trim(),
    );
    expect(groups).toEqual(["Start", ...jobs, "Reference", "Behind it"]);
    expect(menu).toContain(`href="${BASE}evidence/"`);
    const evidence = [
      "performance",
      "decisions",
      "simulation",
      "mutation",
      "proof",
      "advice",
      "doors",
      "soak",
    ];
    for (const name of [...evidence, "service-conformance"]) {
      expect(menu, name).not.toContain(`href="${BASE}${name}/"`);
      expect(site.pages.get(`${name}/`), name).not.toContain("data-pagefind-body");
    }
    expect(html).toContain("data-pagefind-body");
  });

  it("shows what a command prints in a terminal's colours", () => {
    const html = site.pages.get("guides/quick-start/") ?? "";
    expect(html).toContain('<span class="well">✔ 200');
    expect(html).toContain('<span class="next">next:');
    expect(html).not.toContain('<span class="said">$ ');
  });

  it("asks nothing of another host", () => {
    for (const [address, html] of site.pages) {
      const loaded = [...html.matchAll(/<(?:script|link|img|iframe|source)[^>]+(?:src|href)="([^"]*)"/g)];
      const others = loaded.filter(
        ([tag, target = ""]) => !target.startsWith(BASE) && !tag.includes("canonical"),
      );
      expect(
        others.map(([tag]) => tag),
        address,
      ).toEqual([]);
    }
  });

  function leadsSomewhere(from: string, target: string): boolean {
    if (/^[a-z]+:/.test(target)) return target.startsWith("https://");
    const { pathname, hash } = new URL(target, `http://site${BASE}${from}`);
    if (!pathname.startsWith(BASE)) return false;
    const place = decodeURIComponent(pathname.slice(BASE.length));
    const page = site.pages.get(place);
    if (page === undefined) return hash === "" && existsSync(join(site.folder, place));
    return hash === "" || page.includes(` id="${decodeURIComponent(hash.slice(1))}"`);
  }
});

function unescaped(html: string): string {
  return html
    .replace(/&#x([0-9a-f]+);/gi, (_, code: string) => String.fromCodePoint(Number.parseInt(code, 16)))
    .replaceAll("&quot;", '"')
    .replaceAll("&amp;", "&");
}

it("a page that is built without the repository links to nothing outside of the site", async () => {
  const { withSiteLinks } = (await import(join(ROOT, "site/pages.mjs"))) as {
    withSiteLinks: (page: object, pages: Map<string, object>, where: object) => string;
  };
  const text = "[code](../src/a.ts), [guide](guides/b.md#c), ![p](images/d.svg), `[e](f.md)`\n";
  const pages = new Map([["docs/guides/b.md", { id: "guides/b" }]]);
  expect(withSiteLinks({ file: "docs/x.md", text }, pages, { base: "/" })).toBe(
    "code, [guide](/guides/b/#c), ![p](/images/d.svg), `[e](f.md)`\n",
  );
  const files = `${REPOSITORY}/blob/v1.2.3`;
  expect(withSiteLinks({ file: "docs/x.md", text }, pages, { base: "/", files })).toContain(
    `[code](${files}/src/a.ts)`,
  );
  expect(readFileSync(join(ROOT, "site/settings.mjs"), "utf8")).not.toMatch(/https?:/);
});
