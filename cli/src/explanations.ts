export function explainableNames(): string[] {
  return [];
}
