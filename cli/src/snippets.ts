// Programs that send or verify in other languages, as they are printed.
import { readFileSync } from "node:fs";

/** What a program proves a webhook with, and what it does. */
export type SnippetMethod = "hmac" | "jwt";
export type SnippetAction = "sign" | "verify" | "send";
/** What there is a program for. */
type SnippetPart = `${SnippetMethod}-${SnippetAction}`;

/** The programs of one language. */
interface SnippetLanguage {
  /** How it is called in text. */
  readonly title: string;
  readonly files: Readonly<Record<SnippetPart, string>>;
  /** The library for tokens that people of this language take, where the program does not use it itself. */
  readonly library: string;
  /** The programs that no test of this project has run, for want of a compiler or a library. */
  readonly notRun: readonly SnippetPart[];
}

/** Programs by language; each is a file of `snippets/`, and those that sign by HMAC are those of `examples/signature`. */
export const SNIPPETS: Readonly<Record<string, SnippetLanguage>> = {
  python: { title: "Python", library: "PyJWT", notRun: [], files: named("py") },
  go: { title: "Go", library: "github.com/golang-jwt/jwt", notRun: [], files: named("go") },
  java: {
    title: "Java",
    library: "com.nimbusds:nimbus-jose-jwt",
    notRun: [],
    files: {
      "hmac-sign": "Sign.java",
      "hmac-verify": "HmacVerify.java",
      "hmac-send": "HmacSend.java",
      "jwt-sign": "JwtSign.java",
      "jwt-send": "JwtSend.java",
      "jwt-verify": "JwtVerify.java",
    },
  },
  csharp: {
    title: "C#",
    library: "Microsoft.IdentityModel.JsonWebTokens",
    notRun: ["jwt-sign", "jwt-send", "jwt-verify"],
    files: {
      "hmac-sign": "HmacSign.cs",
      "hmac-verify": "HmacVerify.cs",
      "hmac-send": "HmacSend.cs",
      "jwt-sign": "JwtSign.cs",
      "jwt-send": "JwtSend.cs",
      "jwt-verify": "JwtVerify.cs",
    },
  },
  php: { title: "PHP", library: "firebase/php-jwt", notRun: [], files: named("php") },
  ruby: { title: "Ruby", library: "the gem jwt", notRun: [], files: named("rb") },
  rust: {
    title: "Rust",
    library: "the crate jsonwebtoken",
    notRun: ["hmac-send", "jwt-sign", "jwt-send", "jwt-verify"],
    files: named("rs"),
  },
  shell: { title: "Shell", library: "none; openssl and jq", notRun: [], files: named("sh") },
};

function named(extension: string): SnippetLanguage["files"] {
  return {
    "hmac-sign": `hmac-sign.${extension}`,
    "hmac-verify": `hmac-verify.${extension}`,
    "hmac-send": `hmac-send.${extension}`,
    "jwt-sign": `jwt-sign.${extension}`,
    "jwt-send": `jwt-send.${extension}`,
    "jwt-verify": `jwt-verify.${extension}`,
  };
}

/** A program, and what is to know of it. */
interface Snippet {
  readonly file: string;
  readonly code: string;
  readonly library: string;
  /** Whether the tests of this project run it over the vectors. */
  readonly tested: boolean;
}

/** The program of a language; `undefined` for another language. */
export function snippetOf(
  language: string,
  method: SnippetMethod,
  action: SnippetAction,
): Snippet | undefined {
  const found = Object.hasOwn(SNIPPETS, language) ? SNIPPETS[language] : undefined;
  const part = `${method}-${action}` as const;
  if (!found) return undefined;
  const file = found.files[part];
  const code = readFileSync(new URL(`../snippets/${file}`, import.meta.url), "utf8");
  return { file, code, library: found.library, tested: !found.notRun.includes(part) };
}
