/** The programs of `examples/signature`, and what the same files are called in `cli/snippets`. */
export const SIGNERS: readonly (readonly [example: string, snippet: string])[] = [
  ["sign.py", "hmac-sign.py"],
  ["sign.go", "hmac-sign.go"],
  ["sign.php", "hmac-sign.php"],
  ["sign.rb", "hmac-sign.rb"],
  ["sign.sh", "hmac-sign.sh"],
  ["Sign.java", "Sign.java"],
];
