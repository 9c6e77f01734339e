import { onTestFinished } from "vitest";
import { serve } from "../kit/loopback.js";

/** What an upload to a static host does. */
export type UploadFault = "none" | "refused" | "answer lost" | "half" | "late";

/** A static host on loopback, whose uploads and answers go wrong as a test says. */
export interface StaticHost {
  readonly url: string;
  /** What the host shows. */
  document: string;
  /** Whether the next answer is a 503. */
  isDown: () => boolean;
  /** Uploads a document: it may be refused, arrive though the answer is lost, arrive in part, or arrive later. */
  upload(document: string, fault: UploadFault): void;
  /** What was uploaded late arrives now. */
  settle(): void;
}

/** Starts a host with `Cache-Control: max-age`. */
export async function startStaticHost(maxAgeSeconds: number): Promise<StaticHost> {
  const late: string[] = [];
  const server = await serve((_request, response) => {
    if (host.isDown()) return void response.writeHead(503).end();
    if (host.document === "") return void response.writeHead(404).end();
    response.writeHead(200, {
      "Content-Type": "application/json",
      "Cache-Control": `public, max-age=${maxAgeSeconds}`,
    });
    response.end(host.document);
  });
  onTestFinished(() => server.stop());
  const host: StaticHost = {
    url: `${server.url}/.well-known/jwks.json`,
    document: "",
    isDown: () => false,
    upload(document, fault) {
      if (fault === "refused") throw new Error("the host refused the upload");
      if (fault === "late") return void late.push(document);
      host.document = fault === "half" ? document.slice(0, document.length / 2) : document;
      if (fault === "answer lost") throw new Error("the connection broke");
    },
    settle() {
      for (const document of late.splice(0)) host.document = document;
    },
  };
  return host;
}
