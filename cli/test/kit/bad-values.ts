// Values that are wrong in one way or another, and the files that some of them name: one table for flags and settings.
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** A PEM in which nothing is a key. */
const BROKEN_PEM = "-----BEGIN PRIVATE KEY-----\nMIIBroken\n-----END PRIVATE KEY-----\n";

const FILES: Readonly<Record<string, string | Uint8Array>> = {
  "empty.txt": "",
  "binary.dat": Uint8Array.from({ length: 300 }, (_, at) => (at * 37) % 256),
  "wide.txt": Buffer.from("\uFEFFX-A: 1", "utf16le"),
  "broken.pem": BROKEN_PEM,
  "broken.json": '{"a":',
  "other.json": '{"a":[1,null,{"b":"c"}]}',
};

/** What names a file of the folder, a folder in it, or nothing. */
const NAMES = ["folder", "missing", "missing/file", "empty.txt/below", "circle", ...Object.keys(FILES)];

const OTHERS = [
  ...["", " ", "\0", "a\0b", "\u001b[2J", "x", "-1", "NaN", "0", "0s", "1e999", "99999999999999999999"],
  ...["2030-02-30", "x=y", "constructor", "__proto__", "\ud800", "a".repeat(5_000)],
  ...["http://[bad", "https://", "https:/a.example", "http://127.0.0.1:99999/", "http://127.0.0.1:9/x"],
  ...["file:///etc", "postgres://[bad", "postgres://127.0.0.1:9/none", ":0", ":99999", ":9", "/dev/full"],
];

/** With the names as they stand in their folder. */
export const BAD_VALUES: readonly string[] = [
  ...OTHERS,
  ...NAMES,
  ...["circle", "folder", "missing", "binary.dat"].map((name) => `@${name}`),
];

/** The same from anywhere: the files are in `folder`. */
export function badValuesOf(folder: string): readonly string[] {
  return [...OTHERS, ...NAMES.map((name) => join(folder, name))];
}

/** Makes what the values name. */
export function makeBadFiles(folder: string): void {
  mkdirSync(join(folder, "folder"), { recursive: true, mode: 0o700 });
  symlinkSync("circle", join(folder, "circle"));
  for (const [name, content] of Object.entries(FILES))
    writeFileSync(join(folder, name), content, { mode: 0o600 });
}
