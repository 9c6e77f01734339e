// Takes credentials and signatures out of what is shown or exported.
/** Headers that prove who one is, also where a gateway has moved them; `Signature-Input` says only what was signed. */
export const CREDENTIALS =
  /authorization|cookie|signature(?!-input$)|token|secret|password|api[-_]?key|assertion|jwt|hmac|^dpop$|^(?:x-)?auth(?:-|$)/i;

/** A token begins with the brace of its header, and where nothing of it stands before. Its header and claims stay. */
const TOKEN = /(?<![\w-])((?:ey[AJ]|ew[0o])[\w-]+\.[\w-]+\.)[\w-]+/g;

/** A text whose tokens have no signature, wherever they stand. */
export function withoutSignatures(text: string, instead: string): string {
  return text.replace(TOKEN, (_token, unsigned: string) => unsigned + instead);
}

/** A target without the values of the parameters whose names say that they are secrets. */
export function withoutParameters(
  target: string,
  isSecret: (name: string) => boolean,
  instead: string,
): string {
  const [path = "", ...query] = target.split("?");
  if (query.length === 0) return path;
  const parts = query.join("?").split("&");
  const shown = parts.map((part) => {
    const [name] = new URLSearchParams(part).keys();
    return name !== undefined && isSecret(name) ? `${name}=${instead}` : part;
  });
  return `${path}?${shown.join("&")}`;
}
