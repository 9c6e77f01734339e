/** The scheme of signers that name none: those of `hmacSigner` and `jwtSigner`. */
export { accessGovernance as DEFAULT_SCHEME } from "./access-governance/sign.js";
