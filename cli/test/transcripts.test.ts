// The stories of the command line but for the first ones.
import { FIRST_STORIES, STORIES, tell } from "./kit/stories.js";

tell(STORIES.filter((name) => !FIRST_STORIES.includes(name)));
