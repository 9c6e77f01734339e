import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { parseAllDocuments } from "yaml";
import { itWith } from "../kit/needs.js";
import { temporaryFolder } from "../kit/temporary-folder.js";
import { imageSettings, ROOT } from "./compose-file.js";

const FOLDER = join(import.meta.dirname, "kubernetes");
const hasSchemas = existsSync(join(FOLDER, "node_modules"));
const itWithSchemas = itWith("test/image/kubernetes", hasSchemas);
const manifest = readFileSync(join(ROOT, "examples/operating/kubernetes.yaml"), "utf8");

const checked = (input: string) =>
  spawnSync(process.execPath, [join(FOLDER, "check.mjs")], { input, encoding: "utf8" });

itWithSchemas("the manifest is one by the schemas of Kubernetes", () => {
  const { stdout, stderr } = checked(manifest);
  expect(stderr).toBe("");
  expect(stdout.trim().split("\n")).toEqual(["v1 ConfigMap", "apps/v1 Deployment", "v1 Service"]);
  expect(checked(manifest.replace("containerPort: 9464", "containerPort: http")).stderr).toContain(
    "containerPort must be integer",
  );
});

/** What the compiler says of the manifests as literals of Kubernetes' types, which refuse names that there are not. */
function misnamed(text: string): string {
  const folder = temporaryFolder("kubernetes");
  symlinkSync(join(FOLDER, "node_modules"), join(folder, "node_modules"));
  const lines = parseAllDocuments(text).flatMap((document, n) => {
    const { apiVersion, kind } = document.toJS() as { apiVersion: string; kind: string };
    return [
      `import type { I${kind} as Kind${n} } from "kubernetes-models/${apiVersion}";`,
      `export const manifest${n}: Kind${n} = ${JSON.stringify(document)};`,
    ];
  });
  writeFileSync(join(folder, "manifest.ts"), lines.join("\n"));
  const tsc = [join(ROOT, "node_modules/typescript/bin/tsc"), "--noEmit", "--strict", "--skipLibCheck"];
  const flags = ["--module", "nodenext", "--ignoreConfig", "manifest.ts"];
  return spawnSync(process.execPath, [...tsc, ...flags], { cwd: folder, encoding: "utf8" }).stdout;
}

itWithSchemas("it names nothing that Kubernetes does not have", () => {
  expect(misnamed(manifest)).toBe("");
  expect(misnamed(manifest.replace("readOnlyRootFilesystem", "readOnlyRoot"))).toContain("readOnlyRoot");
});

itWithSchemas("its pod runs as the image does, and may write nowhere else", () => {
  const [, deployment] = parseAllDocuments(manifest).map((document) => document.toJS());
  const { securityContext, containers, initContainers, terminationGracePeriodSeconds } =
    deployment.spec.template.spec;
  expect(String(securityContext.runAsUser)).toBe(imageSettings().uid);
  expect(terminationGracePeriodSeconds).toBeGreaterThan(30);
  for (const { securityContext: own, volumeMounts } of [...containers, ...initContainers]) {
    expect(own).toEqual({
      readOnlyRootFilesystem: true,
      allowPrivilegeEscalation: false,
      capabilities: { drop: ["ALL"] },
    });
    expect(volumeMounts.map(({ mountPath }: { mountPath: string }) => mountPath)).toContain(
      imageSettings().env.HOOKPROOF_HOME,
    );
  }
});
