// Whether a file lies on a read-only mount of its own, as mounted secrets do.
import { readFileSync, realpathSync } from "node:fs";

/**
 * Whether a file is on a read-only mount of its own; the root of everything is none, which a container may have
 * read-only as a whole, with what its image brought. Linux says so in its table of mounts: asking whether the file can
 * be written would only tell root, as others are refused by the file's mode before.
 */
export function isOnReadOnlyMount(path: string): boolean {
  let table: string;
  let file: string;
  try {
    [table, file] = [readFileSync("/proc/self/mountinfo", "utf8"), realpathSync(path)];
  } catch {
    return false;
  }
  let found = { point: "", isReadOnly: false };
  for (const line of table.split("\n")) {
    const [own, ofFileSystem = ""] = line.split(" - ").map((part) => part.split(" "));
    const point = unescaped(own?.[4] ?? "");
    // A later mount at the same place covers the earlier one.
    if (point === "" || point.length < found.point.length || !isBelow(file, point)) continue;
    found = { point, isReadOnly: isReadOnly(own?.[5]) || isReadOnly(ofFileSystem[2]) };
  }
  return found.isReadOnly && found.point !== "/";
}

function isBelow(file: string, point: string): boolean {
  return file === point || file.startsWith(point === "/" ? point : `${point}/`);
}

function isReadOnly(options = ""): boolean {
  return options.split(",").includes("ro");
}

/** The table writes spaces, tabs, line ends and backslashes as octal numbers. */
function unescaped(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  );
}
