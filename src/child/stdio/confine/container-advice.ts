/**
 * What mends a container that did not start, by what the engine and the first process in it print: they have
 * no codes for it. Knows no other outputs of servers.
 */
import type { EngineName } from "../../../config/container-engine.ts";
import type { ContainerStart } from "./container-start.ts";

const WITHOUT_INIT = /container-init binary not found|"docker-init": executable file not found/;
/** Of tini, which docker brings, and of catatonit, which podman brings. */
const WITHOUT_PROGRAM =
  /^(?:\[FATAL tini \(\d+\)\] exec .* failed|ERROR \(catatonit:\d+\): failed to exec pid1): No such file/m;

export function containerAdvice(
  output: string,
  engine: EngineName,
  { image, program }: Pick<ContainerStart, "image" | "program">,
): string | undefined {
  if (WITHOUT_INIT.test(output))
    return engine === "podman"
      ? 'Podman needs catatonit: install it (Debian, Ubuntu: "sudo apt-get install catatonit")'
      : "Docker needs docker-init: reinstall docker completely";
  if (!WITHOUT_PROGRAM.test(output)) return undefined;
  return program === "perl"
    ? `A list of hosts, or a package runner without the network, needs perl, which the image ${image} does not have: use one that has it`
    : `The image ${image} has no program ${program}: correct "command", or use another image`;
}
