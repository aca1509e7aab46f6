import { expect, test } from "vitest";
import { RateLimiter } from "./rate-limiter.ts";

const allowed = (limiter: RateLimiter, addresses: readonly string[], now = 0): number =>
  addresses.filter((address) => limiter.take(address, now) === 0).length;

test("all addresses of one IPv6 network count as one, and others are not affected", () => {
  const limiter = new RateLimiter(3);
  const network = Array.from({ length: 60 }, (_, at) => `2001:db8:1:2::${at.toString(16)}`);
  expect(allowed(limiter, network)).toBe(3);
  expect(allowed(limiter, ["2001:db8:1:2:ffff::1", "2001:0DB8:0001:0002::9"])).toBe(0);
  expect(allowed(limiter, ["2001:db8:1:3::1", "192.0.2.1", "::ffff:192.0.2.1"])).toBe(3);
  expect(allowed(limiter, network, 60_001)).toBe(3);
});
