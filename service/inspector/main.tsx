// Puts the inspector's page into the document.
import { render } from "preact";
import { App } from "./app.js";
import { createApi } from "./live/api.js";
import { takePageToken } from "./live/page-token.js";

const place = document.getElementById("app");
// What stood there before the script is replaced, not mixed with what comes.
place?.replaceChildren();
if (place) render(<App api={createApi(takePageToken())} />, place);
