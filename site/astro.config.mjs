import starlight from "@astrojs/starlight";
import { defineConfig } from "astro/config";
import { groupsOfMenu } from "./pages.mjs";
import { settings } from "./settings.mjs";

const { base, origin, repository } = settings();

export default defineConfig({
  base,
  site: origin,
  trailingSlash: "always",
  prefetch: false,
  integrations: [
    starlight({
      title: "Hookproof",
      description: "Send, verify and explain signed webhooks.",
      favicon: "/icon.svg", // the inspector's, which the build lays beside the pages
      customCss: ["./src/style/tokens.css", "./src/style/page.css"],
      components: {
        SiteTitle: "./src/parts/SiteTitle.astro",
        Head: "./src/parts/Head.astro",
        Hero: "./src/parts/Hero.astro",
        Search: "./src/parts/Search.astro",
      },
      social: repository ? [{ icon: "github", label: "Repository", href: repository }] : [],
      sidebar: groupsOfMenu().map(({ label, pages }) => ({
        label,
        items: pages.map(({ id, title }) => ({ label: title, link: `/${id}/` })),
      })),
      expressiveCode: {
        themes: ["github-dark", "github-light"],
        defaultProps: { frame: "none" },
        styleOverrides: {
          borderRadius: "6px",
          codeBackground: "var(--code-ground)",
          codeFontSize: "0.82rem",
        },
      },
    }),
  ],
});
