import { expect, test } from "vitest";
import { mayLeadTo } from "./reach.ts";

const FAR = "https://far.example/mcp";
const HERE = "http://127.0.0.1:1234/mcp";
const NETWORK = "https://192.168.1.2/mcp";

test.each([
  [FAR, "https://login.example/", true],
  [FAR, "https://far.example:8443/", true],
  [FAR, "http://login.example/", false],
  [FAR, "http://127.0.0.1:5000/", false],
  [FAR, "https://127.0.0.1/", false],
  [FAR, "https://127.1.2.3/", false],
  [FAR, "https://2130706433/", false],
  [FAR, "https://0x7f.1/", false],
  [FAR, "https://0.0.0.0/", false],
  [FAR, "https://localhost/", false],
  [FAR, "https://LOCALHOST./", false],
  [FAR, "https://a.localhost/", false],
  [FAR, "https://[::1]/", false],
  [FAR, "https://[::ffff:127.0.0.1]/", false],
  [FAR, "https://[::ffff:10.0.0.1]/", false],
  [FAR, "https://[64:ff9b::127.0.0.1]/", false],
  [FAR, "https://[fe80::1]/", false],
  [FAR, "https://[::127.0.0.1]/", false],
  [FAR, "https://[::ffff:0:127.0.0.1]/", false],
  [FAR, "https://[::5]/", false],
  [FAR, "https://[2002:7f00:1::]/", false],
  [FAR, "https://[2002:808:808::]/", true],
  [FAR, "https://[64:ff9b:1::a00:1]/", false],
  [FAR, "https://[fec0::1]/", false],
  [FAR, "https://[ff02::1]/", false],
  [FAR, "https://224.0.0.1/", false],
  [FAR, "https://255.255.255.255/", false],
  [FAR, "https://198.18.0.1/", false],
  [FAR, "https://192.0.0.8/", false],
  [FAR, "https://[fd00::1]/", false],
  [FAR, "https://[2606:4700::1111]/", true],
  [FAR, "https://10.0.0.1/", false],
  [FAR, "https://172.16.0.1/", false],
  [FAR, "https://172.32.0.1/", true],
  [FAR, "http://169.254.169.254/latest", false],
  [FAR, "https://100.100.100.200/", false],
  [FAR, "ftp://login.example/", false],
  [NETWORK, "https://10.0.0.1/", true],
  [NETWORK, "https://127.0.0.1/", false],
  [NETWORK, "https://login.example/", true],
  [HERE, "http://127.0.0.1:5000/", true],
  [HERE, "http://localhost:5000/", true],
  [HERE, "http://login.example/", false],
  [HERE, "https://login.example/", true],
  ["http://intranet/mcp", "http://intranet/.well-known/x", true],
  ["http://intranet/mcp", "http://intranet:99/", false],
])("from %s to %s: %s", (server, target, may) => {
  expect(mayLeadTo(new URL(server), new URL(target))).toBe(may);
});
