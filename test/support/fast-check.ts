import fc from "fast-check";

// The same inputs in every run, so that what fails was broken by the change at hand; the long form draws new ones.
if (!process.env.HOOKPROOF_LONG) fc.configureGlobal({ seed: 20_261_121 });

export default fc;
