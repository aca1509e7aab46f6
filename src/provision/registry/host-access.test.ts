import { expect, test } from "vitest";
import { rejectHostAccess } from "./host-access.ts";

test.each([
  ["-v", "/:/host"],
  ["-v", "/.:/host"],
  ["-v", "//:/host"],
  ["-v", "/etc/..:/host"],
  ["-v", "/tmp/../..:/host"],
  ["--volume=/var/run:/run"],
  ["-v", "/var/lib/docker:/x"],
  ["-v", "/var/run/docker.sock:/s"],
  ["-v", "/home/u/podman.sock:/s"],
  ["-v", "../..:/host"],
  ["-v", "~/.ssh:/keys"],
  ["-v", "/home:/h"],
  ["-v", "C:\\\\:/host"],
  ["-v", "${DIR}/../../..:/host"],
  ["--mount", "type=bind,source=/./,target=/host"],
  ["--mount", 'type=bind,"Source=/",target=/host'],
  ["--mount", "type=bind,src=/proc,dst=/p"],
  ["--mount", "type=volume,volume-opt=type=none,volume-opt=o=bind,volume-opt=device=/,dst=/h"],
  ["--network", "host"],
  ["--net=host"],
  ["--network", "container:db"],
])("%j is refused", (...options) => {
  expect(() => rejectHostAccess(options)).toThrow("whole machine");
});

test.each([
  ["-v", "${DIR}:/data"],
  ["-v", "${DIR}/sub:/data:ro"],
  ["-v", "/home/u/project:/data"],
  ["-v", "cache:/data"],
  ["--mount", "type=bind,src=${DIR},dst=/etc/app"],
  ["--tmpfs", "/run"],
  ["--network", "bridge"],
  ["-e", "A=/etc"],
])("%j is allowed", (...options) => {
  expect(rejectHostAccess(options)).toBe(options);
});
