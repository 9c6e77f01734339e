// A Cloudflare Worker. Its memory is not shared between instances: a replayStore over a database or a Durable
// Object makes "once" hold for all of them. The receiver is made once an instance, when the first request brings
// the bindings.
import { createReceiver } from "hookproof/receiver";

let receiver;

export default {
  fetch(request, env) {
    receiver ??= createReceiver({
      listener: {
        id: "lst_offboarding",
        baseUrl: env.LISTENER_BASE_URL,
        auth: { method: "hmac", secret: env.LISTENER_SECRET },
      },
    });
    return receiver.handle(request, async (event) => console.log("run", event.id), {
      sourceAddress: request.headers.get("CF-Connecting-IP") ?? undefined,
    });
  },
};
