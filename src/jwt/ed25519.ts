// Recognises Ed25519 keys under which anything is signed.
/**
 * The y coordinates of the points of order 1, 2, 4 and 8 on Curve25519, in hexadecimal, without the bit that holds
 * the sign of x: 0, 1, -1 and the two of order 8, then 0 and 1 again with the field's prime added.
 */
const LOW_ORDER = new Set([
  "0000000000000000000000000000000000000000000000000000000000000000",
  "0100000000000000000000000000000000000000000000000000000000000000",
  "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
  "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
  "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
  "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
  "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
]);

/**
 * Whether a public key is a point of low order. For such a key, a signature with S = 0 is valid for every message.
 * RFC 8032 does not forbid these keys, and runtimes import them. True also for what is no key.
 */
export function isOfLowOrder(publicKey: Uint8Array | undefined): boolean {
  if (publicKey?.length !== 32) return true;
  const unsigned = [...publicKey.subarray(0, 31), (publicKey[31] ?? 0) & 0x7f];
  return LOW_ORDER.has(unsigned.map((byte) => byte.toString(16).padStart(2, "0")).join(""));
}
