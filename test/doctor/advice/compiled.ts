// The code of compiled languages that stands in fixes of mistakes, letter by letter.

export interface Compiled {
  readonly code: string;
  readonly language: "java" | "csharp" | "go" | "c";
}

/** What compiled-fixes.test.ts compiles and runs. */
export const COMPILED: readonly Compiled[] = [
  { code: "Base64.getUrlEncoder().withoutPadding()", language: "java" },
  { code: 'printf("%02x", byte)', language: "c" },
  { code: 'id.ToString("D")', language: "csharp" },
  { code: "new UTF8Encoding(false)", language: "csharp" },
  { code: "RSASignaturePadding.Pkcs1", language: "csharp" },
  { code: "body, err := json.Marshal(payload)", language: "go" },
];

/** The compiled code that a fix tells to write. */
export function compiledIn(fix: string): readonly Compiled[] {
  return COMPILED.filter(({ code }) => fix.includes(code));
}
