// The version of this package, as requests name it.
/** The version of package.json, which a test holds it to. */
export const VERSION = "0.1.0";
