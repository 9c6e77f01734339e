import type { Request, Response } from "express";

/** The answer wherever there is no listener, the same for every such path; what is left of the body is not waited for. */
export function answerUnknown(request: Request, response: Response): void {
  if (!request.complete) response.set("Connection", "close");
  response.status(404).json({ code: "LISTENER_UNKNOWN", message: "There is no listener at this path." });
}
