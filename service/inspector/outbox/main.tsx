// Puts the page of an outbox into the document.
import { render } from "preact";
import { createCall } from "../live/call.js";
import { takePageToken } from "../live/page-token.js";
import { createOutboxApi } from "./api.js";
import { OutboxApp } from "./app.js";

const place = document.getElementById("app");
// What stood there before the script is replaced, not mixed with what comes.
place?.replaceChildren();
if (place) render(<OutboxApp api={createOutboxApi(createCall(takePageToken()))} />, place);
