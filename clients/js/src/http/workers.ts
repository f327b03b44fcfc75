/**
 * Whether this is Cloudflare's runtime. A request of a visitor must not wait there for what another one
 * has begun, which ends with that one; and its modules of Node.js decode what they receive.
 */
export const isWorkers = globalThis.navigator?.userAgent === "Cloudflare-Workers";
