import manifest from "../package.json" with { type: "json" };

/**
 * Where the site will stand and where its pages come from. Nothing here has an address: `site/build.mjs` hands on what
 * it was told, as `.ci/pack.mjs` does.
 */
export function settings(env = process.env) {
  const { SITE_BASE: base = "/", SITE_ORIGIN: origin, SITE_REPOSITORY: repository } = env;
  return {
    version: manifest.version,
    origin,
    base: base.endsWith("/") ? base : `${base}/`,
    repository,
    files: repository && `${repository}/blob/v${manifest.version}`,
    edit: repository && `${repository}/edit/main`,
  };
}
