// The first stories of the command line: send, replay, sign, verify, secrets, help.
import { FIRST_STORIES, tell } from "./kit/stories.js";

tell(FIRST_STORIES);
