import { connect, type Socket } from "node:net";

/** One header line, as it goes over the wire. */
export type Line = readonly [name: string, value: string];

/** An answer as it came back over the socket. */
export interface Answer {
  readonly status: number;
  /** The stable code of a refusal, where the pipeline answered. */
  readonly code: string | undefined;
  readonly body: string;
  header(name: string): string | undefined;
}

/** What a connection gave until the server closed it. */
export interface Conversation {
  readonly answers: readonly Answer[];
  /** The server ended the connection in order, and did not reset it. */
  readonly endedInOrder: boolean;
}

/** A request's bytes; every header is exactly what is given, one byte for each character (Latin-1). */
export function requestBytes(request: {
  method?: string;
  target: string;
  version?: string;
  headers: readonly Line[];
  body?: Uint8Array | string;
}): Buffer {
  const { method = "POST", target, version = "HTTP/1.1", headers, body = "" } = request;
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  const head = Buffer.from(`${method} ${target} ${version}\r\n${lines}\r\n`, "latin1");
  return Buffer.concat([head, typeof body === "string" ? Buffer.from(body) : body]);
}

/** Opens a connection, lets `write` use it, and reads until the server closes it. */
export function converse(
  port: number,
  write: (socket: Socket) => unknown,
  { hangAfterMs = 60_000, localAddress }: { hangAfterMs?: number; localAddress?: string } = {},
): Promise<Conversation> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: "127.0.0.1", ...(localAddress && { localAddress }) });
    const chunks: Buffer[] = [];
    let endedInOrder = false;
    const guard = setTimeout(() => {
      socket.destroy();
      reject(new Error(`the server kept the connection open: ${Buffer.concat(chunks).toString("latin1")}`));
    }, hangAfterMs);
    socket.on("connect", () => write(socket));
    socket.on("data", (chunk) => chunks.push(chunk));
    socket.on("end", () => {
      endedInOrder = true;
    });
    socket.on("error", () => {});
    socket.on("close", () => {
      clearTimeout(guard);
      resolve({ answers: parseAnswers(Buffer.concat(chunks).toString("latin1")), endedInOrder });
    });
  });
}

/** Sends bytes and gives the one answer they get before the server closes the connection. */
export async function exchange(port: number, bytes: Uint8Array, localAddress?: string): Promise<Answer> {
  const { answers } = await converse(port, (socket) => socket.write(bytes), {
    ...(localAddress && { localAddress }),
  });
  const [answer] = answers;
  if (answer === undefined || answers.length !== 1) throw new Error(`${answers.length} answers`);
  return answer;
}

function parseAnswers(text: string): Answer[] {
  const answers: Answer[] = [];
  let rest = text;
  while (rest !== "") {
    const headEnd = rest.indexOf("\r\n\r\n");
    if (headEnd < 0) throw new Error(`not an HTTP answer: ${rest}`);
    const [statusLine = "", ...lines] = rest.slice(0, headEnd).split("\r\n");
    const header = (name: string) =>
      lines
        .find((line) => line.toLowerCase().startsWith(`${name.toLowerCase()}:`))
        ?.slice(name.length + 1)
        .trim();
    const status = Number(statusLine.split(" ")[1]);
    const length = status < 200 ? 0 : Number(header("Content-Length") ?? rest.length);
    const body = rest.slice(headEnd + 4, headEnd + 4 + length);
    answers.push({ status, code: codeOf(body), body, header });
    rest = rest.slice(headEnd + 4 + length);
  }
  return answers;
}

function codeOf(body: string): string | undefined {
  try {
    return (JSON.parse(body) as { code?: string }).code;
  } catch {
    return undefined;
  }
}
