import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, it } from "vitest";
import { itWith } from "../kit/needs.js";
import { hasTool } from "../kit/outside-tool.js";

const folder = new URL("../../vectors/", import.meta.url);
const read = (name: string): unknown => JSON.parse(readFileSync(new URL(name, folder), "utf8"));
const ajv = new Ajv2020({ strict: false, validateFormats: false });
ajv.addSchema(read("schema.json") as object, "vectors");
const files = readdirSync(folder).filter((name) => name.endsWith(".json") && name !== "schema.json");

it.each(files)("vectors/%s is what its schema says", (file) => {
  const validate = ajv.getSchema(`vectors#/$defs/${file.replace(".json", "")}`);
  expect(validate?.(read(file)), JSON.stringify(validate?.errors)).toBe(true);
});

itWith("openssl", hasTool("openssl", "version"))(
  "the page names every file, and its command prints what it says",
  () => {
    const page = readFileSync(new URL("README.md", folder), "utf8");
    for (const file of files) expect(page).toContain(`\`${file}\``);
    const [, command = ""] = /```sh\n([\s\S]*?)```/.exec(page) ?? [];
    const [, printed] = /^prints `([^`]+)`/m.exec(page) ?? [];
    expect(execFileSync("bash", ["-c", command], { encoding: "utf8" })).toBe(printed);
  },
);
