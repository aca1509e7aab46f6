import { expect, test } from "vitest";
import { mayLeadTo } from "./reach.ts";

const PUBLIC = "https://far.example/mcp";
const HERE = "http://127.0.0.1:1234/mcp";
const NETWORK = "https://192.168.1.2/mcp";

test.each([
  [PUBLIC, "https://login.example/", true],
  [PUBLIC, "https://far.example:8443/", true],
  [PUBLIC, "http://login.example/", false],
  [PUBLIC, "http://127.0.0.1:5000/", false],
  [PUBLIC, "https://127.0.0.1/", false],
  [PUBLIC, "https://127.1.2.3/", false],
  [PUBLIC, "https://2130706433/", false],
  [PUBLIC, "https://0x7f.1/", false],
  [PUBLIC, "https://0.0.0.0/", false],
  [PUBLIC, "https://localhost/", false],
  [PUBLIC, "https://LOCALHOST./", false],
  [PUBLIC, "https://a.localhost/", false],
  [PUBLIC, "https://[::1]/", false],
  [PUBLIC, "https://[::ffff:127.0.0.1]/", false],
  [PUBLIC, "https://[::ffff:10.0.0.1]/", false],
  [PUBLIC, "https://[64:ff9b::127.0.0.1]/", false],
  [PUBLIC, "https://[fe80::1]/", false],
  [PUBLIC, "https://[::127.0.0.1]/", false],
  [PUBLIC, "https://[::ffff:0:127.0.0.1]/", false],
  [PUBLIC, "https://[::5]/", false],
  [PUBLIC, "https://[2002:7f00:1::]/", false],
  [PUBLIC, "https://[2002:808:808::]/", true],
  [PUBLIC, "https://[64:ff9b:1::a00:1]/", false],
  [PUBLIC, "https://[fec0::1]/", false],
  [PUBLIC, "https://[ff02::1]/", false],
  [PUBLIC, "https://224.0.0.1/", false],
  [PUBLIC, "https://255.255.255.255/", false],
  [PUBLIC, "https://198.18.0.1/", false],
  [PUBLIC, "https://192.0.0.8/", false],
  [PUBLIC, "https://[fd00::1]/", false],
  [PUBLIC, "https://[2606:4700::1111]/", true],
  [PUBLIC, "https://10.0.0.1/", false],
  [PUBLIC, "https://172.16.0.1/", false],
  [PUBLIC, "https://172.32.0.1/", true],
  [PUBLIC, "http://169.254.169.254/latest", false],
  [PUBLIC, "https://100.100.100.200/", false],
  [PUBLIC, "ftp://login.example/", false],
  [NETWORK, "https://10.0.0.1/", true],
  [NETWORK, "https://127.0.0.1/", false],
  [NETWORK, "https://login.example/", true],
  [HERE, "http://127.0.0.1:5000/", true],
  [HERE, "http://localhost:5000/", true],
  [HERE, "http://login.example/", false],
  [HERE, "https://login.example/", true],
  ["http://intranet/mcp", "http://intranet/.well-known/x", true],
  ["http://intranet/mcp", "http://intranet:99/", false],
])("a login at %s may lead to %s: %s", (server, target, may) => {
  expect(mayLeadTo(new URL(server), new URL(target))).toBe(may);
});
