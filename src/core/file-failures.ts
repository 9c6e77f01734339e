// Says in words why the system refused a file.

/** Why, by the system's own code. */
const REASONS: Readonly<Record<string, string>> = {
  EACCES: "this user may not",
  EBUSY: "another program holds it",
  EDQUOT: "this user's share of the disk is used up",
  EEXIST: "something else is there already",
  EIO: "the disk failed",
  EISDIR: "it is a folder",
  ELOOP: "its links lead in a circle",
  EMFILE: "this process has too many files open",
  ENAMETOOLONG: "its name is too long",
  ENFILE: "this machine has too many files open",
  ENOENT: "there is no such folder",
  ENOSPC: "the disk is full",
  ENOTDIR: "a part of the path is no folder",
  ENXIO: "it is no file",
  EPERM: "this user may not",
  EROFS: "its file system can only be read",
};

/** Why the system refused a file; with its own code where there are no words. */
export function fileFailure(error: unknown): string {
  const { code } = Object(error) as { code?: unknown };
  const name = typeof code === "string" ? code : "unknown";
  return Object.hasOwn(REASONS, name) ? `${REASONS[name]}` : `the system said ${name}`;
}
